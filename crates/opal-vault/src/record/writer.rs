//! Writes a record while a run goes on.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Shown;
use crate::event::{Event, Kind};
use opal_core::stream::Stream;
use opal_core::view::{Json, PlanView};
use rustix::fs::FlockOperation;

use super::header::{Ending, Header, Refusal};
use super::output::Output;
use super::{
    CONTRACT, EVENTS, FOLDER, LOGS, PLAN, ROUND, RunId, SUMMARY, TARGETS, UNFINISHED, chain, hide,
    line, rescrub, retention,
};
pub use crate::error::Unwritten;
use crate::root::{Root, RootError};
use crate::vault::Vault;
use crate::witness::{Recorder, Unrecorded};

/// A record that is being written. Dropped without [`Writer::finish`], it is that of a crash.
#[derive(Debug)]
pub struct Writer<'a> {
    header: Header<'a>,
    /// What it knows is in no file of the record.
    vault: &'a Vault,
    /// How much it knew at the beginning.
    known: u64,
    /// Where the records of all targets are, and what is said about them.
    logs: PathBuf,
    /// Of all runs of the target.
    target: PathBuf,
    folder: PathBuf,
    sync: bool,
    state: Mutex<State>,
    trouble: OnceLock<Unwritten>,
}

#[derive(Debug)]
struct State {
    /// Locked as long as the run goes on.
    events: File,
    outputs: BTreeMap<u64, Output>,
}

impl<'a> Writer<'a> {
    /// Begins the record of a run. With `sync` every event is on the disk before the run goes on.
    pub fn create(
        root: &Root,
        header: Header<'a>,
        plan: &PlanView<'_>,
        vault: &'a Vault,
        sync: bool,
    ) -> Result<Self, Unwritten> {
        let plan = hide::document(Json.line(plan), vault);
        Self::begin(root, header, Some(&plan), vault, sync).map_err(Unwritten)
    }

    fn begin(
        root: &Root,
        header: Header<'a>,
        plan: Option<&[u8]>,
        vault: &'a Vault,
        sync: bool,
    ) -> Result<Self, RootError> {
        let target = root.directory(&format!("{FOLDER}/{}", folder_name(header.target)))?;
        let logs = root.path().join(LOGS);
        let folder = target.join(header.id.as_str());
        // Under its own name the record appears only when it says what it is of, and is locked.
        let unfinished = target.join(format!("{UNFINISHED}{}", header.id));
        let of = |error| RootError::of(&folder, error);
        let known = vault.generation();
        DirBuilder::new().mode(0o700).create(&unfinished).map_err(of)?;
        let begun = first_files(&unfinished, &header.started(vault), plan, sync)
            .and_then(|events| match (&header.contract, header.is_round) {
                (Some(_), _) => new_file(&unfinished.join(CONTRACT)).map(|_| events),
                (None, true) => new_file(&unfinished.join(ROUND)).map(|_| events),
                (None, false) => Ok(events),
            })
            .and_then(|events| fs::rename(&unfinished, &folder).map(|()| events));
        let events = begun.map_err(|error| {
            let _ = fs::remove_dir_all(&unfinished);
            of(error)
        })?;
        if sync {
            sync_folder(&folder).and_then(|()| sync_folder(&target)).map_err(of)?;
        }
        let state = State { events, outputs: BTreeMap::new() };
        let state = Mutex::new(state);
        let trouble = OnceLock::new();
        Ok(Self { header, vault, known, logs, target, folder, sync, state, trouble })
    }

    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.header.id
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why nothing more is recorded.
    #[must_use]
    pub fn trouble(&self) -> Option<&Unwritten> {
        self.trouble.get()
    }

    /// Ends the record, and removes the oldest ones where there are too many. Where the record
    /// could not be written, it is still tried to say how the run ended.
    ///
    /// What was recorded before the vault knew of it is hidden now.
    pub fn finish(self, ending: &Ending<'_>) -> Result<(), Unwritten> {
        let finished = self.last_lines(ending);
        let has_captured = self.vault.generation() != self.known;
        // Held until the summary is there: who has no summary and no lock has crashed.
        let again = if has_captured { rescrub::scrub(&self.folder, self.vault) } else { Ok(None) };
        let summed = self.summary(ending);
        let Self { header, logs, target, folder, state, trouble, .. } = self;
        // Only who has ended may be removed.
        drop(state);
        if let Some(unwritten) = trouble.into_inner() {
            return Err(unwritten);
        }
        finished.and(summed).map_err(Unwritten)?;
        again.map_err(Unwritten)?;
        if header.contract.is_some() {
            chain::add(&logs, &folder, ending.at).map_err(Unwritten)?;
        }
        retention::after_run(&target);
        Ok(())
    }

