//! `opal module validate`: one module with everything that it names.

use std::path::Path;

use opal_core::Diagnostic;
use opal_modules::lint::{self, Linted};
use opal_modules::load;
use opal_modules::named::{self, Part};
use opal_modules::{ModuleRef, Places};
use opal_ops::module::Complete;

use super::faults::{unfound, whole};
use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::module::{not_found, unseen};
use crate::failure::{Exit, Failure};
use crate::view::module as view;

/// A module with everything that it names. None where the faults of a file have been shown.
pub(crate) fn complete(
    context: &Context<'_>,
    places: &Places,
    module: &ModuleRef,
    json: bool,
) -> Result<Option<Complete>, Failure> {
    let missing = |it| {
        let exit = unfound(places, &it);
        not_found(it, exit)
    };
    let read = load::spec(places, module).map_err(|it| not_found(it, Exit::NoFile))?;
    let source = read.clone();
    let Some(spec) = whole(read, context, json)? else { return Ok(None) };
    let profile = load::profile(places, &spec).map_err(missing)?;
    let mut warnings =
        messages(source.checked.diagnostics.iter().chain(&profile.checked.diagnostics));
    let Some(profile) = whole(profile, context, json)? else { return Ok(None) };
    let show = |diagnostics| {
        let file =
            CheckedFile::new(source.path.display().to_string(), source.text.clone(), diagnostics);
        view::faults(&file, context.err(), json)
    };
    let unknown = spec.unknown_hooks(Some(&profile));
    let hooks = if unknown.is_empty() { spec.reported_hooks(&profile) } else { unknown };
    if hooks.iter().any(Diagnostic::is_error) {
        show(hooks)?;
        return Ok(None);
    }
    let lacking = named::lacking(places, &spec).into_iter();
    let (grave, light): (Vec<_>, Vec<_>) = lacking.partition(|one| one.part.is_needed());
    if let Some(first) = grave.into_iter().next() {
        return Err(missing(first.missing));
    }
    let light = light.into_iter().map(named::Lacking::warning);
    let light: Vec<Diagnostic> = hooks.into_iter().chain(light).collect();
    warnings.extend(messages(&light));
    if !light.is_empty() && !json {
        show(light)?;
    }
    let stack = places.stack(&spec.execution.driver, &spec.execution.pack).map_err(missing)?;
    let faults = named::cycle(places, source).or(unfit(&stack)?);
    let Some(Linted { path, text, diagnostics }) = faults else {
        let schema = load::schema(places, module).map_err(missing)?;
        return Ok(Some(Complete { spec, stack, schema, warnings }));
    };
    view::faults(
        &CheckedFile::new(path.display().to_string(), text, diagnostics),
        context.err(),
        json,
    )?;
    Ok(None)
}

/// What a validation warns about and a run does not: `told` is what that says.
pub(super) fn besides(places: &Places, module: &ModuleRef, told: &[String]) -> Vec<String> {
    let Ok(read) = load::spec(places, module) else { return Vec::new() };
    let mut found = messages(&read.checked.diagnostics);
    if let Some(spec) = read.checked.found {
        let profile = load::profile(places, &spec);
        found.extend(profile.iter().flat_map(|read| messages(&read.checked.diagnostics)));
        // Whoever has prepared a run has found the rest.
        let lacking = named::lacking(places, &spec).into_iter();
        let lacking = lacking.filter(|one| matches!(one.part, Part::Dependency { .. }));
        found.extend(lacking.map(|one| one.missing.message));
    }
    found.retain(|message| !told.contains(message));
    found
}

pub(crate) fn messages<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<String> {
    diagnostics.into_iter().map(|one| one.message.clone()).collect()
}

/// The first file of a pack that keeps it from travelling.
fn unfit(stack: &Path) -> Result<Option<Linted>, Failure> {
    lint::unfit(stack).map_err(|error| unseen(stack, &error))
}
