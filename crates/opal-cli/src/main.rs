//! The `opal` binary: arguments, wiring, views.
//!
//! | what | where |
//! |---|---|
//! | what was typed | [`arguments`], the built-in commands in [`builtins`] |
//! | which command runs | [`dispatch`] |
//! | one file a command | [`commands`] |
//! | options of plans and runs | [`options`], files of variables in [`env_file`] |
//! | files of the project, read and parsed | [`project`], [`source`] |
//! | from a source to a plan | [`planning`] |
//! | tasks and what they are given | [`tasks`], [`task_words`] |
//! | all printing | [`view`] |
//! | wording, hints and exit codes of failures | [`failure`], mistakes in options in [`mistake`] |
//! | environment and terminal | [`ambient`], signals in [`signals`] |
//!
//! Deliberately not here: any rule of the language. Commands decide what to show; views show it.

mod ambient;
mod arguments;
mod builtins;
mod commands;
mod dispatch;
mod env_file;
mod failure;
mod mistake;
mod options;
mod planning;
mod project;
mod signals;
mod source;
mod stages;
mod task_words;
mod tasks;
mod view;

use std::panic;
use std::process::ExitCode;

use arguments::Typed;

/// The first word where opal is to start another program, as the leader of a terminal's session.
/// Only opal itself starts opal like this.
const LEADER: &str = "__leader";

/// The first word where opal is to render one template, with little memory and time.
const RENDERER: &str = "__render";

/// The first word where it is called by the name of `hyops`.
const HYOPS: &str = "__hyops";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next().unwrap_or_default();
    if first == LEADER {
        return match opal_session::lead(words) {
            Ok(code) => ExitCode::from(code),
            Err(error) => view::unled(&error),
        };
    }
    signals::no_core_dumps();
    if first == RENDERER {
        let rendered = opal_decorators::render_here();
        return rendered.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    opal_decorators::render_with(|| std::env::current_exe().ok(), RENDERER);
    signals::outlive_size_limits();
    panic::set_hook(Box::new(view::bug));
    panic::catch_unwind(opal).unwrap_or(ExitCode::from(failure::Exit::Bug.code()))
}

fn opal() -> ExitCode {
    let ambient = ambient::Ambient::read();
    if let Some((_, words)) = ambient.arguments.split_first().filter(|(word, _)| *word == HYOPS) {
        let typed = Typed::hyops(words);
        return view::finish(dispatch::hyops(&typed, &ambient), &ambient, &typed);
    }
    if ambient.completes {
        return view::finish(
            commands::completions::complete(&ambient.arguments),
            &ambient,
            &Typed::default(),
        );
    }
    match arguments::parse(&ambient.arguments) {
        Ok(typed) => view::finish(dispatch::run(&typed, &ambient), &ambient, &typed),
        Err(failure) => view::finish(Err(failure), &ambient, &Typed::default()),
    }
}