    /// Ends the record of a contract that is refused after all.
    pub fn refuse(mut self, refusal: Refusal, ending: &Ending<'_>) -> Result<(), Unwritten> {
        self.header.refusal = Some(refusal);
        self.finish(ending)
    }

    fn last_lines(&self, ending: &Ending<'_>) -> Result<(), RootError> {
        if self.trouble.get().is_some() {
            return Ok(());
        }
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for output in std::mem::take(&mut state.outputs).into_values() {
            lines.extend(output.close()?);
        }
        lines.extend(ending.finished());
        self.append(&mut state.events, &lines)
    }

    /// The last files: who reads the summary finds the others.
    fn summary(&self, ending: &Ending<'_>) -> Result<(), RootError> {
        let targets = ending.targets(self.vault);
        targets.map_or(Ok(()), |targets| self.put(TARGETS, &targets))?;
        self.put(SUMMARY, &self.header.summary(ending, self.vault))
    }

    /// A file that is there whole or not at all.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), RootError> {
        let unfinished = self.folder.join(format!("{UNFINISHED}{name}"));
        let path = self.folder.join(name);
        let written = (|| {
            let mut file = new_file(&unfinished)?;
            file.write_all(bytes)?;
            sync_if(self.sync, &file)?;
            fs::rename(&unfinished, &path)?;
            if self.sync { sync_folder(&self.folder) } else { Ok(()) }
        })();
        written.map_err(|error| RootError::of(&path, error))
    }

    /// One write, so that a line is there or not, whatever happens to this process.
    fn append(&self, events: &mut File, lines: &[u8]) -> Result<(), RootError> {
        if lines.is_empty() {
            return Ok(());
        }
        let written = events.write_all(lines).and_then(|()| sync_if(self.sync, events));
        written.map_err(|error| RootError::of(&self.folder.join(EVENTS), error))
    }

    fn record(
        &self,
        lines: impl FnOnce(&mut State) -> Result<Vec<u8>, RootError>,
    ) -> Result<(), Unrecorded> {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.trouble.get().is_some() {
            return Err(Unrecorded);
        }
        let written = lines(state).and_then(|lines| self.append(&mut state.events, &lines));
        written.map_err(|error| {
            let _ = self.trouble.set(Unwritten(error));
            Unrecorded
        })
    }
}

impl Recorder for Writer<'_> {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        let line = line::event(event);
        self.record(|state| {
            let printed = match &event.kind {
                Kind::Finished(step) => state.outputs.remove(&step.number),
                _ => None,
            };
            let mut lines = printed.map_or(Ok(Vec::new()), Output::close)?;
            lines.extend(line);
            Ok(lines)
        })
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        self.record(|state| {
            let output = state.outputs.entry(number).or_insert_with(|| Output::new(number));
            output.take(&self.folder, stream, bytes.bytes())
        })
    }

    fn idle(&self, number: u64) -> Result<(), Unrecorded> {
        self.record(|state| state.outputs.get_mut(&number).map_or(Ok(vec![]), Output::flush))
    }
}

/// The record of a contract that was not run: why, and no values. Answers where it is.
pub fn refused(root: &Root, header: Header<'_>, ending: &Ending<'_>) -> Result<PathBuf, Unwritten> {
    let vault = Vault::new();
    let writer = Writer::begin(root, header, None, &vault, false).map_err(Unwritten)?;
    let folder = writer.folder().to_owned();
    writer.finish(ending).map(|()| folder)
}

pub(super) fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

fn sync_if(sync: bool, file: &File) -> io::Result<()> {
    if sync { file.sync_data() } else { Ok(()) }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The events with their first line, locked.
fn first_files(folder: &Path, line: &[u8], plan: Option<&[u8]>, sync: bool) -> io::Result<File> {
    let mut events = new_file(&folder.join(EVENTS))?;
    rustix::fs::flock(&events, FlockOperation::LockExclusive)?;
    events.write_all(line)?;
    sync_if(sync, &events)?;
    if let Some(plan) = plan {
        let mut file = new_file(&folder.join(PLAN))?;
        file.write_all(plan)?;
        sync_if(sync, &file)?;
    }
    Ok(events)
}

/// The name of a target as the name of a directory: letters, digits, `-` and `_` as they are, all
/// else as its bytes in hexadecimal after a `%`, and never longer than a directory's name can be.
pub(super) fn folder_name(target: &str) -> String {
    const MOST_BYTES: usize = 200;
    let mut name = String::new();
    for byte in target.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > MOST_BYTES {
        let digest = opal_core::hash::Algorithm::Sha256.digest(&[target.as_bytes()]);
        name.truncate(MOST_BYTES - 17);
        name.push('-');
        name.push_str(&digest.hex()[..16]);
    }
    name
}
