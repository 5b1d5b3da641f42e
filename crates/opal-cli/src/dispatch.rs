//! Which command runs.
//!
//! A function of the project wins over a built-in of its name, so that a new built-in never changes
//! what a task does. `self` reaches the built-in, `run` the function.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::{Registry, suggest};

use crate::ambient::Ambient;
use crate::arguments::Typed;
use crate::failure::{Exit, Failure};
use crate::tasks::{self, Task};
use crate::{builtins, commands, project, view};

/// What every command gets.
pub(crate) struct Context<'a> {
    pub(crate) typed: &'a Typed,
    pub(crate) ambient: &'a Ambient,
    pub(crate) registry: Registry,
}

pub(crate) fn run(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    let context = Context { typed, ambient, registry: opal_runtime::decorators::registry() };
    if typed.version {
        return view::print(concat!("opal ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    if typed.help {
        return commands::help::opal(&context);
    }
    match &typed.word {
        None => commands::list::bare(&context),
        Some(word) => context.word(word),
    }
}

impl Context<'_> {
    /// The project's tasks; none where there is no file, or none that can be read.
    pub(crate) fn tasks(&self) -> Option<(PathBuf, Vec<Task>)> {
        tasks_of(self.typed.file.clone(), &self.registry)
    }

    /// The file named behind the command or before it.
    pub(crate) fn file<'m>(&'m self, matches: &'m ArgMatches) -> Option<&'m PathBuf> {
        matches.get_one::<PathBuf>("file").or(self.typed.file.as_ref())
    }

    fn word(&self, word: &str) -> Result<Exit, Failure> {
        // These two always reach what they say, whatever tasks are called.
        if matches!(word, "self" | "run") {
            return self.builtin(word, &self.typed.rest);
        }
        let tasks = self.tasks();
        let found = tasks.as_ref().and_then(|(path, all)| Some((path, tasks::find(all, word)?)));
        if let Some((path, task)) = found {
            return commands::task::run(self, path, task, &self.typed.rest);
        }
        if builtins::NAMES.contains(&word) {
            return self.builtin(word, &self.typed.rest);
        }
        if is_file(word) {
            return commands::task::script(self, Path::new(word), &self.typed.rest);
        }
        Err(self.unknown(word, tasks.as_ref().map(|(_, tasks)| tasks.as_slice())))
    }

    /// A built-in command with its arguments.
    pub(crate) fn builtin(&self, word: &str, rest: &[OsString]) -> Result<Exit, Failure> {
        // What follows the target of these two is the target's, `--help` included.
        let target = rest.first().and_then(|first| first.to_str());
        match (word, target.filter(|target| !target.starts_with('-'))) {
            ("run", Some(target)) => {
                let file = self.typed.file.as_ref();
                return commands::task::run_target(self, target, file, &rest[1..]);
            }
            ("self", Some(target)) => return self.builtin(target, &rest[1..]),
            _ => {}
        }
        let mut command = builtins::opal();
        let Some(command) = command.find_subcommand_mut(word) else {
            let near = suggest::nearest(word, builtins::NAMES);
            let help =
                near.map_or("see `opal --help`".into(), |near| format!("did you mean `{near}`?"));
            return Err(Failure::usage(format!("`{word}` is no built-in command"), help));
        };
        let command = std::mem::take(command).bin_name(format!("opal {word}")).no_binary_name(true);
        let matches = match command.try_get_matches_from(rest) {
            Ok(matches) => matches,
            Err(error) => return view::clap(&error, self),
        };
        match word {
            "check" => commands::check::run(self, &matches),
            "fmt" => commands::fmt::run(self, &matches),
            "list" => commands::list::run(self, &matches),
            "explain" => commands::explain::run(self, &matches),
            "run" => commands::task::run_command(self, &matches),
            "completions" => commands::completions::script(&matches),
            "help" => commands::help::run(self, &matches),
            // `self` without a target has been refused by its own arguments.
            _ => commands::help::opal(self),
        }
    }

    fn unknown(&self, word: &str, tasks: Option<&[Task]>) -> Failure {
        if builtins::LATER.contains(&word) {
            return Failure::new(
                Exit::Unavailable,
                format!("`opal {word}` is not part of this version"),
                "this version checks, formats and lists: see `opal --help`",
            );
        }
        let names = tasks.unwrap_or_default().iter().map(|task| task.name.as_str());
        let near = suggest::nearest(word, names.chain(builtins::NAMES));
        let mut failure = Failure::usage(
            format!("there is no task and no command `{word}`"),
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

/// The tasks of `file`, or of the project's.
pub(crate) fn tasks_of(file: Option<PathBuf>, registry: &Registry) -> Option<(PathBuf, Vec<Task>)> {
    let path = file.or_else(project::find)?;
    let source = project::read(&path).ok()?;
    let text = source.text.ok()?;
    Some((path, tasks::of(&text, registry)))
}

/// Whether a word names a file rather than a function.
pub(crate) fn is_file(word: &str) -> bool {
    word.ends_with(".opl") || word.contains('/')
}
