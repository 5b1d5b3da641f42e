//! Targets under an order: journals in memory, and who is asked before a target starts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_core::journal::{Entry, JournalKey, Opening, What};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_exec::execute::Fencing;
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_vault::targets::TargetEnd;

/// The journal of one target, for as many runs as there are.
#[derive(Clone, Debug, Default)]
pub struct LoggedJournal {
    kept: Arc<Mutex<Kept>>,
    /// What opening it says.
    trouble: Option<Trouble>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Entry>,
    /// Connections that were lost.
    lost: u64,
    /// How often an entry was to be written.
    asked: usize,
    mishap: Option<Mishap>,
}

/// What happens when the entry of a run with this number, from 1, is to be written.
#[derive(Debug)]
struct Mishap {
    at: usize,
    what: Happens,
    /// Written by another runner before the connection is there again.
    others: Vec<(String, What)>,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// The connection is lost before it arrives.
    Unsent,
    /// The connection is lost before anybody hears that it has arrived.
    Unheard,
    /// The connection is lost after that.
    Heard,
    /// It cannot be written.
    Refused,
}

impl LoggedJournal {
    /// `+PATH` has begun, `-PATH CODE` has ended.
    #[must_use]
    pub fn of(lines: &[&str]) -> Self {
        let journal = Self::default();
        let mut kept = journal.kept();
        for (path, what) in lines.iter().map(|line| read(line)) {
            kept.add(&path, what);
        }
        drop(kept);
        journal
    }

    /// One that cannot be opened.
    #[must_use]
    pub fn broken(trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..Self::default() }
    }

    /// With something that happens to the entry with this number, from 1; and what another runner writes
    /// then.
    #[must_use]
    pub fn with(self, at: usize, what: Happens, others: &[&str]) -> Self {
        let others = others.iter().map(|line| read(line)).collect();
        self.kept().mishap = Some(Mishap { at, what, others });
        self
    }

    /// As [`Self::of`] takes them.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |entry: &Entry| match &entry.what {
            What::Begun { .. } => format!("+{}", entry.path),
            What::Ended { code } => format!("-{} {code}", entry.path),
        };
        self.kept().entries.iter().map(line).collect()
    }

    /// What whoever uses a connection hears that is lost.
    pub(crate) fn lost() -> Trouble {
        Trouble::new(TroubleKind::Lost, "connection lost", "look")
    }

    /// The number of the connection that is there, from 0.
    pub(crate) fn connection(&self) -> u64 {
        self.kept().lost
    }

    pub(crate) fn open(&self, connection: u64) -> Result<(Box<dyn Journal>, Vec<Entry>), Trouble> {
        match &self.trouble {
            None => {
                let entries = self.kept().entries.clone();
                Ok((Box::new(Open { journal: self.clone(), connection }), entries))
            }
            Some(trouble) => Err(trouble.clone()),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(line: &str) -> (String, What) {
    let (path, code) = line.rsplit_once(' ').unwrap_or((line, ""));
    let what = match code.parse() {
        Ok(code) => What::Ended { code },
        Err(_) => What::Begun { marker: "earlier".into() },
    };
    (path[1..].to_owned(), what)
}

impl Kept {
    fn add(&mut self, path: &str, what: What) -> u64 {
        let number = self.entries.len() as u64 + 1;
        self.entries.push(Entry { number, path: path.to_owned(), what });
        number
    }

    fn write(&mut self, path: &str, what: What) -> Result<u64, Trouble> {
        self.asked += 1;
        let asked = self.asked;
        let Some(Mishap { what: happens, others, .. }) = self.mishap.take_if(|it| it.at == asked)
        else {
            return Ok(self.add(path, what));
        };
        if happens == Happens::Refused {
            return Err(Trouble::new(TroubleKind::Failed, "the disk is full", "make room"));
        }
        self.lost += 1;
        let number = (happens != Happens::Unsent).then(|| self.add(path, what));
        for (path, what) in others {
            self.add(&path, what);
        }
        number.filter(|_| happens == Happens::Heard).ok_or_else(LoggedJournal::lost)
    }
}

/// The journal over one connection.
#[derive(Debug)]
struct Open {
    journal: LoggedJournal,
    connection: u64,
}

impl Open {
    fn write(&self, path: &str, what: What) -> Result<u64, Trouble> {
        let mut kept = self.journal.kept();
        if kept.lost > self.connection {
            return Err(LoggedJournal::lost());
        }
        kept.write(path, what)
    }
}

impl Journal for Open {
    fn marker(&self) -> &str {
        "now"
    }

    fn begun(&self, path: &str, _: &Stop) -> Result<u64, Trouble> {
        self.write(path, What::Begun { marker: "now".into() })
    }

    fn ended(&self, path: &str, code: i32, _: &Stop) -> Result<u64, Trouble> {
        self.write(path, What::Ended { code })
    }
}

/// Remembers what it was asked and heard.
#[derive(Debug, Default)]
pub struct LoggedFencing {
    /// Targets that may not start, and why.
    pub denied: BTreeMap<String, String>,
    heard: Mutex<Vec<String>>,
}

impl LoggedFencing {
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, line: String) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Fencing for LoggedFencing {
    fn start(&self, target: &str, _: &Stop) -> Result<(), String> {
        self.tell(format!("start {target}"));
        self.denied.get(target).map_or(Ok(()), |why| Err(why.clone()))
    }

    fn counts_failures(&self) -> bool {
        false
    }

    fn opening(&self, target: &str) -> Opening {
        Opening {
            order: "0".repeat(32),
            end: 0,
            now: 0,
            target: target.to_owned(),
            key: JournalKey::new([0; 32]),
            claim: 0,
            patience: Duration::ZERO,
        }
    }

    fn noted(&self, target: &str, number: u64) {
        self.tell(format!("{target} {number}"));
    }

    fn ended(&self, target: &str, end: TargetEnd) {
        self.tell(format!("{target} {}", end.name()));
    }
}
