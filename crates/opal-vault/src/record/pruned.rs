//! What stays of a run whose record is removed: a line in `logs/pruned.jsonl` under the runtime root.
//!
//! The line comes first and the removal after it, so no run is lost where a process is killed in between; such a
//! run has its line twice, and the last one counts. A full disk does not stop a removal, which makes room.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use opal_files::regular;
use rustix::fs::OFlags;
use serde_json::{Map, Value};

use super::line;
use super::reader::{self, Found};
use super::{LOGS, RunId};
use crate::root::{Root, RootError};

const FILE: &str = "pruned.jsonl";

/// More than any line has.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Keeps a line about a run of the target in this folder.
pub(super) fn keep(target: &Path, id: &RunId) -> io::Result<()> {
    let Some(logs) = target.ancestors().nth(2) else { return Ok(()) };
    let found = Found::within(target, id.clone());
    if !found.folder.is_dir() {
        // Another process was quicker.
        return Ok(());
    }
    let line = line::value(&Value::Object(reader::run_row(&found)));
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(logs.join(FILE))
        // One write: two processes do not mix their lines.
        .and_then(|mut file| file.write_all(&line));
    match written {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        written => written,
    }
}

/// Pruned runs, and where the next ones will begin.
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    /// The flat documents of the runs, as [`reader::rows`] has them, in the order in which they were removed.
    pub runs: Vec<Map<String, Value>>,
    /// How many bytes have been read. More than there are in a file that was replaced.
    pub end: u64,
}

/// The runs that were pruned after the first `from` bytes of the file were written. Lines that are none are
/// passed over.
pub fn read(root: &Root, from: u64) -> Result<Pruned, RootError> {
    let path = root.path().join(LOGS).join(FILE);
    let failed = |error| RootError::of(&path, error);
    let mut file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pruned::default()),
        Err(error) => return Err(failed(error)),
    };
    let length = file.metadata().map_err(failed)?.len();
    let from = if from <= length { from } else { 0 };
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut reader = BufReader::new(file);
    let mut pruned = Pruned { runs: Vec::new(), end: from };
    loop {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let read = read.map_err(failed)?;
        // A line that has only begun is none yet.
        if read == 0 || !bytes.ends_with(b"\n") && (read as u64) < MAX_LINE_BYTES {
            return Ok(pruned);
        }
        pruned.end += read as u64;
        if let Ok(Value::Object(run)) = serde_json::from_slice(&bytes)
            && run.get("id").is_some_and(Value::is_string)
        {
            pruned.runs.push(run);
        }
    }
}
