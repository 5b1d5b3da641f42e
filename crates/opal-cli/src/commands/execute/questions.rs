//! What is asked before the first step.

use std::io::{BufRead, IsTerminal};
use std::os::fd::AsFd;

use opal_core::Secret;
use opal_exec::execute::Question;
use opal_session::stop::Order;
use opal_vault::Vault;
use rustix::event::PollFlags;

use crate::failure::{Exit, Failure};
use crate::signals::Watched;
use crate::view;

/// Asks one question. Any answer but yes ends it: with what.
pub(crate) fn confirm(
    message: String,
    vault: &Vault,
    watched: &Watched,
) -> Result<Option<Exit>, Failure> {
    let question = Question { path: String::new(), message: Secret::new(message) };
    ask(&[question], vault, false, watched)
}

/// Asks every question of the plan. Any answer but yes, and a signal, end it: with what.
pub(super) fn ask(
    questions: &[Question],
    vault: &Vault,
    yes: bool,
    watched: &Watched,
) -> Result<Option<Exit>, Failure> {
    if questions.is_empty() || yes {
        return Ok(None);
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::new(
            Exit::Usage,
            "the plan asks questions, but there is no terminal to answer them",
            "answer all of them with `--yes`, or show them with `--dry-run`",
        ));
    }
    for question in questions {
        view::ask(&vault.scrub(question.message.expose()));
        // Reading alone would go on after a signal as if there had been none.
        let ready = || watched.stop().wait(&[(stdin.as_fd(), PollFlags::IN)], None, Order::GoOn);
        while watched.stop().order() == Order::GoOn && ready().iter().all(PollFlags::is_empty) {}
        if let Some(stopped) = watched.cut_off("a question was not answered") {
            view::say("\nnothing was run\n");
            return stopped.outcome().map(Some);
        }
        let mut answer = String::new();
        let read = stdin.lock().read_line(&mut answer);
        let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
        if read.is_err() || !is_yes {
            view::say("nothing was run\n");
            return Ok(Some(Exit::Step(130)));
        }
    }
    Ok(None)
}
