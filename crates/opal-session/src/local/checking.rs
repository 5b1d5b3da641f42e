//! The shell's parser, asked by a fork of the waiting shell that has been asked to execute nothing.

use std::collections::BTreeMap;

use opal_core::action::Limits;
use opal_core::context::{Context, Place};
use opal_core::resolver::{ScriptPart, Trouble};
use opal_core::stream::Stream;
use opal_core::{Data, Secret};

use super::LocalSession;
use crate::stop::Stop;
use crate::{Closed, Input, Output, Session, Taker, Work};
use opal_core::shell::Shell;
use opal_core::shell::syntax::{self, Fault, MAX_MESSAGE_BYTES};

/// All texts are read at once by the shell that is there anyway. Where it objects, a parser that
/// counts lines from the first one finds the texts at fault; so it does for `sh`, of which not
/// every one keeps `set -n` inside `eval`.
pub(super) fn check(
    session: &LocalSession,
    scripts: &[&[ScriptPart]],
) -> Result<Vec<Fault>, Trouble> {
    let mut waits = session.shell() == Some(Shell::Bash);
    syntax::faults(scripts, &mut |text| match std::mem::take(&mut waits) {
        true => read(session, text),
        false => session.world().syntax(text),
    })
}

/// What the shell objects to in a text.
fn read(session: &LocalSession, text: &str) -> Result<Option<String>, Trouble> {
    let unexecuted = Data::text(format!("set -n\n{text}"));
    // What is missing at its end is known by the words that bash has for it in this language.
    let environment = BTreeMap::from([("LC_ALL".to_owned(), Secret::new("C"))]);
    let work = Work {
        script: &[
            ScriptPart::Text("eval ".to_owned()),
            ScriptPart::Data(unexecuted, Context::new(Place::Word)),
        ],
        interpreter: None,
        arguments: &[],
        directory: &session.setup.start,
        previous: None,
        environment: &environment,
        limits: Limits::default(),
        // The shell that is there already, unless it has a terminal, where all streams are one.
        stdin: if session.setup.terminal.is_none() { Input::Own } else { Input::Nothing },
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    let mut said = Said::default();
    let ended = session.run(work, &Stop::new(), &mut said)?;
    let said = String::from_utf8_lossy(&said.0).into_owned();
    Ok((ended.code != 0 || syntax::is_incomplete(&said)).then_some(said))
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
