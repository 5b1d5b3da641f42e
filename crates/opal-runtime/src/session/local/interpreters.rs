//! Commands for another program than the shell of the session.
//!
//! It gets the text as an argument. A shell reads values from a descriptor first, as
//! [`crate::script`] has it; no other language has a place for them in its text. Its name may be a
//! value, so messages leave it to the step.

use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

use opal_core::Secret;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};

use super::children::{self, Running};
use super::lane::Lane;
use super::route::{Task, find, program_in, too_long};
use super::{LocalSession, NO_PIPES, failed};
use crate::script::{self, Compiled, Shell};
use crate::session::pipe;

/// Programs that read text as `sh` does.
const SHELLS: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "yash", "zsh"];

/// Programs that call it something else than `-c`.
const BY_E: [&str; 4] = ["node", "nodejs", "perl", "ruby"];

pub(super) fn begin(
    session: &LocalSession,
    task: &Task<'_>,
    name: &str,
    lane: &Lane,
) -> Result<Running, Trouble> {
    let Some(program) = find(session, task, name) else { return Err(missing()) };
    let base = Path::new(name).file_name().and_then(|it| it.to_str()).unwrap_or(name);
    let running = if SHELLS.contains(&base) {
        let shell = if base == "bash" { Shell::Bash } else { Shell::Sh };
        shell_with(session, task, lane, &program, &script::compile(task.script)?, shell)?
    } else {
        let text = constant(task.script)?;
        let mut command = program_in(session, task, lane, &program)?;
        command.arg(if BY_E.contains(&base) { "-e" } else { "-c" }).arg(text.expose());
        children::start(command)
    };
    running.map_err(|error| match error.kind() {
        std::io::ErrorKind::ArgumentListTooLong => too_long(),
        _ => failed("the interpreter cannot be started", &error),
    })
}

fn shell_with(
    session: &LocalSession,
    task: &Task<'_>,
    lane: &Lane,
    program: &Path,
    compiled: &Compiled,
    shell: Shell,
) -> Result<std::io::Result<Running>, Trouble> {
    let mut command = program_in(session, task, lane, program)?;
    let Some(feed) = compiled.feed() else {
        command.arg("-c").arg(compiled.command(shell));
        return Ok(children::start(command));
    };
    let (read, write) = pipe().map_err(|error| failed(NO_PIPES, &error))?;
    let running = children::start_with(read.as_fd(), |number| {
        command.arg("-c").arg(compiled.command_reading(shell, &format!("/dev/fd/{number}")));
        command
    });
    // A shell that ends before it has read everything says so with its exit code.
    thread::spawn(move || {
        let mut rest = feed.as_bytes();
        while let Ok(count @ 1..) = rustix::io::write(&write, rest) {
            rest = &rest[count..];
        }
    });
    Ok(running)
}

fn constant(parts: &[ScriptPart]) -> Result<Secret, Trouble> {
    let text = parts.iter().map(|part| match part {
        ScriptPart::Text(text) => Ok(text.as_str()),
        ScriptPart::Data(..) | ScriptPart::Raw(_) => Err(Trouble::new(
            TroubleKind::Invalid,
            "a value in text for a program that is no shell would become code",
            "pass it in a variable, with `@environ(NAME=…)`, or on standard input",
        )),
    });
    let text = text.collect::<Result<String, Trouble>>()?;
    if text.contains('\0') {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            "the text of a command cannot hold a NUL character",
            "pass such bytes in a file",
        ));
    }
    Ok(Secret::new(text))
}

fn missing() -> Trouble {
    Trouble::new(
        TroubleKind::Missing,
        "the interpreter is not installed, or not in `PATH`",
        "install it, or add its directory to `PATH`",
    )
}
