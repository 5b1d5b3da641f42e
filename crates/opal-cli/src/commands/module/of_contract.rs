//! The run of a module that a contract is of.

use std::path::{Path, PathBuf};

use opal_core::plan::Target;
use opal_modules::ModuleRef;
use opal_modules::keep::Instance;
use opal_modules::run::Command;
use opal_ops::module::arguments as plan;
use opal_ops::source::Loaded;

use super::inputs::given_with;
use super::job::Job;
use super::keeper::Keeping;
use super::run::{ready, runs_whole};
use super::settings::{Settings, unusual_root};
use super::source::{Source, load};
use crate::commands::execute::keeper::Keeper;
use crate::commands::run::current::ModuleContract;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::signals::Watched;
use crate::tasks::{option, quoted};

/// A module that a contract is of, as it is now.
struct OfContract<'a> {
    pub(crate) settings: Settings,
    pub(crate) source: Source<'a>,
}

/// Prepares what a contract has planned; none where the faults of a file have been shown.
fn of_contract<'a>(
    context: &Context<'a>,
    spec: &Path,
    target: &Target,
    options: &PlanOptions,
) -> Result<Option<OfContract<'a>>, Failure> {
    let (text, json) = (|name: &str| plan::text(target, name), options.is_json());
    let strange =
        || Failure::new(Exit::Source, "the contract does not name a module", "make a new contract");
    let module =
        text(plan::MODULE).and_then(|name| ModuleRef::parse(name).ok()).ok_or_else(strange)?;
    let command = text(plan::COMMAND).and_then(Command::named).ok_or_else(strange)?;
    let instance = text(plan::INSTANCE).map(Instance::parse).transpose().map_err(|_| strange())?;
    let mut settings = Settings::of_spec(context, spec, text(plan::ROOT).map(Path::new), &module)?;
    settings.skip_preflight = text(plan::SKIP).map(str::to_owned);
    settings.out_dir = text(plan::OUT_DIR).map(PathBuf::from);
    let file = plan::inputs(target);
    let said = given_with(context, file.as_deref(), &options.env_files, json);
    let said = said.map_err(|failure| match &file {
        Some(path) if !path.exists() => {
            let again = typed(target, Some(spec)).unwrap_or_default().join(" ");
            let help = format!("bring it back, or make a new one: `{again} --dry-run -o FILE`");
            failure.help(format!("the contract was made with it: {help}"))
        }
        _ => failure,
    })?;
    let Some(given) = said else { return Ok(None) };
    settings.warn(context, &options.env_files)?;
    let file = file.map(|path| path.display().to_string());
    // The contract has its arguments already.
    let env_files = Vec::new();
    let job = Job { module, command, instance, given, file, env_files, is_named: true };
    Ok(load(context, &settings, job, json)?.map(|source| OfContract { settings, source }))
}

/// The same, for who does not know modules.
pub(crate) fn boxed<'c>(
    context: &Context<'c>,
    spec: &Path,
    target: &Target,
    options: &PlanOptions,
) -> Result<Option<Box<dyn ModuleContract<'c> + 'c>>, Failure> {
    let found = of_contract(context, spec, target, options)?;
    Ok(found.map(|found| Box::new(found) as Box<dyn ModuleContract<'c> + 'c>))
}

impl<'c> ModuleContract<'c> for OfContract<'c> {
    fn loaded(&self) -> &Loaded {
        &self.source.loaded
    }

    fn context(&self) -> &Context<'c> {
        &self.source.context
    }

    fn kept(
        &self,
        asked: &Asked,
        watched: &Watched,
        new_contract: Option<String>,
        go_on: &mut dyn FnMut(&dyn Keeper) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        runs_whole(asked)?;
        let Self { settings, source } = self;
        let _lock = if asked.plan.dry_run { None } else { ready(settings, &source.run)? };
        let keeping = Keeping::new(&source.context, asked, settings, &source.run, watched);
        go_on(&keeping.of_contract(new_contract))
    }
}

/// The words that plan the same again; none where it is not a plan of a module.
pub(crate) fn typed(target: &Target, spec: Option<&Path>) -> Option<Vec<String>> {
    let text = |name: &str| plan::text(target, name);
    let module = ModuleRef::parse(text(plan::MODULE)?).ok()?;
    let mut words =
        vec!["opal module".to_owned(), text(plan::COMMAND)?.to_owned(), module.to_string()];
    let root = spec.and_then(|spec| unusual_root(spec, &module));
    let inputs = plan::inputs(target).map(|path| path.display().to_string());
    let options = [
        ("--module-root", root.as_deref()),
        ("--out-dir", text(plan::OUT_DIR)),
        ("--root", text(plan::ROOT)),
        ("--inputs", inputs.as_deref()),
        ("--state-instance", text(plan::INSTANCE)),
    ];
    for (name, value) in options {
        words.extend(value.into_iter().flat_map(|value| option(name, value)));
    }
    words.extend(text(plan::SKIP).map(|reason| format!("--skip-preflight={}", quoted(reason))));
    Some(words)
}
