//! What every command gets: what was typed, what surrounds the process, the decorators.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use clap::ArgMatches;
use opal_core::Registry;
use opal_core::decorator::Descriptor;
use opal_ops::source::Loaded;
use opal_ops::source::imports::VariablesFile;
use opal_session::targets::Reach;
use opal_trust::policy;
use opal_vault::root::{ELSEWHERE, Root};

use crate::ambient::Ambient;
use crate::arguments::Typed;
use crate::decorators::Decorators;
use crate::env_file::Environment;
use crate::failure::{Exit, Failure};
use crate::project::Chosen;
use crate::reports::Reported;
use crate::source::NotLoaded;
use crate::stages::Stages;
use crate::tasks::{self, path_word};
use crate::view::ink::{Ink, Inks};
use crate::{env_file, project, source};

pub(crate) struct Context<'a> {
    pub(crate) typed: &'a Typed,
    pub(crate) ambient: &'a Ambient,
    pub(crate) registry: Decorators,
    pub(crate) stages: Stages,
    environment: OnceCell<Environment>,
    /// The only variables that plans and steps see.
    only: Option<Only>,
    /// Who opens sessions on targets, and for a source in which directory.
    pub(crate) reach: OnceCell<(PathBuf, Arc<dyn Reach>)>,
    pub(crate) reported: Rc<Reported>,
}

/// The variables of a contract run, where the policy fixes them.
#[derive(Clone, Debug)]
pub(crate) struct Only {
    pub(crate) environment: policy::Environment,
    /// Those that the plan reads are there besides.
    pub(crate) reads: BTreeSet<String>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(typed: &'a Typed, ambient: &'a Ambient) -> Self {
        let root = runtime_root(typed.root_behind().as_ref(), typed, ambient);
        let registry = Decorators::new(opal_decorators::registry(), root);
        let (stages, environment) = (Stages::begin(), OnceCell::new());
        let (reach, reported) = (OnceCell::new(), Rc::default());
        Self { typed, ambient, registry, stages, environment, only: None, reach, reported }
    }

    /// The same, with more decorators: those of one run.
    pub(crate) fn with(&self, more: &[&'static Descriptor]) -> Context<'a> {
        let all: Vec<&'static Descriptor> =
            self.registry.built_in().chain(more.iter().copied()).collect();
        Context {
            typed: self.typed,
            ambient: self.ambient,
            registry: Decorators::new(
                Registry::new(&all).expect("no built-in path begins with `module.`"),
                self.registry.root().cloned(),
            ),
            stages: Stages::begin(),
            environment: self.environment.clone(),
            only: self.only.clone(),
            reach: self.reach.clone(),
            reported: Rc::clone(&self.reported),
        }
    }

    /// The same for a contract run under a policy that fixes its variables. Nothing was read before.
    pub(crate) fn confined(&self, only: Option<Only>, root: &Root) -> Context<'a> {
        Context {
            registry: Decorators::new(opal_decorators::registry(), Some(root.clone())),
            environment: OnceCell::new(),
            reach: OnceCell::new(),
            only,
            ..self.with(&[])
        }
    }

    /// The same, with none of these variables around plans and steps. They have been read before.
    pub(crate) fn without(mut self, variables: &[OsString]) -> Self {
        if let Some(environment) = self.environment.get_mut() {
            let all = Arc::make_mut(&mut environment.all);
            variables.iter().for_each(|name| drop(all.remove(name)));
        }
        self
    }
}

impl Context<'_> {
    /// What views may use of standard output.
    pub(crate) fn out(&self) -> Ink {
        Ink::new(self.ambient.stdout_colour(self.typed.colour))
    }

    /// What views may use of standard error.
    pub(crate) fn err(&self) -> Ink {
        Ink::new(self.ambient.stderr_colour(self.typed.colour))
    }

    pub(crate) fn inks(&self) -> Inks {
        Inks { out: self.out(), err: self.err() }
    }

    /// The project's source; none where there is no file.
    pub(crate) fn project(&self) -> Result<Option<Loaded>, NotLoaded> {
        match self.chosen(None).map_err(NotLoaded::Failure)? {
            Some(chosen) => source::read(&chosen, &self.registry).map(Some),
            None => Ok(None),
        }
    }

    /// The source that is named with `-f` or `-g`, behind the command or before it, or the project's.
    pub(crate) fn chosen(&self, matches: Option<&ArgMatches>) -> Result<Option<Chosen>, Failure> {
        let file = matches.map_or(self.typed.file.as_ref(), |matches| self.file(matches));
        let is_global = matches.map_or(self.typed.global, |matches| self.is_global(matches));
        match file {
            Some(_) if is_global => {
                Err(Failure::usage("`-f` and `-g` name two source files", "omit one of them"))
            }
            Some(path) => Ok(Some(Chosen::named(path))),
            None if is_global => project::global(self.ambient.home.as_deref()).map(Some),
            None => project::find(),
        }
    }

    /// Whether the tasks of the user are meant.
    pub(crate) fn is_global(&self, matches: &ArgMatches) -> bool {
        let behind = matches.try_get_one::<bool>("global").ok().flatten();
        self.typed.global || behind.is_some_and(|given| *given)
    }

