//! `opal module preflight`: whether a run could begin.

use clap::ArgMatches;
use opal_modules::run::Command;
use opal_modules::run::preflight::preflight;
use opal_modules::run::prepare::{Wanted, inspect};
use opal_ops::module::unreported_warnings;

use super::faults;
use super::inputs::{given, instance, reference};
use super::machine::machine;
use super::settings::Settings;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::view::module as view;

pub(super) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = context.typed.wants_json();
    let settings = Settings::read(context, matches)?;
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let given = given(context, matches, &options.env_files)?;
    let Some(given) = given else { return Ok(Exit::Source) };
    settings.warn(context, &options.env_files)?;
    let instance = instance(matches)?;
    let module = reference(matches)?;
    let inspected = inspect(Wanted {
        command: Command::Apply,
        module: &module,
        instance: instance.as_ref(),
        places: &settings.places,
        root: &settings.root,
        given,
        is_named: true,
        programs: &settings.programs,
    });
    let inspected = faults::prepared(context, &settings, &module, inspected, json)?;
    let Some(mut prepared) = inspected else { return Ok(Exit::Source) };
    let set_aside = prepared.set_aside(context.environment(&options.env_files)?);
    // The tools are asked as a run would ask them.
    let context = context.with(&[]).without(&set_aside);
    let unreported = unreported_warnings(&settings.places, &module, &prepared.warnings);
    prepared.warnings.extend(unreported);
    let checks = preflight(&prepared, &machine(&context, &options.env_files)?);
    view::preflight(&prepared, &checks, json)?;
    let is_ready = checks.iter().all(|check| check.fault.is_none());
    Ok(if is_ready { Exit::Done } else { Exit::Unavailable })
}
