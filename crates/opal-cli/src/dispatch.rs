//! Which command runs.
//!
//! A reserved name always means opal: reading a stranger's repository never runs it. Any other name
//! is first a function of the project, so that a new built-in never changes what a task does. `self`
//! reaches the built-in, `run` the function.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::decorator::Descriptor;
use opal_core::{Registry, suggest};
use opal_ops::source::Loaded;
use opal_vault::root::{ELSEWHERE, Root};

use crate::ambient::Ambient;
use crate::arguments::{Typed, asks_for_json};
use crate::commands::task::Wish;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::source::NotLoaded;
use crate::stages::Stages;
use crate::task_words::variable_before;
use crate::tasks::{self, Task, quoted};
use crate::{builtins, commands, env_file, project, source, view};

/// What every command gets.
pub(crate) struct Context<'a> {
    pub(crate) typed: &'a Typed,
    pub(crate) ambient: &'a Ambient,
    pub(crate) registry: Registry,
    pub(crate) stages: Stages,
    environment: OnceCell<BTreeMap<OsString, OsString>>,
}

/// `hyops`: the commands for modules and blueprints at the top.
pub(crate) fn hyops(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    let context = Context::new(typed, ambient);
    let matches = match builtins::hyops().no_binary_name(true).try_get_matches_from(&typed.rest) {
        Ok(matches) => matches,
        Err(error) => return view::clap(&error, &context, typed.wants_json()),
    };
    match matches.subcommand() {
        Some(("blueprint", matches)) => commands::blueprint::run(&context, matches),
        Some((verb, matches)) => commands::module::word(&context, verb, matches),
        None => Err(Failure::usage("`hyops` needs a command", "see `hyops --help`")),
    }
}

