//! The words of a round, and its process.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use opal_core::action::Why;
use rustix::process::{Pid, Signal, kill_process};

use opal_ops::planning::Subject;

use crate::ambient::Colour;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::inner::ROUND;
use crate::task_words::{Others, Typed};
use crate::verb::Verb;
use crate::{builtins, task_words, tasks};

/// What a run ends with that Ctrl+C has ended.
pub(super) const INTERRUPTED: u8 = 130;

/// What is typed for a round.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<OsString>,
    /// Whether a change waits for the end of the round.
    pub(super) queues: bool,
    /// Whether Ctrl+C reaches rounds by itself.
    on_terminal: bool,
}

impl Words {
    /// The words of `opal watch` as words of `opal run`. The process is already where `-C` says.
    pub(super) fn of(context: &Context<'_>, subject: &Subject<'_>, letter: &Path) -> Self {
        let typed = context.typed;
        let mut words: Vec<OsString> = vec![ROUND.into(), letter.into()];
        if let Some(file) = &typed.file {
            words.extend(["-f".into(), file.into()]);
        }
        if typed.global {
            words.push("-g".into());
        }
        if let Some(root) = &typed.root {
            words.extend(["--root".into(), root.into()]);
        }
        let colour = match typed.colour {
            Colour::Auto => "auto",
            Colour::Always => "always",
            Colour::Never => "never",
        };
        words.extend(["--color".into(), colour.into()]);
        words.extend(typed.before.iter().cloned());
        words.push("run".into());
        let rest = match typed.word.as_deref() {
            Some("self") => typed.rest.get(1..).unwrap_or_default(),
            _ => &typed.rest,
        };
        let mut opal = builtins::opal();
        let command = opal.find_subcommand_mut("watch").map(std::mem::take).unwrap_or_default();
        let target = builtins::target(&command, rest).map_or(rest.len(), |(at, _)| at);
        let queue = rest[..target].iter().position(|word| word == "--queue");
        let answered = answered(subject, rest.get(target + 1..).unwrap_or_default());
        let end = if answered.is_some() { target } else { rest.len() };
        let kept = rest[..end].iter().enumerate().filter(|(at, _)| Some(*at) != queue);
        words.extend(kept.map(|(_, word)| word.clone()));
        if let Some((options, arguments)) = answered {
            words.extend(options);
            words.extend(rest.get(target).cloned());
            words.extend(arguments);
        }
        Self { words, queues: queue.is_some(), on_terminal: context.ambient.is_interactive() }
    }
}

/// The options and arguments of a task that was asked for some of them: rounds do not ask again.
fn answered(subject: &Subject<'_>, typed: &[OsString]) -> Option<(Vec<OsString>, Vec<OsString>)> {
    let task = tasks::find(subject.loaded, subject.function.as_deref()?)?;
    // What would be said about them is not shown: the first call has said it.
    let others = Others { names: &Vec::new, opal: &String::new };
    let sorted = task_words::sort(&task, typed, Verb::Watch.options(), &others);
    let Ok(Typed::Missing(missing)) = sorted else { return None };
    let words = tasks::words_with(&task, &subject.arguments, &str::to_owned);
    Some((missing.words.options, words.into_iter().skip(1).map(OsString::from).collect()))
}

/// A round that runs.
#[derive(Debug)]
pub(super) struct Round {
    child: Child,
    on_terminal: bool,
}

impl Round {
    #[expect(
        clippy::disallowed_methods,
        reason = "a round is a run of opal, which ends what it starts"
    )]
    pub(super) fn begin(words: &Words) -> Result<Self, Failure> {
        let begun = std::env::current_exe()
            .and_then(|program| Command::new(program).args(&words.words).spawn());
        match begun {
            Ok(child) => Ok(Self { child, on_terminal: words.on_terminal }),
            Err(error) => Err(Failure::new(
                Exit::Unavailable,
                format!("a round cannot be started: {error}"),
                "check the limits on processes with `ulimit -a`, and try again",
            )),
        }
    }

    /// Its exit code, where it has ended.
    pub(super) fn ended(&mut self) -> Result<Option<u8>, Failure> {
        Ok(self.child.try_wait().map_err(|error| lost(&error))?.map(code))
    }

    pub(super) fn wait(&mut self) -> Result<u8, Failure> {
        self.child.wait().map(code).map_err(|error| lost(&error))
    }

    /// Asks it to end, with its cleanup. On a terminal Ctrl+C has told it already, and told twice it
    /// would not clean up.
    pub(super) fn tell(&self, why: Option<Why>) {
        let signal = match why {
            Some(Why::Signal(2)) if self.on_terminal => return,
            Some(Why::Signal(number)) => Signal::from_named_raw(number).unwrap_or(Signal::TERM),
            _ => Signal::TERM,
        };
        // One that has just ended need not be told: it is not waited for yet, so nobody has its number.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(1)
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Bug, format!("a round was lost: {error}"), "run `opal watch` again")
}
