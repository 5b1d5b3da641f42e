//! `--with-deps`: what a module builds on comes first.

use opal_core::Diagnostic;
use opal_modules::inputs::Given;
use opal_modules::keep::{State, Status};
use opal_modules::load;
use opal_modules::run::Command;
use opal_modules::{ModuleRef, Spec};
use opal_ops::module::order::{self, NotOrdered};
use serde_json::Map;

use super::faults::whole;
use super::job::Job;
use super::run;
use super::settings::Settings;
use crate::context::Context;
use crate::failure::module::{not_found, unwritten};
use crate::failure::{Exit, Failure, Stopped};
use crate::options::Asked;
use crate::signals::Watched;
use crate::view::module as view;

/// Applies everything that `job` builds on and that is not there yet, in order.
pub(super) fn before(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    job: &Job,
    watched: &Watched,
) -> Result<(), Stopped> {
    if !matches!(job.command, Command::Apply | Command::Deploy) {
        return Err(Failure::usage(
            format!("`--with-deps` applies dependencies, but `{}` does not apply", job.command),
            "omit it",
        )
        .into());
    }
    let specs = Specs { context, settings, json: asked.plan.is_json() };
    let Some(mut modules) = specs.order(&job.module)? else {
        return Err(Stopped::Ended(Exit::Source));
    };
    // What the file says is for the module itself.
    let said = Given { file: Map::new(), ..job.given.clone() };
    // The module itself comes last, and not from here.
    modules.pop();
    let mut missing = Vec::new();
    for module in modules {
        let state =
            State::seen(&settings.root.state(&module, None)).map_err(|it| unwritten(&it))?;
        if state.is_some_and(|state| state.status == Status::Ok) {
            view::dependency(&module, "skipped reason=state-ok");
            continue;
        }
        if asked.plan.dry_run {
            view::dependency(&module, "to be applied first");
            missing.push(module);
            continue;
        }
        view::dependency(&module, "apply");
        let exit = run::one(
            context,
            asked,
            settings,
            Job::along(module, Command::Apply, said.clone()),
            watched,
        )?;
        if exit.code() != 0 {
            return Err(Stopped::Ended(exit));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let Some(spec) = specs.spec(&job.module)? else { return Err(Stopped::Ended(Exit::Source)) };
    let mut direct = spec.dependencies.iter().filter(|it| it.required).map(|it| &it.module_ref);
    direct.find(|module| missing.contains(module)).map_or(Ok(()), |it| Err(unknown(it).into()))
}

/// That nobody can plan with what a module gives that is not applied.
fn unknown(module: &ModuleRef) -> Failure {
    let message =
        format!("it depends on `{module}`, but a dry run applies nothing: its outputs are unknown");
    let help = format!("apply it first: `opal module apply {module} --with-deps`");
    Failure::new(Exit::Unavailable, message, help)
        .help("`opal blueprint plan` shows modules in order, as far as they are known")
}

struct Specs<'o, 'c> {
    context: &'o Context<'c>,
    settings: &'o Settings,
    json: bool,
}

impl Specs<'_, '_> {
    /// What a module builds on before it; none where the faults of a spec have been shown.
    fn order(&self, module: &ModuleRef) -> Result<Option<Vec<ModuleRef>>, Failure> {
        let mut spec = |module: &ModuleRef| match self.spec(module) {
            Ok(Some(spec)) => Ok(spec),
            Ok(None) => Err(None),
            Err(failure) => Err(Some(failure)),
        };
        match order::order(module, &mut spec) {
            Ok(modules) => Ok(Some(modules)),
            Err(NotOrdered::Spec(None)) => Ok(None),
            Err(NotOrdered::Spec(Some(failure))) => Err(failure),
            Err(NotOrdered::Cycle(path)) => Err(Failure::new(
                Exit::Source,
                format!("dependency cycle between modules: {path}"),
                "remove one of these from `dependencies`",
            )),
            Err(NotOrdered::TooMany) => Err(Failure::new(
                Exit::Source,
                format!("`{module}` depends on more than {} modules", order::MOST_MODULES),
                "apply some of them first, without `--with-deps`",
            )),
        }
    }

    fn spec(&self, module: &ModuleRef) -> Result<Option<Spec>, Failure> {
        let read = load::spec(&self.settings.places, module);
        let mut read = read.map_err(|it| not_found(it, Exit::NoFile))?;
        // The run of a module tells of its warnings.
        read.checked.diagnostics.retain(Diagnostic::is_error);
        let path = read.path.clone();
        match whole(read, self.context, self.json && self.settings.gathered.is_none())? {
            None => self.settings.faulty(&path).map_or(Ok(None), Err),
            spec => Ok(spec),
        }
    }
}
