//! A module that is to be run, as something that can be planned.

use std::collections::BTreeMap;
use std::sync::Arc;

use opal_core::Value;
use opal_modules::keep::RunId;
use opal_modules::run::decorators::descriptors;
use opal_modules::run::{Run, Wanted, prepare};
use opal_ops::module::arguments::{self, Typed};
use opal_ops::source::{Loaded, ModuleRun};

use super::faults;
use super::job::Job;
use super::settings::Settings;
use crate::context::Context;
use crate::failure::Failure;

/// A module as something that can be planned.
pub(crate) struct Source<'a> {
    /// With the decorators of this run.
    pub(crate) context: Context<'a>,
    pub(crate) loaded: Loaded,
    pub(crate) run: Arc<Run>,
    pub(crate) arguments: BTreeMap<String, Value>,
}

/// Prepares a run; none where the faults of a file have been shown.
pub(crate) fn load<'a>(
    context: &Context<'a>,
    settings: &Settings,
    job: Job,
    json: bool,
) -> Result<Option<Source<'a>>, Failure> {
    let Job { module, command, instance, given, file, env_files, is_named } = job;
    let arguments = arguments::of(&Typed {
        module: &module,
        command,
        instance: instance.as_ref(),
        inputs: file.as_deref(),
        root: settings.is_root_typed.then(|| settings.root.path()),
        out_dir: settings.out_dir.as_deref(),
        skip_preflight: settings.skip_preflight.as_deref(),
        env_files: &env_files,
    });
    let wanted = Wanted {
        command,
        module: &module,
        instance: instance.as_ref(),
        places: &settings.places,
        root: &settings.root,
        given,
        is_named,
        programs: &settings.programs,
    };
    let prepared = faults::prepared(context, settings, &module, prepare(wanted), json)?;
    let Some(mut prepared) = prepared else { return Ok(None) };
    let set_aside = prepared.set_aside(context.environment(&env_files)?);
    let id = RunId::new(command.name(), crate::clock::now(), opal_trust::keys::name());
    let run = Arc::new(Run::new(prepared, id));
    let context = context.with(&descriptors(&run)).without(&set_aside);
    let run_path = run.prepared.spec_path.clone();
    let loaded = Loaded::module(run_path, Arc::clone(&run) as Arc<dyn ModuleRun>);
    Ok(Some(Source { context, loaded, run, arguments }))
}