pub(crate) fn run(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    let context = Context::new(typed, ambient);
    if typed.version {
        return view::print(concat!("opal ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    if typed.help {
        return commands::help::opal(&context);
    }
    match &typed.word {
        _ if typed.list => commands::list::listed(&context),
        None => commands::list::bare(&context),
        Some(word) => context.word(word),
    }
}

impl<'a> Context<'a> {
    fn new(typed: &'a Typed, ambient: &'a Ambient) -> Self {
        let registry = opal_decorators::registry();
        let (stages, environment) = (Stages::begin(), OnceCell::new());
        Self { typed, ambient, registry, stages, environment }
    }

    /// The same, with more decorators: those of one run.
    pub(crate) fn with(&self, more: &[&'static Descriptor]) -> Context<'a> {
        let all: Vec<&'static Descriptor> =
            self.registry.iter().chain(more.iter().copied()).collect();
        Context {
            typed: self.typed,
            ambient: self.ambient,
            registry: Registry::new(&all).expect("no built-in path begins with `module.`"),
            stages: Stages::begin(),
            environment: self.environment.clone(),
        }
    }

    /// The same, with none of these variables around plans and steps. They have been read before.
    pub(crate) fn without(mut self, variables: &[OsString]) -> Self {
        if let Some(environment) = self.environment.get_mut() {
            variables.iter().for_each(|name| drop(environment.remove(name)));
        }
        self
    }
}

impl Context<'_> {
    /// The project's source; none where there is no file.
    pub(crate) fn project(&self) -> Result<Option<Loaded>, NotLoaded> {
        let path = match &self.typed.file {
            Some(path) => path.clone(),
            None => match project::find().map_err(NotLoaded::Failure)? {
                Some(path) => path,
                None => return Ok(None),
            },
        };
        source::read(&path, &self.registry).map(Some)
    }

    /// The environment of plans and steps, with what the files say. They are read once: a pipe has
    /// its content a single time.
    pub(crate) fn environment(
        &self,
        files: &[PathBuf],
    ) -> Result<&BTreeMap<OsString, OsString>, Failure> {
        if let Some(known) = self.environment.get() {
            return Ok(known);
        }
        let read = env_file::environment(files)?;
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
        let named = behind.or(self.typed.root.as_ref()).or(self.ambient.root.as_ref()).cloned();
        // A home that is not there is none of anybody's.
        let home = || self.ambient.home.as_ref().filter(|home| home.is_dir());
        named.or_else(|| Some(home()?.join(".opal"))).map(Root::new)
    }

    /// The same, for what cannot do without.
    pub(crate) fn needed_root(&self, behind: Option<&PathBuf>) -> Result<Root, Failure> {
        self.root(behind).ok_or_else(|| {
            let why = match &self.ambient.home {
                None => "`HOME` is not set".to_owned(),
                Some(home) => match home.metadata() {
                    Ok(_) => format!("`{}`, as `HOME` says, is no directory", home.display()),
                    Err(error) => {
                        format!("`{}`, as `HOME` says, cannot be reached: {error}", home.display())
                    }
                },
            };
            Failure::new(
                Exit::Configuration,
                format!("there is no home directory to keep keys and records in: {why}"),
                format!("name a directory: {ELSEWHERE}"),
            )
        })
    }

    fn word(&self, word: &str) -> Result<Exit, Failure> {
        if builtins::is_reserved(word) {
            return self.builtin(word, &self.typed.rest);
        }
        if project::is_config(Path::new(word)) {
            let words: Vec<OsString> =
                [word.into()].into_iter().chain(self.typed.rest.iter().cloned()).collect();
            return self.builtin("apply", &words);
        }
        if is_file(word) {
            let before = Asked::before(&self.typed.before)?;
            let path = Path::new(word);
            return commands::task::script(self, path, &self.typed.rest, before, Wish::Run);
        }
        let project = match self.project() {
            // The process ends soon after; taking a large file apart again would only take time.
            Ok(project) => project.map(ManuallyDrop::new),
            Err(not_loaded) => return not_loaded.show(self, asks_for_json(&self.typed.rest)),
        };
        let task = project.as_ref().and_then(|loaded| tasks::find(loaded, word));
        if let (Some(loaded), Some(task)) = (&project, task) {
            let before = Asked::before(&self.typed.before)?;
            let rest = &self.typed.rest;
            let ran = commands::task::run(self, loaded, &task, rest, before, Wish::Run);
            return ran.map_err(|failure| failure.in_json(task.asks_for_json(rest)));
        }
        if let Some(loaded) = &project
            && let Some(foreign) = loaded.foreign(&self.registry)
        {
            view::check::advice(loaded, vec![foreign], self);
            return Ok(Exit::Source);
        }
        let failure = self.unknown(word, project.map(|loaded| tasks::of(&loaded)).as_deref());
        Err(failure.in_json(asks_for_json(&self.typed.rest)))
    }

    /// A built-in command with its arguments.
    pub(crate) fn builtin(&self, word: &str, rest: &[OsString]) -> Result<Exit, Failure> {
        let first = rest.first().and_then(|first| first.to_str());
        if let ("self", Some(name)) = (word, first.filter(|first| !first.starts_with('-'))) {
            return self.builtin(name, &rest[1..]);
        }
        let mut command = builtins::opal();
        let Some(command) = command.find_subcommand_mut(word) else {
            if builtins::is_reserved(word) {
                return Err(Failure::usage(
                    format!("this version of opal has no command `{word}`; the name is reserved"),
                    format!("a function of this name runs with `opal run {word}`"),
                ));
            }
            let near = suggest::nearest(word, builtins::NAMES);
            let help =
                near.map_or("see `opal --help`".into(), |near| format!("did you mean `{near}`?"));
            return Err(Failure::usage(format!("`{word}` is no built-in command"), help));
        };
        let command = std::mem::take(command).bin_name(format!("opal {word}")).no_binary_name(true);
        if word == "plan" {
            not_of_plan(&command, rest)?;
        }
        let marked =
            matches!(word, "plan" | "run" | "verify").then(|| builtins::marked(&command, rest));
        let matches = match command.try_get_matches_from(marked.as_deref().unwrap_or(rest)) {
            Ok(matches) => matches,
            Err(error) => return view::clap(&error, self, self.typed.wants_json()),
        };
        match word {
            "apply" => commands::apply::run(self, &matches),
            "check" => commands::check::run(self, &matches),
            "fmt" => commands::fmt::run(self, &matches),
            "list" => commands::list::run(self, &matches),
            "explain" => commands::explain::run(self, &matches),
            "keys" => commands::keys::run(self, &matches),
            "blueprint" => commands::blueprint::run(self, &matches),
            "module" => commands::module::run(self, &matches),
            "plan" => commands::plan::run(self, &matches),
            "run" => commands::run::run(self, &matches),
            "runs" => commands::runs::run(self, &matches),
            "completions" => commands::completions::script(&matches),
            "convert" => commands::convert::run(self, &matches),
            "verify" => commands::verify::run(self, &matches),
            "help" => commands::help::run(self, &matches),
            // `self` without a target has been refused by its own arguments.
            _ => commands::help::opal(self),
        }
    }

    fn unknown(&self, word: &str, tasks: Option<&[Task]>) -> Failure {
        let rest: Vec<String> =
            self.typed.rest.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let command = ["opal".to_owned()].into_iter().chain(rest).collect::<Vec<_>>().join(" ");
        if let Some(help) = variable_before(word, &command) {
            return Failure::usage(format!("unknown task or command `{word}`"), help);
        }
        let names = tasks.unwrap_or_default().iter().map(|task| task.name.as_str());
        let near = suggest::nearest(word, names.chain(builtins::NAMES));
        let mut failure = Failure::usage(
            format!("unknown task or command `{word}`"),
            near.map_or("`opal` alone lists the tasks".into(), |near| {
                format!("did you mean `{near}`?")
            }),
        );
        if tasks.is_none() {
            let file = project::DEFAULT_FILE;
            failure = failure.help(format!("there is no `{file}` here or in a parent directory"));
        }
        failure
    }
}

/// Refuses a word that `opal plan` keeps for itself that is not one of its commands: one of a later
/// version, or one after an option.
fn not_of_plan(command: &clap::Command, rest: &[OsString]) -> Result<(), Failure> {
    let Some((at, word)) = builtins::target(command, rest) else { return Ok(()) };
    let is_command = at == 0 && command.find_subcommand(word).is_some();
    if is_command || !builtins::is_reserved_by_plan(word) {
        return Ok(());
    }
    let message = match command.find_subcommand(word) {
        Some(_) => format!("options of `opal plan {word}` come after `{word}`"),
        None => format!("this version of opal has no command `plan {word}`; the name is reserved"),
    };
    Err(Failure::usage(message, format!("`opal plan -- {word}` plans a function of this name")))
}

/// Whether a word names a file rather than a function.
pub(crate) fn is_file(word: &str) -> bool {
    word.ends_with(".opl") || word.contains('/') || project::is_config(Path::new(word))
}
