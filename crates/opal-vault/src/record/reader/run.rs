//! How a run went, or goes.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::event::Status;
use opal_core::hash::Digest;
use serde_json::{Map, Value};

use super::steps::cut_short;
use super::{Events, Found, Unread, Unreadable, is_going_on};
use crate::record::{PLAN, RunId, SUMMARY};
use opal_files::regular;

/// Bytes that a summary may have.
const MAX_SUMMARY_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes that a plan may have.
const MAX_PLAN_BYTES: u64 = 512 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub folder: PathBuf,
    pub state: State,
    /// The summary; without one, what the run said at its start.
    document: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Running,
    Ended(Status),
}

/// Where a run can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedPath {
    pub path: String,
    /// `sha256:…`: the plan that the path belongs to.
    pub plan_hash: String,
}

impl State {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ended(status) => status.name(),
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "running" { Some(Self::Running) } else { Status::named(name).map(Self::Ended) }
    }
}

impl Run {
    pub fn load(found: &Found) -> Result<Self, Unreadable> {
        let (state, document) = match ended(&found.folder)? {
            Some(ended) => ended,
            None if is_going_on(&found.folder) => (State::Running, started(&found.folder)?),
            // It may have ended in between.
            None => match ended(&found.folder)? {
                Some(ended) => ended,
                None => (State::Ended(Status::Crashed), started(&found.folder)?),
            },
        };
        Ok(Self { id: found.id.clone(), folder: found.folder.clone(), state, document })
    }

    /// What the record says, under the names that it uses.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.document.get(name)
    }

    /// Adds what is known only now.
    pub fn mark(&mut self, name: &str, value: Value) {
        self.document.insert(name.to_owned(), value);
    }

    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The function, or the file name of the script.
    #[must_use]
    pub fn target(&self) -> &str {
        self.text("target").unwrap_or_default()
    }

    /// The contract that it was a run of, by the digest of its bytes.
    #[must_use]
    pub fn contract(&self) -> Option<Digest> {
        Digest::parse(self.get("contract")?.get("file_digest")?.as_str()?)
    }

    /// RFC 3339, in UTC.
    #[must_use]
    pub fn started_at(&self) -> Option<&str> {
        self.text("started_at").or_else(|| self.text("at"))
    }

    /// When it started; none where the record does not say.
    #[must_use]
    pub fn began(&self) -> Option<SystemTime> {
        super::replay::time(self.started_at()?)
    }

    /// The whole document, with its state.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = self.document.clone();
        if let Some(at) = document.remove("at") {
            document.insert("started_at".into(), at);
        }
        document.remove("kind");
        document.insert("status".into(), self.state.name().into());
        document.into()
    }

    /// The plan as it was when the run began; none for a contract that was refused.
    pub fn plan(&self) -> Result<Option<Value>, Unreadable> {
        match read_object(&self.folder.join(PLAN), MAX_PLAN_BYTES) {
            Ok(plan) => Ok(Some(plan.into())),
            Err(Unreadable { why: Unread::Io(error), .. })
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The step that a run failed at, or that it was at when it was stopped.
pub fn failed_path(run: &Run) -> Result<Option<FailedPath>, Unreadable> {
    use Status::{Crashed, Failed, Interrupted};
    let said = run.get("failed").and_then(|failed| failed.get("path")).and_then(Value::as_str);
    let path = match (said, run.state) {
        (Some(path), _) => Some(path.to_owned()),
        (None, State::Ended(Failed | Interrupted | Crashed)) => cut_short(&run.folder)?,
        (None, _) => None,
    };
    let plan_hash = run.text("plan_hash").unwrap_or_default().to_owned();
    Ok(path.map(|path| FailedPath { path, plan_hash }))
}

/// How a run ended, and its summary.
type Ended = (State, Map<String, Value>);

/// What a run said at its end; none where it has no summary.
fn ended(folder: &Path) -> Result<Option<Ended>, Unreadable> {
    let path = folder.join(SUMMARY);
    match read_object(&path, MAX_SUMMARY_BYTES) {
        Ok(summary) => {
            let status = summary.get("status").and_then(Value::as_str).and_then(Status::named);
            let status = status.ok_or_else(|| malformed(&path))?;
            Ok(Some((State::Ended(status), summary)))
        }
        Err(Unreadable { why: Unread::Io(error), .. })
            if error.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What a run said at its start. Who was killed before that has said nothing.
fn started(folder: &Path) -> Result<Map<String, Value>, Unreadable> {
    match Events::open(folder)?.next_event()? {
        Some(Value::Object(event)) => Ok(event),
        _ => Ok(Map::new()),
    }
}

pub(super) fn read_object(path: &Path, limit: u64) -> Result<Map<String, Value>, Unreadable> {
    let of = |error| Unreadable::io(path, error);
    let bytes = regular::read_start(path, limit).map_err(of)?;
    if bytes.len() as u64 > limit {
        return Err(Unreadable { path: path.into(), why: Unread::TooLarge });
    }
    serde_json::from_slice(&bytes).map_err(|_| malformed(path))
}

pub(super) fn malformed(path: &Path) -> Unreadable {
    Unreadable { path: path.into(), why: Unread::Malformed { line: 1 } }
}
