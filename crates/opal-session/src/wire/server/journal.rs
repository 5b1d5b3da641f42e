//! The journal of an order on this machine: a file that is locked, and synced after each entry.
//!
//! | what | where |
//! |---|---|
//! | the entries as lines, and what makes them those of this order | `opal_core::journal` |
//! | the directory, whose it is, and what is in it | `place` |
//! | file systems that would lose or share a journal | `disk` |
//!
//! The lock is on the file itself and goes with the process, whatever ends that. Who gets it ends what the
//! session before has left of a step that has not ended.

mod disk;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opal_core::journal::{Chain, Entry, Opening, Owner, What};
use opal_core::resolver::Trouble;
use rustix::fs::FlockOperation;

use crate::error::JournalError;
use crate::stop::{Order, Stop};
use crate::wire::effect::Handle;
use crate::{LocalSession, Setup};
use place::Place;

/// Bytes of a journal: more than a hundred thousand steps have.
const MAX_BYTES: u64 = 32 << 20;

/// How often who waits for the lock tries again.
const PAUSE: Duration = Duration::from_millis(50);

/// How long what another session has left may take to end by itself.
const LEFT_GRACE: Duration = Duration::from_millis(500);

/// Journals of one session: targets of an order may be the same user of the same machine.
const MAX_OPEN: usize = 1_000;

/// The journals of a session, by the numbers of the requests that opened them.
#[derive(Debug, Default)]
pub(super) struct Desk {
    open: Mutex<BTreeMap<Handle, Named>>,
    /// How many there are in the directory, once it was read and tidied: a session may have a thousand targets
    /// in one place.
    count: Mutex<Option<usize>>,
}

/// A journal, and the name of its file.
type Named = (String, Arc<Mutex<Journal>>);

/// A journal whose lock this session has.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    chain: Chain,
    length: u64,
    /// Whether what is at its end is not known: nothing is added then.
    is_spoilt: bool,
    /// Of the processes of this session.
    marker: String,
}

/// What a session is known by here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) machine: &'a str,
    pub(super) marker: &'a str,
}

impl Desk {
    /// Opens the journal of an order: the marker of what is written from now on, and all that is in it.
    pub(super) fn open(
        &self,
        handle: Handle,
        opening: &Opening,
        here: Here<'_>,
        stop: &Stop,
    ) -> Result<(String, Vec<Entry>), Trouble> {
        if !opening.is_valid() {
            return Err(JournalError::Invalid.into());
        }
        let user = rustix::process::geteuid().as_raw();
        let owner = Owner { machine: here.machine, user };
        let name = opening.file_name(owner);
        {
            let mut open = lock(&self.open);
            // Who asks again reads it again: this session must not wait for itself.
            open.retain(|_, (known, _)| *known != name);
            if open.len() >= MAX_OPEN {
                return Err(JournalError::TooMany(MAX_OPEN).into());
            }
        }
        let (journal, entries) = Journal::open(opening, owner, here, &self.count, stop)?;
        let marker = journal.marker.clone();
        lock(&self.open).insert(handle, (name, Arc::new(Mutex::new(journal))));
        Ok((marker, entries))
    }

