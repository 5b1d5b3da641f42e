//! What is asked before the first step.

use std::io::{BufRead, IsTerminal};

use opal_runtime::execute::Question;
use opal_runtime::vault::Vault;

use crate::failure::{Exit, Failure};
use crate::view;

/// Whether the run may go on: every question of the plan was answered with yes.
pub(super) fn ask(questions: &[Question], vault: &Vault, yes: bool) -> Result<bool, Failure> {
    if questions.is_empty() || yes {
        return Ok(true);
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::new(
            Exit::Usage,
            "the plan asks questions, and there is no terminal to answer them",
            "`--yes` answers all of them with yes; `--dry-run` shows them",
        ));
    }
    for question in questions {
        view::ask(&vault.scrub(question.message.expose()));
        let mut answer = String::new();
        let read = stdin.lock().read_line(&mut answer);
        let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
        if read.is_err() || !is_yes {
            view::say("nothing was run\n");
            return Ok(false);
        }
    }
    Ok(true)
}
