//! The chain of contract records: `logs/chain.jsonl` under the runtime root.
//!
//! Each record of a contract, run or refused, adds a line when it ends: the digest of its files, and the
//! digest of the line before. A record that is edited or removed, or a line that is, no longer fits. What
//! the last lines say can be cut off without a trace. Direct runs are not in it.
//!
//! | member | what it is |
//! |---|---|
//! | `at` | when the record ended |
//! | `digest` | SHA-256 of the record: for each of its files in the order of the names, its name, a NUL, and the SHA-256 of its bytes |
//! | `previous` | SHA-256 of the line before, without its end; 64 zeros in the first line |
//! | `record` | the directory of the record, below `logs/run` |

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use opal_core::hash::{Algorithm, Digest};
use rustix::fs::{FlockOperation, OFlags};

use super::line::Line;
use crate::root::RootError;

pub(super) const FILE: &str = "chain.jsonl";

/// More than any line has.
pub(super) const MAX_LINE_BYTES: u64 = 64 * 1024;

/// Adds the record in `folder`, which is `TARGET/RUN` below `logs/run`. Its files stay as they are now.
pub(super) fn add(logs: &Path, folder: &Path, at: SystemTime) -> Result<(), RootError> {
    let path = logs.join(FILE);
    append(&path, folder, at).map_err(|error| RootError::of(&path, error))
}

fn append(path: &Path, folder: &Path, at: SystemTime) -> io::Result<()> {
    let digest = digest(folder)?;
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    // Until the line is there: the next one needs its digest.
    rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
    let last = last_line(&mut file)?;
    let previous = match last.as_slice() {
        [] => Digest([0; 32]),
        line => Algorithm::Sha256.digest(&[line.strip_suffix(b"\n").unwrap_or(line)]),
    };
    let mut line = Line::new();
    line.time("at", at);
    line.text("digest", &digest.hex());
    line.text("previous", &previous.hex());
    line.text("record", &name(folder));
    let mut bytes = Vec::new();
    // One that was cut off keeps its line for itself.
    if !last.is_empty() && !last.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes.extend(line.end());
    file.write_all(&bytes)?;
    file.sync_data()
}

/// The last line with its end; empty where there is none.
fn last_line(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_LINE_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_LINE_BYTES).read_to_end(&mut bytes)?;
    let end = bytes.strip_suffix(b"\n").unwrap_or(&bytes).len();
    let start = bytes[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Ok(bytes.split_off(start))
}

/// `TARGET/RUN`.
fn name(folder: &Path) -> String {
    let mut names: Vec<_> = folder.iter().rev().take(2).map(|it| it.to_string_lossy()).collect();
    names.reverse();
    names.join("/")
}

/// Of all files of a record.
pub(super) fn digest(folder: &Path) -> io::Result<Digest> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    names.sort_unstable();
    let mut parts = Vec::new();
    for name in names {
        let bytes = fs::read(folder.join(&name))?;
        parts.extend([name.into_encoded_bytes(), vec![0]]);
        parts.push(Algorithm::Sha256.digest(&[&bytes]).0.to_vec());
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Algorithm::Sha256.digest(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn record(logs: &Path, name: &str) -> std::path::PathBuf {
        let folder = logs.join("run/deploy").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("events.jsonl"), name).unwrap();
        folder
    }

    #[test]
    fn every_line_has_the_digest_of_its_record_and_of_the_line_before() {
        let logs = tempfile::tempdir().unwrap();
        let (logs, path) = (logs.path(), logs.path().join(FILE));
        for name in ["run-1", "run-2", "run-3"] {
            add(logs, &record(logs, name), SystemTime::UNIX_EPOCH).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut before = "0".repeat(64);
        for (line, found) in text.lines().zip(lines(&path)) {
            assert_eq!(found["previous"], before.as_str());
            let folder = logs.join("run").join(found["record"].as_str().unwrap());
            assert_eq!(found["digest"], digest(&folder).unwrap().hex());
            before = Algorithm::Sha256.digest(&[line.as_bytes()]).hex();
        }
        let second = logs.join("run/deploy/run-2");
        for edit in [("events.jsonl", "edited"), ("more.txt", "added")] {
            let known = digest(&second).unwrap();
            fs::write(second.join(edit.0), edit.1).unwrap();
            assert_ne!(digest(&second).unwrap(), known, "{edit:?}");
        }
    }

    #[test]
    fn records_that_end_at_once_each_have_a_line() {
        let logs = tempfile::tempdir().unwrap();
        let logs = logs.path();
        std::thread::scope(|scope| {
            for index in 0..16 {
                let folder = record(logs, &format!("run-{index}"));
                scope.spawn(move || add(logs, &folder, SystemTime::UNIX_EPOCH).unwrap());
            }
        });
        let found = lines(&logs.join(FILE));
        assert_eq!(found.len(), 16);
        let previous: std::collections::BTreeSet<_> =
            found.iter().map(|line| line["previous"].to_string()).collect();
        assert_eq!(previous.len(), 16, "no two follow the same line");
    }

    #[test]
    fn a_line_that_was_cut_off_stays_and_the_next_one_is_whole() {
        let logs = tempfile::tempdir().unwrap();
        let path = logs.path().join(FILE);
        fs::write(&path, "{\"at\":").unwrap();
        add(logs.path(), &record(logs.path(), "run-1"), SystemTime::UNIX_EPOCH).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let last = text.lines().nth(1).unwrap();
        let cut = Algorithm::Sha256.digest(&[b"{\"at\":"]).hex();
        assert!(text.starts_with("{\"at\":\n") && last.contains(&cut), "{text}");
    }
}
