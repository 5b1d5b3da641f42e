//! Targets under an order: journals in memory, and who is asked before a target starts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opal_core::journal::{Entry, JournalKey, Opening, What};
use opal_core::resolver::Trouble;
use opal_exec::execute::Fencing;
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_vault::targets::TargetEnd;

/// The journal of one target, for as many runs as there are.
#[derive(Clone, Debug, Default)]
pub struct LoggedJournal {
    entries: Arc<Mutex<Vec<Entry>>>,
    /// What opening it says.
    trouble: Option<Trouble>,
}

impl LoggedJournal {
    /// `+PATH` has begun, `-PATH CODE` has ended.
    #[must_use]
    pub fn of(lines: &[&str]) -> Self {
        let journal = Self::default();
        for line in lines {
            let (path, code) = line.rsplit_once(' ').unwrap_or((line, ""));
            let what = match code.parse() {
                Ok(code) => What::Ended { code },
                Err(_) => What::Begun { marker: "earlier".into() },
            };
            journal.add(&path[1..], what);
        }
        journal
    }

    /// One that cannot be opened.
    #[must_use]
    pub fn broken(trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..Self::default() }
    }

    /// As [`Self::of`] takes them.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |entry: &Entry| match &entry.what {
            What::Begun { .. } => format!("+{}", entry.path),
            What::Ended { code } => format!("-{} {code}", entry.path),
        };
        entries.iter().map(line).collect()
    }

    pub(crate) fn open(&self) -> Result<(Box<dyn Journal>, Vec<Entry>), Trouble> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match &self.trouble {
            None => Ok((Box::new(self.clone()), entries)),
            Some(trouble) => Err(trouble.clone()),
        }
    }

    fn add(&self, path: &str, what: What) -> u64 {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let number = entries.len() as u64 + 1;
        entries.push(Entry { number, path: path.to_owned(), what });
        number
    }
}

impl Journal for LoggedJournal {
    fn begun(&self, path: &str, _: &Stop) -> Result<u64, Trouble> {
        Ok(self.add(path, What::Begun { marker: "now".into() }))
    }

    fn ended(&self, path: &str, code: i32, _: &Stop) -> Result<u64, Trouble> {
        Ok(self.add(path, What::Ended { code }))
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

    fn opening(&self, target: &str) -> Opening {
        Opening {
            order: "0".repeat(32),
            end: 0,
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
