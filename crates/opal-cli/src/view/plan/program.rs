//! `--format cmd:PROGRAM`: the JSON view on the standard input of a program.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::ambient::IDENTITY;
use crate::failure::{Exit, Failure};

/// Runs `program` by the shell, as it would run behind a pipe.
#[expect(clippy::disallowed_methods, reason = "the user named a program to show the plan with")]
pub(super) fn pipe(program: &str, view: &[u8]) -> Result<Exit, Failure> {
    let failed = |what: String| {
        let help = "try `opal plan TASK --json | PROGRAM`";
        Err(Failure::new(Exit::Unavailable, format!("`{program}` {what}"), help))
    };
    let mut command = Command::new("sh");
    command.args(["-c", program]).env_remove(IDENTITY).stdin(Stdio::piped());
    let child = command.spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return failed(format!("cannot be started: {error}")),
    };
    if let Some(mut input) = child.stdin.take() {
        // A program that has seen enough may close its end.
        let _ = input.write_all(view);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(Exit::Done),
        Ok(status) => failed(format!("ended with {status}")),
        Err(error) => failed(format!("was lost: {error}")),
    }
}