    /// The same, for what cannot do without.
    pub(crate) fn needed(&self, matches: Option<&ArgMatches>) -> Result<Chosen, Failure> {
        self.chosen(matches)?.ok_or_else(project::none)
    }

    /// `opal`, and where it starts: the first words of every command to type.
    pub(crate) fn opal(&self) -> String {
        let directories = self.typed.directories.iter();
        let words = directories.map(|it| format!(" -C {}", path_word(&it.display().to_string())));
        std::iter::once("opal".to_owned()).chain(words).collect()
    }

    /// The same, with the option that chooses this source: the first words of every command that names
    /// one of its tasks.
    pub(crate) fn opal_for(&self, loaded: &Loaded) -> String {
        self.opal() + &source::chosen_by(loaded)
    }

    /// The same before a source has been read: with the options that were typed.
    pub(crate) fn opal_typed(&self) -> String {
        let file = self.typed.file.as_ref().map(|file| path_word(&file.display().to_string()));
        let file = file.map_or(String::new(), |file| format!(" -f {file}"));
        self.opal() + &file + if self.typed.global { " -g" } else { "" }
    }

    /// The command that shows every error of a source.
    pub(crate) fn check_command(&self, loaded: &Loaded) -> String {
        let opal = self.opal();
        match loaded.is_global || source::chosen_by(loaded).is_empty() {
            true => format!("{opal} check{}", source::chosen_by(loaded)),
            false => format!("{opal} check {}", path_word(&loaded.path.display().to_string())),
        }
    }

    /// `opal`, where it starts, and the runtime root: the first words of every command about records.
    pub(crate) fn opal_runs(&self, behind: Option<&PathBuf>) -> String {
        let root = behind.or(self.typed.root.as_ref());
        let option =
            |root: &PathBuf| tasks::option("--root", &root.display().to_string()).join(" ");
        match root {
            Some(root) => format!("{} {} runs", self.opal(), option(root)),
            None => format!("{} runs", self.opal()),
        }
    }

    /// The environment of plans and steps without a source that imports variables.
    pub(crate) fn environment(
        &self,
        files: &[PathBuf],
    ) -> Result<&Arc<BTreeMap<OsString, OsString>>, Failure> {
        self.environment_with(&[], files).map(|environment| &environment.all)
    }

    /// The environment of plans and steps, with what the files say. They are read once: a pipe has
    /// its content a single time.
    pub(crate) fn environment_with(
        &self,
        imported: &[VariablesFile],
        files: &[PathBuf],
    ) -> Result<&Environment, Failure> {
        if let Some(known) = self.environment.get() {
            return Ok(known);
        }
        let mut read = env_file::environment(imported, files)?;
        if let Some(only) = &self.only {
            let set =
                read.all.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
            let mut kept: BTreeMap<OsString, OsString> = only
                .environment
                .of(set)
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            for name in only.reads.iter().chain(&read.declared).map(OsString::from) {
                if let Some(value) = read.all.get(&name) {
                    kept.entry(name).or_insert_with(|| value.clone());
                }
            }
            read.all = kept.into();
        }
        Ok(self.environment.get_or_init(|| read))
    }

    /// The file named behind the command or before it.
    pub(crate) fn file<'m>(&'m self, matches: &'m ArgMatches) -> Option<&'m PathBuf> {
        let behind = ["file", "source"]
            .into_iter()
            .find_map(|id| matches.try_get_one::<PathBuf>(id).ok().flatten());
        behind.or(self.typed.file.as_ref())
    }

    /// The runtime root: `--root` behind the command or before it, `$OPAL_ROOT`, or `~/.opal`.
    pub(crate) fn root(&self, behind: Option<&PathBuf>) -> Option<Root> {
        runtime_root(behind, self.typed, self.ambient)
    }

    /// The same, for what cannot do without.
    pub(crate) fn needed_root(&self, behind: Option<&PathBuf>) -> Result<Root, Failure> {
        self.root(behind).ok_or_else(|| {
            let why = match &self.ambient.home {
                None => "`HOME` is not set".to_owned(),
                Some(home) => match home.metadata() {
                    Ok(_) => format!("`{}`, as `HOME` says, is not a directory", home.display()),
                    Err(error) => {
                        format!("`HOME` is `{}`, which cannot be reached: {error}", home.display())
                    }
                },
            };
            Failure::new(
                Exit::Configuration,
                format!("no home directory for keys and records: {why}"),
                format!("name a directory: {ELSEWHERE}"),
            )
        })
    }
}

pub(crate) fn runtime_root(
    behind: Option<&PathBuf>,
    typed: &Typed,
    ambient: &Ambient,
) -> Option<Root> {
    let named = behind.or(typed.root.as_ref()).or(ambient.root.as_ref()).cloned();
    // A home that is not there is none of anybody's.
    let home = || ambient.home.as_ref().filter(|home| home.is_dir());
    named.or_else(|| Some(home()?.join(".opal"))).map(Root::new)
}
