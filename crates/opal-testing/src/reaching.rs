//! Targets that run nothing: each has a session that only remembers what it was asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use opal_core::crossing::Crossing;
use opal_core::message;
use opal_core::resolver::{Probe, Trouble, TroubleKind};
use opal_session::stop::Stop;
use opal_session::targets::{Access, Reach, Reached};

use crate::{LoggedSession, MemoryWorld};

/// Nobody comes any more.
const TOO_LONG: Duration = Duration::from_secs(20);

/// Targets by their names, with `/` between those of a way.
#[derive(Debug, Default)]
pub struct LoggedReach {
    sessions: BTreeMap<String, Arc<LoggedSession>>,
    absent: BTreeSet<String>,
    /// Every way that was asked for, in order.
    asked: Mutex<Vec<String>>,
    /// Ways that end with this name are reached when so many are asked for at the same time.
    meeting: Option<(String, usize)>,
    met: (Mutex<usize>, Condvar),
}

impl LoggedReach {
    /// A target with a session; those that are not named have one that answers everything.
    #[must_use]
    pub fn target(mut self, name: &str, session: LoggedSession) -> Self {
        self.sessions.insert(name.to_owned(), Arc::new(session));
        self
    }

    /// A target that cannot be reached.
    #[must_use]
    pub fn absent(mut self, name: &str) -> Self {
        self.absent.insert(name.to_owned());
        self
    }

    /// Targets with this name, on whatever way, are reached when so many of them are asked for at the same
    /// time.
    #[must_use]
    pub fn meeting(mut self, name: &str, count: usize) -> Self {
        self.meeting = Some((name.to_owned(), count));
        self
    }

    /// Whether all who were to come have come.
    fn meets(&self, name: &str) -> bool {
        let Some((_, count)) = self.meeting.as_ref().filter(|(it, _)| it == name) else {
            return true;
        };
        let (met, changed) = &self.met;
        let mut here = met.lock().unwrap_or_else(PoisonError::into_inner);
        *here += 1;
        changed.notify_all();
        let waited = changed.wait_timeout_while(here, TOO_LONG, |here| *here < *count);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// What the session of a target was asked.
    pub fn log(&self, name: &str) -> Vec<String> {
        self.sessions.get(name).map(|session| session.log()).unwrap_or_default()
    }

    /// Every way that was asked for, sorted: targets are reached at the same time.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        asked.sort();
        asked
    }
}

impl Reach for LoggedReach {
    fn reach(&self, way: &[Crossing], access: Access, _: &Stop) -> Result<Reached, Trouble> {
        let names: Vec<&str> = way.iter().map(|it| it.target.name.as_str()).collect();
        let name = names.join("/");
        let asked = format!("{name} {access:?}");
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let last = names.last().copied().unwrap_or_default();
        if self.absent.contains(&name) || !self.meets(last) {
            let message = message!("host unreachable: `", name.as_str(), "`");
            return Err(Trouble::new(TroubleKind::Unreachable, message, "start it"));
        }
        let session =
            self.sessions.get(&name).map(|it| Arc::new(it.connected())).unwrap_or_default();
        Ok(Reached { session, start: PathBuf::from(format!("/home/{name}")) })
    }

    fn look(&self, _: &[Crossing]) -> Result<Box<dyn Probe>, Trouble> {
        Ok(Box::new(MemoryWorld::default()))
    }
}
