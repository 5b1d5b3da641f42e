//! What a run leaves: documents, and for each tool what it printed and how it ended.
//!
//! A run tells of itself as it does to its record, so nothing comes here that the scrubber has not
//! seen. A file has its name when it is whole: what a killed run has left begins with `.new-`, and the
//! next run of the module removes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use opal_core::stream::Stream;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{End, Event, Finished, Kind, Started};
use opal_vault::witness::{Recorder, Unrecorded};
use serde_json::Value;

use super::file::{self, Unkept};
use super::id::is_word;
use tool::Tool;

mod tool;

pub use tool::ToolEnd;

/// The exit code of a tool that was asked to stop and never reported how it ended.
const STOPPED: i32 = 130;

/// A step of the plan that runs a tool.
#[derive(Clone)]
pub struct ToolStep {
    /// Of the step in the plan; what is below it belongs to the tool too.
    pub path: String,
    /// The beginning of the names of its files.
    pub label: String,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
}

/// A word of the command could be a secret.
impl fmt::Debug for ToolStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolStep")
            .field("path", &self.path)
            .field("label", &self.label)
            .field("words", &self.argv.len())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// The evidence of a run that goes on.
#[derive(Debug)]
pub struct Evidence<'v> {
    folder: PathBuf,
    vault: &'v Vault,
    tools: Mutex<Tools>,
    trouble: OnceLock<Unkept>,
}

#[derive(Debug)]
struct Tools {
    all: Vec<Tool>,
    /// Which of them the steps that run now belong to.
    of: BTreeMap<u64, usize>,
}

impl<'v> Evidence<'v> {
    /// Makes the directory, which nobody else may have. Labels are distinct and the names of files.
    pub fn begin(folder: PathBuf, tools: Vec<ToolStep>, vault: &'v Vault) -> Result<Self, Unkept> {
        let mut labels = BTreeSet::new();
        if let Some(step) =
            tools.iter().find(|step| !is_word(&step.label) || !labels.insert(&step.label))
        {
            let why = format!("`{}` does not name exactly one tool", step.label);
            return Err(Unkept::because(&folder, why));
        }
        let made =
            folder.parent().map_or(Ok(()), file::folder).and_then(|()| file::new_folder(&folder));
        made.map_err(|error| Unkept::new(&folder, error))?;
        let all = tools.into_iter().map(|step| Tool::new(step, &folder)).collect();
        let tools = Mutex::new(Tools { all, of: BTreeMap::new() });
        Ok(Self { folder, vault, tools, trouble: OnceLock::new() })
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a document under a name: `meta.json`, `driver_result.json`. At the places `reported` it holds
    /// what came from the world, as [`Vault::json`] has it.
    pub fn document(&self, name: &str, value: &Value, reported: &[&str]) -> Result<(), Unkept> {
        file::write(&self.folder.join(name), &self.vault.json(value, reported))
    }

    /// Why nothing more of the tools is kept.
    #[must_use]
    pub fn trouble(&self) -> Option<&Unkept> {
        self.trouble.get()
    }

    /// The run has ended: how its tools did, in the order of the plan, without those that never
    /// began. One that never said how it ended was stopped.
    pub fn finish(&self, at: SystemTime) -> Vec<ToolEnd> {
        let mut tools = self.lock();
        tools.of.clear();
        for tool in tools.all.iter_mut().filter(|tool| tool.is_running()) {
            let took = tool.since(at);
            // `trouble` reports a directory that can no longer be written.
            let _ = self.kept(tool.finish(STOPPED, End::Stopped, took, at, self.vault));
        }
        tools.all.iter().filter_map(|tool| tool.end().cloned()).collect()
    }

    fn started(&self, started: &Started<'_>, at: SystemTime) -> Result<(), Unkept> {
        let Tools { all, of } = &mut *self.lock();
        let Some(index) = all.iter().position(|tool| is_within(started.path, tool.path())) else {
            return Ok(());
        };
        of.insert(started.number, index);
        let tool = &mut all[index];
        if started.path == tool.path() { tool.start(at) } else { Ok(()) }
    }

    fn finished(&self, finished: &Finished<'_>, at: SystemTime) -> Result<(), Unkept> {
        let Tools { all, of } = &mut *self.lock();
        let Some(index) = of.remove(&finished.number) else { return Ok(()) };
        let tool = &mut all[index];
        if let Some(message) = &finished.message {
            tool.say(message);
        }
        if finished.path != tool.path() {
            return Ok(());
        }
        tool.finish(finished.code, finished.end, finished.took, at, self.vault)
    }

    /// Remembers the first trouble; after it, nothing is kept.
    fn kept(&self, result: Result<(), Unkept>) -> Result<(), Unrecorded> {
        result.map_err(|unkept| {
            let _ = self.trouble.set(unkept);
            Unrecorded
        })
    }

    fn untroubled(&self) -> Result<(), Unrecorded> {
        if self.trouble.get().is_some() { Err(Unrecorded) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Tools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for Evidence<'_> {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        self.untroubled()?;
        self.kept(match &event.kind {
            Kind::Started(started) => self.started(started, event.at),
            Kind::Finished(finished) => self.finished(finished, event.at),
            _ => Ok(()),
        })
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        self.untroubled()?;
        let Tools { all, of } = &mut *self.lock();
        let Some(&index) = of.get(&number) else { return Ok(()) };
        self.kept(all[index].print(stream, bytes))
    }
}

/// Whether a step is another or is below it: `script.a[1].b[0]` is below `script.a[1]`, and
/// `script.a[10]` is not.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
