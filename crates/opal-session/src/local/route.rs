//! Which way a command goes: to a program at once, or to the shell, forked or not.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;

use opal_core::Secret;
use opal_core::resolver::{ScriptPart, Trouble};

use super::LocalSession;
use super::children::{self, Running};
use super::lane::Lane;
use super::limits::Enforced;
use super::request::{Request, exported_function, is_exportable};
use super::setup::{NO_PIPES, failed};
use crate::error::SessionError;
use opal_core::shell::{self, Movement, Plain, Shell};
use opal_files::program;

/// A command and what holds for it, without its descriptors.
pub(super) struct Task<'a> {
    pub(super) script: &'a [ScriptPart],
    pub(super) directory: &'a Path,
    pub(super) previous: Option<&'a Path>,
    pub(super) environment: &'a BTreeMap<String, Secret>,
    pub(super) limits: &'a Enforced,
}

/// Builtins that leave no trace in a shell, whatever plain words follow.
const STATELESS: [&str; 7] = [":", "[", "echo", "false", "pwd", "test", "true"];

/// Names that mean something to bash or to another shell.
const OF_SHELLS: [&str; 93] = [
    "!",
    ".",
    ":",
    "[",
    "[[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "end",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "newgrp",
    "popd",
    "print",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "whence",
    "where",
    "which",
    "while",
    "{",
    "}",
    "]]",
    "login",
    "setvar",
    // No builtin, but it does something else where it is the first of its group.
    "setsid",
];

/// Starts the command; what runs, where it is not the shell of the lane.
pub(super) fn begin(
    session: &LocalSession,
    task: &Task<'_>,
    lane: &mut Lane,
) -> Result<Option<Running>, Trouble> {
    let plain = shell::plain(task.script).filter(|plain| !is_changed(session, task, plain));
    // Only a fork of the shell can set limits and then become something else.
    let plain = plain.filter(|_| task.limits.is_empty());
    // Only the shell has the terminal of the lane.
    if let Some(plain) = &plain
        && lane.pty.is_none()
        && (!OF_SHELLS.contains(&plain.name()) || is_quicker_alone(session, plain, lane))
        && let Some(running) = direct(session, task, plain, lane)?
    {
        return Ok(Some(running));
    }
    let text = match plain {
        Some(plain) if is_stateless(task, &plain) => Some(constant(task.script)),
        _ => None,
    };
    ask(session, task, lane, text.as_deref())?;
    Ok(None)
}

/// Whether a run that goes on like this will need the shell.
pub(super) fn wants_shell(parts: &[ScriptPart]) -> bool {
    match shell::plain(parts) {
        Some(plain) => OF_SHELLS.contains(&plain.name()) && !is_a_program_too(&plain),
        None => true,
    }
}

/// As long as no shell is there, starting one takes longer than a few programs.
fn is_quicker_alone(session: &LocalSession, plain: &Plain, lane: &Lane) -> bool {
    const PROGRAMS: usize = 2;
    lane.shell.is_none()
        && is_a_program_too(plain)
        && session.alone.fetch_add(1, Ordering::Relaxed) < PROGRAMS
}

/// A builtin that does, with these words, just what the program of its name does.
fn is_a_program_too(plain: &Plain) -> bool {
    let is_harmless =
        |word: &Secret| !word.expose().starts_with('-') && !word.expose().contains('\\');
    match plain.name() {
        "true" | "false" => plain.arguments().is_empty(),
        // The arguments of a program can be seen by everybody on the machine.
        "echo" => plain.is_constant() && plain.arguments().iter().all(is_harmless),
        _ => false,
    }
}

/// Whether a name may mean something else here than everywhere.
fn is_changed(session: &LocalSession, task: &Task<'_>, plain: &Plain) -> bool {
    let own = task.environment.keys().map(OsStr::new);
    let mut all = session.setup.environment.keys().map(OsString::as_os_str).chain(own);
    all.any(|name| name == "BASH_ENV" || exported_function(name) == Some(plain.name()))
}

fn is_stateless(task: &Task<'_>, plain: &Plain) -> bool {
    let is_known = STATELESS.contains(&plain.name())
        || plain.name() == "printf"
            && plain.arguments().first().is_some_and(|it| !it.expose().starts_with('-'));
    is_known && plain.is_constant() && task.environment.is_empty()
}

fn constant(parts: &[ScriptPart]) -> String {
    let text = parts.iter().map(|part| match part {
        ScriptPart::Text(text) => text.as_str(),
        ScriptPart::Data(..) | ScriptPart::Raw(_) => "",
    });
    text.collect()
}