    /// The number of the entry, which is on the disk.
    pub(super) fn add(
        &self,
        handle: Handle,
        path: &str,
        code: Option<i32>,
    ) -> Result<u64, Trouble> {
        let journal = lock(&self.open).get(&handle).map(|(_, journal)| Arc::clone(journal));
        let journal = journal.ok_or(JournalError::NotOpen)?;
        let mut journal = lock(&journal);
        let what = match code {
            None => What::Begun { marker: journal.marker.clone() },
            Some(code) => What::Ended { code },
        };
        Ok(journal.add(path, &what)?)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal {
    fn open(
        opening: &Opening,
        owner: Owner<'_>,
        here: Here<'_>,
        count: &Mutex<Option<usize>>,
        stop: &Stop,
    ) -> Result<(Self, Vec<Entry>), JournalError> {
        let place = Place::find(here.home)?;
        let file = locked(&place, opening, owner, count, stop)?;
        let mut chain = Chain::new(opening, owner);
        let (entries, length) = read(&file, &mut chain)?;
        if chain.number() < opening.claim {
            let (number, claim) = (chain.number(), opening.claim);
            return Err(JournalError::Short { number, claim });
        }
        let marker = if here.marker.is_empty() { "-" } else { here.marker };
        end_left(&entries, marker, stop);
        let marker = marker.to_owned();
        Ok((Self { file, chain, length, is_spoilt: false, marker }, entries))
    }

    fn add(&mut self, path: &str, what: &What) -> Result<u64, JournalError> {
        if self.is_spoilt {
            return Err(JournalError::NotOpen);
        }
        let line = self.chain.line(path, what).ok_or(JournalError::Path)?;
        let length = self.length + line.bytes().len() as u64;
        if length > MAX_BYTES {
            return Err(JournalError::TooLarge(MAX_BYTES));
        }
        let written = self.file.write_all(line.bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // What is there in part is not an entry, and the next one must not follow it.
            let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_all());
            self.is_spoilt = cut.is_err();
            return Err(system("written")(error));
        }
        self.chain.written(&line);
        self.length = length;
        Ok(self.chain.number())
    }
}

/// The file, with its lock.
fn locked(
    place: &Place,
    opening: &Opening,
    owner: Owner<'_>,
    count: &Mutex<Option<usize>>,
    stop: &Stop,
) -> Result<File, JournalError> {
    let name = opening.file_name(owner);
    lock(count).get_or_insert_with(|| {
        place.tidy(opening.now);
        place.count()
    });
    let deadline = Instant::now() + opening.patience;
    loop {
        let file = match place.open(&name)? {
            Some(file) => file,
            None if opening.claim > 0 => {
                return Err(JournalError::Absent { claim: opening.claim });
            }
            None => {
                let others = *lock(count).get_or_insert_default();
                match place.make(&name, others)? {
                    Some(file) => {
                        *lock(count).get_or_insert_default() += 1;
                        file
                    }
                    // Another session was quicker.
                    None => continue,
                }
            }
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if place.has(&name, &file)? => return Ok(file),
            // It was removed in between.
            Ok(()) => continue,
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(JournalError::Held),
            Err(error) => return Err(system("locked")(error.into())),
        }
        let _ = stop.wait(&[], Some(PAUSE), Order::GoOn);
        if stop.order() != Order::GoOn {
            return Err(JournalError::Held);
        }
    }
}

/// All entries, and the bytes that they take. What was never complete is cut off.
fn read(file: &File, chain: &mut Chain) -> Result<(Vec<Entry>, u64), JournalError> {
    let mut bytes = Vec::new();
    let mut limited = file.take(MAX_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(system("read"))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(JournalError::TooLarge(MAX_BYTES));
    }
    let (entries, length) = chain.read(&bytes).map_err(JournalError::Broken)?;
    if length < bytes.len() {
        let cut = file.set_len(length as u64).and_then(|()| file.sync_all());
        cut.map_err(system("written"))?;
    }
    Ok((entries, length as u64))
}

/// Ends what sessions of other runners have left running of steps that have not ended.
fn end_left(entries: &[Entry], own: &str, stop: &Stop) {
    let mut open = BTreeSet::new();
    for entry in entries {
        match &entry.what {
            What::Begun { marker } => _ = open.insert((&entry.path, marker)),
            What::Ended { .. } => open.retain(|(path, _)| **path != entry.path),
        }
    }
    let markers: BTreeSet<&String> = open.into_iter().map(|(_, marker)| marker).collect();
    for marker in markers.into_iter().filter(|it| *it != own && *it != "-") {
        let session = LocalSession::new(Setup {
            environment: Arc::default(),
            start: "/".into(),
            home: None,
            marker: marker.clone(),
            terminal: None,
            entries: None,
            pages: None,
        });
        session.end_all(LEFT_GRACE, stop);
    }
}

fn system(done: &'static str) -> impl Fn(io::Error) -> JournalError {
    move |error| JournalError::System { done, why: error.kind() }
}
