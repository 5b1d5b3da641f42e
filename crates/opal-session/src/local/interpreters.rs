//! Commands for another program than the shell of the session.
//!
//! It gets the text as an argument. A shell reads values from a descriptor first, as
//! [`opal_core::shell`] has it; no other language has a place for them in its text. Its name may be a
//! value, so messages leave it to the step.

use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

use opal_core::resolver::Trouble;

use super::children::{self, Running};
use super::lane::Lane;
use super::route::{Task, find, program_in};
use super::setup::{NO_PIPES, failed};
use super::{LocalSession, slots};
use crate::error::SessionError;
use crate::pipe;
use opal_core::shell::{self, Compiled, Language, Shell};

pub(super) fn begin(
    session: &LocalSession,
    task: &Task<'_>,
    (name, arguments): (&str, &[String]),
    lane: &Lane,
) -> Result<Running, Trouble> {
    let Some(program) = find(session, task, name) else {
        return Err(SessionError::NoInterpreter.into());
    };
    let running = match Language::of(name) {
        Language::Shell(shell) => {
            let compiled = shell::compile(task.script)?.for_shell(shell)?;
            shell_with(session, task, lane, (&program, arguments), &compiled, shell)?
        }
        Language::Other { flag } => {
            let text = shell::constant(task.script)?;
            let mut command = program_in(session, task, lane, &program)?;
            command.args(arguments).arg(flag).arg(text.expose());
            children::start(command)
        }
    };
    running.map_err(|error| match error.kind() {
        std::io::ErrorKind::ArgumentListTooLong => SessionError::ArgumentsTooLong.into(),
        _ => failed("the interpreter cannot be started", &error),
    })
}

fn shell_with(
    session: &LocalSession,
    task: &Task<'_>,
    lane: &Lane,
    (program, arguments): (&Path, &[String]),
    compiled: &Compiled,
    shell: Shell,
) -> Result<std::io::Result<Running>, Trouble> {
    let mut command = program_in(session, task, lane, program)?;
    command.args(arguments);
    let Some(feed) = compiled.feed() else {
        command.arg("-c").arg(compiled.command(shell));
        return Ok(children::start(command));
    };
    let (read, write) = pipe().map_err(|error| failed(NO_PIPES, &error))?;
    let running = slots::start_with(read.as_fd(), |number| {
        command.arg("-c").arg(compiled.command_reading(shell, number));
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