/// Starts a program without a shell; none where a shell must run it.
fn direct(
    session: &LocalSession,
    task: &Task<'_>,
    plain: &Plain,
    lane: &Lane,
) -> Result<Option<Running>, Trouble> {
    let Some(program) = find(session, task, plain.name()) else { return Ok(None) };
    let mut command = program_in(session, task, lane, &program)?;
    command.arg0(plain.name()).args(plain.arguments().iter().map(Secret::expose));
    match children::start(command) {
        Ok(running) => Ok(Some(running)),
        Err(error) if error.kind() == ErrorKind::ArgumentListTooLong => {
            Err(SessionError::ArgumentsTooLong.into())
        }
        // No program of its own: a script without a first line, or one that may not be executed.
        Err(error)
            if error.kind() == ErrorKind::NotFound
                || error.kind() == ErrorKind::PermissionDenied
                || error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(failed("the program cannot be started", &error)),
    }
}

/// A program with everything but its arguments, as a shell would start it.
pub(super) fn program_in(
    session: &LocalSession,
    task: &Task<'_>,
    lane: &Lane,
    program: &Path,
) -> Result<Command, Trouble> {
    let mut command = match (task.limits.is_empty(), session.interpreter()) {
        (false, None) => return Err(SessionError::NoLimits.into()),
        (false, Some(own)) => {
            let mut command = children::command(&own.path);
            let text = format!("{}exec \"$@\"", task.limits.prelude(own.shell));
            command.args(["-c", &text, "sh"]).arg(program);
            command
        }
        (true, _) => children::command(program),
    };
    session.surround(&mut command, lane, task.directory, task.previous);
    command
        .env("SHLVL", session.variable("SHLVL").unwrap_or(OsStr::new("0")))
        .env("_", task.directory.join(program))
        .envs(task.environment.iter().map(|(name, value)| (name, value.expose())));
    lane.connect(&mut command).map_err(|error| failed(NO_PIPES, &error))?;
    Ok(command)
}

/// Where a program is, for a command.
pub(super) fn find(session: &LocalSession, task: &Task<'_>, name: &str) -> Option<PathBuf> {
    let path = task.environment.get("PATH").map(|it| OsStr::new(it.expose()));
    program::find(path.or(session.variable("PATH")), task.directory, name)
}

/// Where a program is, seen from a directory, in the environment of the session.
pub(super) fn program(session: &LocalSession, from: &Path, name: &str) -> Option<PathBuf> {
    program::find(session.variable("PATH"), from, name)
}

/// Asks the shell of the lane; `text` needs no fork.
fn ask(
    session: &LocalSession,
    task: &Task<'_>,
    lane: &mut Lane,
    text: Option<&str>,
) -> Result<(), Trouble> {
    let shell = session.shell().unwrap_or(Shell::Sh);
    let compiled = shell::compile(task.script)?.for_shell(shell)?;
    let is_ordinary = task.environment.keys().all(|name| is_exportable(name))
        && task.directory.to_str().is_some()
        && task.previous.is_none_or(|it| it.to_str().is_some());
    let none = BTreeMap::new();
    let (own, environment) =
        if is_ordinary { (&none, task.environment) } else { (task.environment, &none) };
    if !is_ordinary || lane.shell.is_none() {
        session.boot(lane, task.directory, task.previous, own)?;
    }
    lane.is_reusable &= is_ordinary;
    let shell = lane.shell.as_mut().expect("a lane that has booted has a shell");
    let is_elsewhere =
        shell.directory != task.directory || shell.previous.as_deref() != task.previous;
    let request = Request {
        shell: session.shell().unwrap_or(Shell::Sh),
        descriptors: shell.descriptors,
        place: is_elsewhere.then_some((task.directory, task.previous)),
        environment,
        prelude: task.limits.prelude(session.shell().unwrap_or(Shell::Sh)),
        is_mover: !matches!(shell::movement(task.script), Movement::Stays),
    };
    let asked = match (text, session.interpreter()) {
        (Some(text), _) => request.unforked(text),
        (None, Some(own)) if names_its_shell(task.script) => request.alone(&compiled, &own.path),
        (None, _) => request.forked(&compiled),
    };
    shell.directory = task.directory.to_owned();
    shell.previous = task.previous.map(Path::to_owned);
    shell.ask(&asked).map_err(|error| failed("the shell cannot be asked", &error))
}

/// Whether it may ask for the number of its shell, which in a fork is that of the waiting one.
fn names_its_shell(parts: &[ScriptPart]) -> bool {
    parts.iter().any(|part| match part {
        ScriptPart::Text(text) => text.contains("$$") || text.contains("${$"),
        ScriptPart::Raw(text) => text.expose().contains("$$") || text.expose().contains("${$"),
        ScriptPart::Data(..) => false,
    })
}
