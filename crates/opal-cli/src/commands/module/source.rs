//! A module that is to be run, as something that can be planned.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use opal_core::Value;
use opal_modules::keep::RunId;
use opal_modules::run::decorators::descriptors;
use opal_modules::run::{Run, Wanted, prepare};
use opal_ops::module::arguments as plan;
use opal_ops::source::Loaded;

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
    let mut arguments = BTreeMap::new();
    if !env_files.is_empty() {
        let files = env_files.iter().map(|file| {
            let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            Value::String(whole.display().to_string().into())
        });
        arguments.insert(plan::ENV_FILES.to_owned(), Value::Array(files.collect()));
    }
    let mut argument = |name: &str, value: String| {
        drop(arguments.insert(name.to_owned(), Value::String(value.into())))
    };
    argument(plan::MODULE, module.as_str().to_owned());
    argument(plan::COMMAND, command.name().to_owned());
    instance.iter().for_each(|instance| argument(plan::INSTANCE, instance.as_str().to_owned()));
    if let Some(file) = file {
        let is_far = Path::new(&file).is_absolute();
        if let Some(at) = std::path::absolute(&file).ok().filter(|_| !is_far) {
            argument(plan::INPUTS_AT, at.display().to_string());
        }
        argument(plan::INPUTS, file);
    }
    if settings.is_root_typed {
        argument(plan::ROOT, settings.root.path().display().to_string());
    }
    settings
        .out_dir
        .iter()
        .for_each(|folder| argument(plan::OUT_DIR, folder.display().to_string()));
    settings.skip_preflight.iter().for_each(|reason| argument(plan::SKIP, reason.clone()));
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
    let loaded = Loaded::module(Arc::clone(&run));
    Ok(Some(Source { context, loaded, run, arguments }))
}
