//! What a contract was made of, as it is now.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::contract::Contract;
use opal_core::plan::Target;
use opal_ops::making::GLOBAL;
use opal_ops::module::arguments::MODULE;
use opal_ops::source::imports::Wanted;
use opal_ops::source::{Loaded, seen_from};

use crate::commands::execute::keeper::Keeper;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::project::Chosen;
use crate::signals::Watched;
use crate::source::NotLoaded;
use crate::{program, project, projects, source};

/// The current source.
pub(crate) enum Current<'c> {
    Text(Box<Loaded>),
    Module(Box<dyn ModuleContract<'c> + 'c>),
}

/// The module that a contract is of, as it is now. What only names this trait is not linked with the code of
/// modules.
pub(crate) trait ModuleContract<'c> {
    fn loaded(&self) -> &Loaded;

    /// The usual one, with the decorators of the module.
    fn context(&self) -> &Context<'c>;

    /// Goes on with what keeps the run. Nobody else changes the module until it has ended.
    fn kept(
        &self,
        asked: &Asked,
        watched: &Watched,
        new_contract: Option<String>,
        go_on: &mut dyn FnMut(&dyn Keeper) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure>;
}

/// The module that a contract is of, as it is now; none where the faults of a file have been shown.
pub(crate) type OfContract =
    for<'c> fn(
        &Context<'c>,
        &Path,
        &Target,
        &PlanOptions,
    ) -> Result<Option<Box<dyn ModuleContract<'c> + 'c>>, Failure>;

/// Who knows modules; `opal-commands` does.
pub(crate) static MODULES: OnceLock<OfContract> = OnceLock::new();

/// Whether it is a contract of a module.
pub(crate) fn is_of_module(contract: &Contract) -> bool {
    let target = &contract.plan().target;
    target.name == Target::SCRIPT && target.arguments.contains_key(MODULE)
}

impl<'c> Current<'c> {
    /// Reads it; none where the faults of a file have been shown.
    pub(crate) fn read(
        context: &Context<'c>,
        contract: &Contract,
        file: Option<&PathBuf>,
        options: &PlanOptions,
    ) -> Result<Option<Self>, Failure> {
        let named = named_or_recorded(contract, file).map(Chosen::named);
        let chosen =
            named.map_or_else(project::find, |it| Ok(Some(it)))?.ok_or_else(project::none)?;
        // It starts where it was made to start.
        let chosen = Chosen { is_global: is_global(contract), ..chosen };
        let path = &chosen.path;
        let target = &contract.plan().target;
        if is_of_module(contract) {
            program::complete(context.ambient)?;
            let of_contract = MODULES.get().expect("who has all commands provides them first");
            let found = of_contract(context, path, target, options)?;
            return Ok(found.map(Self::Module));
        }
        if projects::is_tree(path) {
            let since = contract.provenance().options.get("changed-since");
            let since = since.and_then(|all| all.first()).map(String::as_str);
            let loaded =
                projects::load(path, &target.name, since, &context.registry, &context.opal())?;
            return Ok(Some(Self::Text(Box::new(loaded))));
        }
        let mut loaded = source::read(&chosen, &context.registry).map_err(|not| match not {
            NotLoaded::Failure(failure) if file.is_none() => {
                failure.help("the contract was made there; name the current source with `-f FILE`")
            }
            other => other.into_failure(),
        })?;
        let function = (target.name != Target::SCRIPT).then_some(target.name.as_str());
        source::import(&mut loaded, Wanted::Target(function), &context.registry)?;
        Ok(Some(Self::Text(Box::new(loaded))))
    }

    pub(crate) fn loaded(&self) -> &Loaded {
        match self {
            Self::Text(loaded) => loaded,
            Self::Module(found) => found.loaded(),
        }
    }

    /// The usual one, with the decorators of a module where it is one.
    pub(crate) fn context<'t>(&'t self, usual: &'t Context<'c>) -> &'t Context<'c> {
        match self {
            Self::Text(_) => usual,
            Self::Module(found) => found.context(),
        }
    }
}

/// Whether it is of the user's tasks.
pub(super) fn is_global(contract: &Contract) -> bool {
    contract.provenance().options.contains_key(GLOBAL)
}

/// Where the source is: where `-f` says, where the contract has it from here, or where it was.
pub(crate) fn source_path(contract: &Contract, file: Option<&PathBuf>) -> Option<PathBuf> {
    named_or_recorded(contract, file)
        .or_else(|| project::find().ok().flatten().map(|found| found.path))
}

fn named_or_recorded(contract: &Contract, file: Option<&PathBuf>) -> Option<PathBuf> {
    file.cloned().or_else(|| recorded(contract))
}

/// The same, as far as the contract says it.
pub(super) fn recorded(contract: &Contract) -> Option<PathBuf> {
    let source = contract.provenance().source.as_ref()?;
    let near = PathBuf::from(&source.path);
    let is_there =
        near.is_file() || projects::is_tree(&near) && near.parent().is_some_and(Path::is_dir);
    Some(if is_there { near } else { PathBuf::from(&source.absolute) })
}

/// The files whose projects have a say in whether the contract may run.
pub(crate) fn policed(contract: &Contract, file: Option<&PathBuf>) -> Vec<PathBuf> {
    let Some(source) = source_path(contract, file) else { return Vec::new() };
    let others = recorded_sources(contract, &source);
    [vec![source], others].concat()
}

/// The files that the contract was made of, where they are seen from its source of now.
fn recorded_sources(contract: &Contract, source: &Path) -> Vec<PathBuf> {
    let made = contract.provenance();
    let folder = |path: &'_ Path| path.parent().unwrap_or(Path::new("")).to_owned();
    let then = made.source.as_ref().map(|it| folder(Path::new(&it.path))).unwrap_or_default();
    let now = folder(source);
    let sources = made.sources.iter();
    sources.map(|it| now.join(seen_from(&then, Path::new(&it.path)))).collect()
}
