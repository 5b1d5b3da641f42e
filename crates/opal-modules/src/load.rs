//! One module, with the profile and the pack that it names.

use std::io;
use std::path::PathBuf;

use opal_core::Diagnostic;
use opal_core::text::MAX_SOURCE_BYTES;
use opal_syntax::source;

use super::document::{Checked, bytes, shown};
use super::inputs::Schema;
use super::offer;
use super::place::is_below;
use super::{Blueprint, ModuleRef, NotFound, Places, Profile, Spec};

/// A file that was read, with all that is wrong in it where nothing was found.
#[derive(Clone, Debug)]
pub struct Read<T> {
    pub path: PathBuf,
    /// As it may be shown.
    pub text: String,
    pub checked: Checked<T>,
}

/// Where the spec of a module is.
pub(super) fn place(places: &Places, module: &ModuleRef) -> Result<PathBuf, NotFound> {
    let path = places.module(module).join("spec.yml");
    if !path.is_file() {
        let modules = offer::folders_with(&places.modules, "spec.yml");
        let root = places.modules.display();
        let otherwise = format!("create it below `{root}` with `opal module new {module}`");
        return Err(NotFound {
            message: format!("unknown module `{module}`"),
            help: offer::offer(module.as_str(), "modules", modules, otherwise),
        });
    }
    if !is_below(&path, &places.modules) {
        return Err(NotFound {
            message: format!(
                "the module `{module}` is a symlink that leads out of the modules root"
            ),
            help: "copy its files into the modules root".to_owned(),
        });
    }
    Ok(path)
}

/// Reads the spec of a module. Warnings come with it.
pub fn spec(places: &Places, module: &ModuleRef) -> Result<Read<Spec>, NotFound> {
    let mut read = read(place(places, module)?, Spec::read)?;
    if let Some(spec) = read.checked.found.take_if(|spec| spec.module_ref != *module) {
        let message =
            format!("`module_ref` is `{}`, but the directory is `{module}`", spec.module_ref);
        let error = Diagnostic::new(opal_core::Code::SpecPlace, spec.span, message);
        read.checked.diagnostics.push(error.help("fix one of the two"));
    }
    Ok(read)
}

/// Reads the profile that a spec names, and looks whether it owns the hooks of the spec.
pub fn profile(places: &Places, spec: &Spec) -> Result<Read<Profile>, NotFound> {
    let execution = &spec.execution;
    let path = places.profile(&execution.driver, &execution.profile)?;
    let read = read(path, Profile::read)?;
    match &read.checked.found {
        Some(found)
            if found.driver != execution.driver || found.profile_ref != execution.profile =>
        {
            Err(NotFound {
                message: format!(
                    "`{}` is the profile `{}` of the driver `{}`",
                    read.path.display(),
                    found.profile_ref,
                    found.driver
                ),
                help: format!("expected `{}` of `{}`", execution.profile, execution.driver),
            })
        }
        _ => Ok(read),
    }
}

/// Reads a blueprint. Warnings come with it.
pub fn blueprint(path: &std::path::Path) -> Result<Read<Blueprint>, NotFound> {
    if !path.is_file() {
        return Err(NotFound {
            message: format!("unknown blueprint `{}`", path.display()),
            help: "check the name".to_owned(),
        });
    }
    read(path.to_path_buf(), Blueprint::read)
}

/// The schema beside the spec of a module, where there is one.
pub fn schema(places: &Places, module: &ModuleRef) -> Result<Option<Schema>, NotFound> {
    let path = places.module(module).join("inputs.schema.json");
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let text = text(&path).map_err(|error| unreadable(&path, &error))?;
    Schema::read(&text).map(Some).map_err(|reason| NotFound {
        message: format!("`{}` cannot be used: {reason}", path.display()),
        help: "fix it, or remove it".to_owned(),
    })
}

fn read<T>(path: PathBuf, read: impl FnOnce(&str) -> Checked<T>) -> Result<Read<T>, NotFound> {
    let text = text(&path).map_err(|error| unreadable(&path, &error))?;
    let checked = read(&text);
    Ok(Read { path, text: shown(text, &checked.diagnostics), checked })
}

fn text(path: &std::path::Path) -> io::Result<String> {
    let decoded = source::decode(bytes(path, MAX_SOURCE_BYTES)?);
    decoded.map_err(|no_text| io::Error::other(no_text.diagnostic.message))
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> NotFound {
    NotFound {
        message: format!("`{}` cannot be read: {error}", path.display()),
        help: "check its permissions, and that it is a regular file".to_owned(),
    }
}
