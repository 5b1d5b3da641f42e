//! Whether the shell understands the texts of commands, before any of them runs.
//!
//! All are read in one go by a fork of the waiting shell that has been told to execute nothing.
//! Each stands in brackets of two kinds, which nothing but a whole text fits into, and what follows
//! closes no quote without an error: so no text can complete another one. Only where the shell
//! objects they are read one by one.

use std::collections::BTreeMap;

use opal_core::Data;
use opal_core::action::Limits;
use opal_core::context::{Context, Place};
use opal_core::record::Stream;
use opal_core::resolver::{ScriptPart, Trouble};

use super::LocalSession;
use crate::script;
use crate::session::{Closed, Input, Output, Session, Taker, Work};
use crate::stop::Stop;

/// Of what the shell says about one text.
const MAX_MESSAGE_BYTES: usize = 4096;

pub(super) fn check(
    session: &LocalSession,
    scripts: &[&[ScriptPart]],
) -> Result<Vec<(usize, String)>, Trouble> {
    let mut texts = Vec::new();
    for (index, parts) in scripts.iter().enumerate() {
        let is_raw = parts.iter().any(|part| matches!(part, ScriptPart::Raw(_)));
        // What was pasted is known only to the run, and a message could show it.
        if !is_raw && !script::is_plain(parts) {
            texts.push((index, script::compile(parts)?.text().to_owned()));
        }
    }
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    if read(session, &texts.iter().map(|(_, text)| wrapped(text)).collect::<String>())?.is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (index, text) in texts {
        if let Some(message) = read(session, &wrapped(&text))? {
            // About the text by itself the shell says it better.
            found.push((index, read(session, &text)?.unwrap_or(message)));
        }
    }
    Ok(found)
}

fn wrapped(text: &str) -> String {
    // The second line break is for a text that ends in a backslash.
    let guard = ": ')'\n: \")\"\n";
    format!("{{ :\n{text}\n\n}}\n{guard}( :\n{text}\n\n)\n{guard}")
}

/// What the shell objects to in a text.
fn read(session: &LocalSession, text: &str) -> Result<Option<String>, Trouble> {
    let unexecuted = Data::text(format!("set -n\n{text}"));
    let work = Work {
        script: &[
            ScriptPart::Text("eval ".to_owned()),
            ScriptPart::Data(unexecuted, Context::new(Place::Word)),
        ],
        interpreter: None,
        directory: &session.setup.start,
        previous: None,
        environment: &BTreeMap::new(),
        limits: Limits::default(),
        // The shell that is there already, unless it has a terminal, where all streams are one.
        stdin: if session.setup.terminal.is_none() { Input::Own } else { Input::Nothing },
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    let mut said = Said::default();
    let ended = session.run(work, &Stop::new(), &mut said)?;
    let said = String::from_utf8_lossy(&said.0).into_owned();
    Ok((ended.code != 0 || said.contains("here-document")).then(|| message(&said)))
}

#[derive(Default)]
struct Said(Vec<u8>);

impl Taker for Said {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        let room = MAX_MESSAGE_BYTES.saturating_sub(self.0.len()).min(bytes.len());
        if stream == Stream::Stderr {
            self.0.extend_from_slice(&bytes[..room]);
        }
        Ok(())
    }
}

/// The first thing it says, without where in our own text that was.
fn message(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let line = line.rsplit_once("eval: ").map_or(line, |(_, rest)| rest);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = match line.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((number, rest)) if is_number(number) => rest,
        _ => line,
    };
    let mut characters = rest.chars();
    let first = characters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_message_names_no_line_of_ours() {
        let bash = "bash: eval: line 4: syntax error near unexpected token `)'\nbash: eval: …";
        assert_eq!(message(bash), "syntax error near unexpected token `)'");
        let dash = "/dev/fd/8: 5: eval: Syntax error: \")\" unexpected\n";
        assert_eq!(message(dash), "syntax error: \")\" unexpected");
    }
}
