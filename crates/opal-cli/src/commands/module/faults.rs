//! Files of modules that have faults, which are shown.

use opal_modules::load::Read;
use opal_modules::run::{Prepared, Unprepared};
use opal_modules::{ModuleRef, NotFound, Places};

use super::settings::Settings;
use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::module::{invalid, not_found};
use crate::failure::{Exit, Failure};
use crate::view::module as view;

/// A spec without faults; else what is wrong with it has been shown.
pub(crate) fn whole<T>(
    read: Read<T>,
    context: &Context<'_>,
    json: bool,
) -> Result<Option<T>, Failure> {
    let name = read.path.display().to_string();
    let file = CheckedFile::new(name, read.text, read.checked.diagnostics);
    if file.diagnostics.is_empty() {
        return Ok(read.checked.found);
    }
    if read.checked.found.is_none() || !json {
        view::faults(&file, context.err(), json)?;
    }
    Ok(read.checked.found)
}

/// Tells why a run of a module cannot be planned; none where the faults of a file have been shown.
pub(super) fn prepared(
    context: &Context<'_>,
    settings: &Settings,
    module: &ModuleRef,
    prepared: Result<Prepared, Unprepared>,
    json: bool,
) -> Result<Option<Prepared>, Failure> {
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(Unprepared::Faults { path, text, diagnostics }) => {
            let file = CheckedFile::new(path.display().to_string(), text, diagnostics);
            view::faults(&file, context.err(), json && settings.gathered.is_none())?;
            settings.faulty(&path).map_or(Ok(None), Err)
        }
        Err(Unprepared::Missing(missing)) => {
            let exit = match settings.is_there(module) {
                true => unfound(&settings.places, &missing),
                false => Exit::NoFile,
            };
            Err(not_found(missing, exit))
        }
        Err(Unprepared::Dependency(missing)) => Err(not_found(missing, Exit::Unavailable)),
        Err(Unprepared::Inputs(it)) => Err(invalid(&it)),
    }
}

/// What it means that something is not there: a packs root that was named is a setting.
pub(super) fn unfound(places: &Places, missing: &NotFound) -> Exit {
    match places.packs() {
        Err(root) if root == *missing => Exit::Configuration,
        _ => Exit::Source,
    }
}
