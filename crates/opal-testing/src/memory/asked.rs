//! What a world of plain data was asked.

use std::path::PathBuf;

use opal_core::resolver::{Run, ScriptPart};

/// One view of a [`MemoryWorld`](super::MemoryWorld).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Env(String),
    Open(String),
    /// See [`MemoryWorld::command`](super::MemoryWorld::command) for how commands are written.
    Run(String),
    Get(String),
    /// `host:port`.
    Connect(String),
    Now,
    Host,
    Caller,
    Stat(PathBuf),
    Read(PathBuf),
    ReadLink(PathBuf),
    List(PathBuf),
    /// Written as for [`Self::Run`].
    Ask(String),
    /// The names of the targets on the way.
    Reach(String),
}

/// A command as worlds know it.
pub(super) fn written(run: &Run<'_>) -> String {
    match run {
        Run::Program(words) | Run::ProgramWithout { words, .. } => words.join(" "),
        Run::Script(parts) => parts
            .iter()
            .map(|part| match part {
                ScriptPart::Text(text) => text.as_str(),
                ScriptPart::Data(..) | ScriptPart::Raw(_) => "{}",
            })
            .collect(),
    }
}
