//! What commands show: a human view and a machine view each. Nothing else prints.

pub(crate) mod adopt;
pub(crate) mod approval;
pub(crate) mod audit;
pub(crate) mod blueprint;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod diagnostics;
pub(crate) mod doc;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod ink;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod module;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod publishing;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod starter;
pub(crate) mod syntax;
mod table;
pub(crate) mod targets;
pub(crate) mod telemetry;
pub(crate) mod trace;
pub(crate) mod tty;
pub(crate) mod verified;
pub(crate) mod verify;
pub(crate) mod watch;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use opal_core::view::visible;

use crate::failure::{Exit, Failure};
use crate::mistake::Mistake;
use ink::Ink;

/// Writes to standard output. A reader that has gone away is no failure.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    print_bytes(text.as_bytes())
}

pub(crate) fn print_bytes(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::unwritable("standard output", &error))
        }
        _ => Ok(Exit::Done),
    }
}

/// Writes opal's own words. Where not even that works, the exit code still speaks.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The command line that runs, after questions about it.
pub(crate) fn running(line: &str, ink: Ink) {
    say(&format!("{}\n", ink.faint(&format!("$ {}", diagnostics::visible(line)))));
}

/// A question on the terminal; the answer stands on the same line.
pub(crate) fn ask(question: &opal_vault::Shown<'_>) {
    say(&format!("{} [y/N] ", diagnostics::visible(&question.text())));
}

/// A question that another program asks, as it asks it; the answer is on its last line.
pub(crate) fn pass_on_question(question: &str) {
    let lines: Vec<_> = question.split('\n').map(diagnostics::visible).collect();
    say(&lines.join("\n"));
}

/// Whether a JSON document was printed: what fails after that is not another one.
static HAS_PRINTED_JSON: AtomicBool = AtomicBool::new(false);

/// A JSON document on standard output.
pub(crate) fn print_json(document: &serde_json::Value) -> Result<Exit, Failure> {
    HAS_PRINTED_JSON.store(true, Ordering::Relaxed);
    print(&json_text(document))
}

/// A JSON document as text, in which nothing acts on a terminal.
pub(crate) fn json_text(document: &serde_json::Value) -> String {
    visible::json(&format!("{document:#}\n"))
}

/// A report that could not be written, after all is done.
pub(crate) fn unreported(why: &str) {
    say(&format!("warning: {}\n", diagnostics::visible(why)));
}

/// Help as clap wrote it.
pub(crate) fn help(help: &clap::builder::StyledStr, ink: Ink) -> Result<Exit, Failure> {
    print(&shown(help, ink))
}

/// What clap wrote, which may echo anything that was typed or that a source holds. Its own colours
/// stay where they are wanted; every other character that hides or acts on a terminal is drawn.
fn shown(text: &clap::builder::StyledStr, ink: Ink) -> String {
    let text = text.ansi().to_string();
    let mut parts = text.split("\x1b[");
    let mut out = visible::lines(parts.next().unwrap_or_default());
    for part in parts {
        let code = part.split_once('m').filter(|(code, _)| is_own_style(code));
        match code {
            Some((code, rest)) => {
                if ink.colour {
                    out.extend(["\x1b[", code, "m"]);
                }
                out.push_str(&visible::lines(rest));
            }
            None => out.push_str(&visible::lines(&format!("\x1b[{part}"))),
        }
    }
    out
}

/// Bold, faint, underlined and the colours of text: what clap uses, and nothing that hides.
fn is_own_style(code: &str) -> bool {
    matches!(code, "0" | "1" | "2" | "4") || matches!(code.as_bytes(), [b'3' | b'9', b'1'..=b'6'])
}

/// What clap says about arguments: help on standard output, and mistakes as failures.
pub(crate) fn clap(error: &clap::Error, out: Ink, json: bool) -> Result<Exit, Failure> {
    if error.use_stderr() {
        return Err(Failure::mistake(Mistake::of(error)).in_json(json));
    }
    help(&error.render(), out)
}

/// A failure as a JSON document, where there is none yet.
fn print_error(message: &str, help: &[String]) -> Result<Exit, Failure> {
    if HAS_PRINTED_JSON.load(Ordering::Relaxed) {
        return Ok(Exit::Done);
    }
    print_json(&serde_json::json!({"version": 1, "error": error_json(message, help)}))
}

/// A failure, as every document that tells of one has it.
pub(crate) fn error_json(message: &str, help: &[String]) -> serde_json::Value {
    serde_json::json!({"message": message, "help": help})
}

/// The last words and the exit code.
pub(crate) fn finish(outcome: Result<Exit, Failure>, ink: Ink, json: bool) -> ExitCode {
    let exit = match outcome {
        Ok(exit) => exit,
        Err(failure) => {
            // Where JSON is asked for, a failure is JSON too.
            if json || failure.is_json {
                let _ = print_error(&failure.message, &failure.help);
            }
            say(&failure_text(&failure, ink));
            failure.exit
        }
    };
    ExitCode::from(exit.code())
}

/// What is said when opal itself goes wrong. The message of a panic may hold a value, so only its
/// place is told.
pub(crate) fn bug(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |place| format!(" ({place})"));
    say(&format!(
        "error: internal error{place}\n  help: this is a bug: please report the line above, and \
         what you have run\n"
    ));
}

/// A shell that could not be started on its terminal.
pub(crate) fn unled(error: &io::Error) -> ExitCode {
    say(&format!("error: the shell cannot be started on a terminal: {error}\n"));
    ExitCode::from(127)
}

/// A helper that has ended before it was to.
pub(crate) fn unserved(ended: &opal_session::wire::server::program::Ended) -> ExitCode {
    say(&format!("error: {ended}\n"));
    ExitCode::FAILURE
}

/// `error: message`, then what to do.
pub(crate) fn failure_text(failure: &Failure, ink: Ink) -> String {
    let (red, green, reset) =
        if ink.colour { ("\x1b[1;31m", "\x1b[1;32m", "\x1b[0m") } else { ("", "", "") };
    let code = failure.code.map_or_else(String::new, |code| format!("[{}]", code.as_str()));
    let message = diagnostics::visible(&failure.message);
    let mut text = format!("{red}error{code}{reset}: {message}\n");
    for help in &failure.help {
        text.push_str(&format!("  {green}help{reset}: {}\n", diagnostics::visible(help)));
    }
    text
}
