//! The programs `opal` and `opal-commands`: arguments, wiring, views. Both are this library; `opal` is linked
//! without the commands that few runs need, and becomes `opal-commands` for them (decision 0055).
//!
//! | what | where |
//! |---|---|
//! | from one to the other | [`program`], the commands of the other in [`rest`] |
//! | what was typed | [`arguments`], the built-in commands in [`builtins`] |
//! | which command runs | [`dispatch`] |
//! | what every command gets | [`context`] |
//! | one file a command | [`commands`] |
//! | options of plans and runs | [`options`], files of variables in [`env_file`] |
//! | files of the project, read and parsed | [`project`], [`source`] |
//! | the decorators of a project, those of its packages included | [`decorators`] |
//! | from a source to a plan | [`planning`], which files count for a watch in [`counting`] |
//! | what is done with a task | [`verb`] |
//! | tasks and what they are given | [`tasks`], [`task_words`] |
//! | questions about arguments | [`prompts`] |
//! | the first file of a project | [`starter`] |
//! | all printing | [`view`] |
//! | wording, hints and exit codes of failures | [`failure`], mistakes in options in [`mistake`] |
//! | environment and terminal | [`ambient`], signals in [`signals`] |
//!
//! Deliberately not here: any rule of the language. Commands decide what to show; views show it.

mod ambient;
mod arguments;
mod asker;
mod builtins;
mod checked_file;
mod clock;
mod commands;
mod context;
mod counting;
mod decorators;
mod dispatch;
mod env_file;
mod failure;
mod git;
#[cfg(debug_assertions)]
mod held_still;
mod helpers;
mod inner;
mod limit;
mod mistake;
mod module_roots;
mod options;
mod path_completion;
mod planning;
mod program;
mod project;
mod projects;
mod prompts;
mod reports;
mod rest;
mod rules;
mod signals;
mod source;
mod stages;
mod starter;
mod targets;
mod task_words;
mod tasks;
mod telemetry;
mod trust;
mod verb;
mod view;

use std::panic;
use std::process::ExitCode;

use ambient::Ambient;
use arguments::Typed;
use failure::{Exit, Failure};
use opal_session::wire::server;

use inner::{HYOPS, LEADER, ROUND, TARGET};
use view::ink::Ink;

/// `opal`: the commands that most runs need.
#[must_use]
pub fn opal() -> ExitCode {
    run(false)
}

/// `opal-commands`: all of them. Only this names the others, so `opal` is not linked with them.
#[must_use]
pub fn opal_commands() -> ExitCode {
    rest::provide();
    run(true)
}

fn run(has_all: bool) -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next().unwrap_or_default();
    if first == LEADER {
        return match opal_session::lead(words) {
            Ok(code) => ExitCode::from(code),
            Err(error) => view::unled(&error),
        };
    }
    opal_files::memory::keep_private();
    if has_all
        && let Some(failure) = program::refused(&first, std::env::args_os().nth(2).as_deref())
    {
        return view::finish(Err(failure), Ink::new(false), false);
    }
    if first == TARGET[0] && std::env::args_os().nth(2).is_some_and(|it| it == TARGET[1]) {
        let served = server::program::run(&TARGET, words.skip(1), std::env::vars_os().collect());
        return served.map_or_else(|ended| view::unserved(&ended), ExitCode::from);
    }
    helpers::render_templates();
    targets::read_inventories();
    signals::outlive_size_limits();
    panic::set_hook(Box::new(view::bug));
    let code = panic::catch_unwind(|| command(has_all)).unwrap_or(ExitCode::from(Exit::Bug.code()));
    helpers::end_packages();
    code
}

fn command(has_all: bool) -> ExitCode {
    #[cfg(debug_assertions)]
    held_still::read();
    let ambient = Ambient::read(has_all);
    if let Some((_, words)) = ambient.arguments.split_first().filter(|(word, _)| *word == HYOPS) {
        let typed = Typed::hyops(words);
        let ended = dispatch::hyops(&typed, &ambient);
        return finish(ended, &ambient, &typed);
    }
    if ambient.completes {
        let completed = dispatch::completed(&ambient);
        return finish(completed, &ambient, &Typed::default());
    }
    let (round, words) = match &*ambient.arguments {
        [word, letter, words @ ..] if *word == ROUND => (Some(letter.into()), words),
        words => (None, words),
    };
    match arguments::parse(words).map(|typed| Typed { round, ..typed }) {
        Ok(typed) => finish(dispatch::run(&typed, &ambient), &ambient, &typed),
        Err(failure) => finish(Err(failure), &ambient, &Typed::default()),
    }
}

fn finish(outcome: Result<Exit, Failure>, ambient: &Ambient, typed: &Typed) -> ExitCode {
    let ink = Ink::new(ambient.stderr_colour(typed.colour));
    view::finish(helpers::or_unusable(outcome), ink, typed.wants_json())
}
