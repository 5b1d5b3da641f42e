//! A record is scrubbed once more, because its run has since captured new secrets.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use opal_core::stream::Stream;
use rustix::fs::FlockOperation;
use serde_json::Value;

use super::reader::{Events, Printed};
use super::{EVENTS, PLAN, UNFINISHED, hide, line, output, ring, writer};
use crate::root::RootError;
use crate::vault::Vault;

/// Hides what is known by now in a record. Where its events have changed, gives their new file,
/// locked as the old one was: whoever follows them keeps the old one.
pub(super) fn scrub(folder: &Path, vault: &Vault) -> Result<Option<File>, RootError> {
    let path = folder.join(EVENTS);
    let of = |error| RootError::of(&path, error);
    let events = events(folder).map_err(of)?;
    let targets = targets(&events);
    for path in output::files(folder).map_err(of)? {
        let vault = match output::number_of(&path) {
            Some(number) => vault.on(targets.get(&number).copied()),
            None => vault.clone(),
        };
        outputs(folder, &path, &vault).map_err(|error| RootError::of(&path, error))?;
    }
    plan(folder, vault)?;
    let lines = lines(&events, &targets, vault);
    let is_new = lines.iter().zip(&events).any(|(line, event)| *line != line::value(event));
    match is_new {
        true => replace(folder, EVENTS, &lines.concat()).map(Some).map_err(of),
        false => Ok(None),
    }
}

fn events(folder: &Path) -> io::Result<Vec<Value>> {
    let events = Events::open(folder).map_err(io::Error::other)?;
    events.collect::<Result<_, _>>().map_err(io::Error::other)
}

/// A line for each event; none for those whose output has moved into an earlier one.
fn lines(events: &[Value], targets: &BTreeMap<u64, &str>, vault: &Vault) -> Vec<Vec<u8>> {
    let mut printed = Joined::of(events);
    printed.retain(|(number, _), joined| {
        let shown = vault.on(targets.get(number).copied()).scrub_bytes(&joined.bytes);
        let is_new = shown.bytes() != joined.bytes;
        joined.bytes = shown.bytes().to_vec();
        is_new
    });
    let line = |(index, event)| match source(event).and_then(|key| Some((key, printed.get(&key)?)))
    {
        Some(((number, stream), joined)) if joined.first == index => {
            line::output(number, stream, &joined.bytes)
        }
        Some(_) => Vec::new(),
        None => line::value(&hide::hidden(event, &seen_by(event, vault))),
    };
    events.iter().enumerate().map(line).collect()
}

/// The targets of steps, by the numbers of their starts.
fn targets(events: &[Value]) -> BTreeMap<u64, &str> {
    let starts = events.iter().filter(|event| event["kind"] == "step_started");
    starts
        .filter_map(|event| Some((event["number"].as_u64()?, event["target"].as_str()?)))
        .collect()
}

/// What is hidden in an event. Values of other targets are not, if it is about one step.
fn seen_by(event: &Value, vault: &Vault) -> Vault {
    match (event["target"].as_str(), event["number"].as_u64()) {
        (None, None) => vault.clone(),
        (target, _) => vault.on(target),
    }
}

/// What a step has printed to one stream: something secret may appear on two lines.
struct Joined {
    /// The line with which it begins.
    first: usize,
    bytes: Vec<u8>,
}

impl Joined {
    fn of(events: &[Value]) -> BTreeMap<(u64, Stream), Self> {
        let mut all = BTreeMap::new();
        for (first, event) in events.iter().enumerate() {
            if let Some(key) = source(event)
                && let Some(Printed::Bytes { bytes, .. }) = Printed::of(event, Path::new(""))
            {
                let joined = all.entry(key).or_insert(Self { first, bytes: Vec::new() });
                joined.bytes.extend(bytes);
            }
        }
        all
    }
}

/// Which step has printed it, and where; none where the event is another one.
fn source(event: &Value) -> Option<(u64, Stream)> {
    let number = event["number"].as_u64().filter(|_| event["kind"] == "output")?;
    Some((number, Stream::of(event["stream"].as_str()?)?))
}

/// A contract that was refused has none.
fn plan(folder: &Path, vault: &Vault) -> Result<(), RootError> {
    let path = folder.join(PLAN);
    let hide = || match fs::read(&path) {
        Ok(line) => {
            let shown = hide::document(line.clone(), vault);
            if shown == line { Ok(()) } else { replace(folder, PLAN, &shown).map(drop) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    hide().map_err(|error| RootError::of(&path, error))
}

/// The end of an output that never became a part of its file goes: it is not in its order, so
/// something secret may be in two pieces.
fn outputs(folder: &Path, path: &Path, vault: &Vault) -> io::Result<()> {
    if ring::is_one(path) {
        return fs::remove_file(path);
    }
    let bytes = fs::read(path)?;
    let shown = vault.scrub_bytes(&bytes);
    if shown.bytes() != bytes
        && let Some(name) = path.file_name().and_then(std::ffi::OsStr::to_str)
    {
        replace(folder, name, shown.bytes())?;
    }
    Ok(())
}

fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<File> {
    let unfinished = folder.join(format!("{UNFINISHED}{name}"));
    let written = (|| {
        let mut file = writer::new_file(&unfinished)?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        file.write_all(bytes)?;
        fs::rename(&unfinished, folder.join(name))?;
        Ok(file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}
