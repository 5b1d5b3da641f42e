//! What every call may use.

use opal_trust::policy::McpRules;
use opal_vault::Vault;
use opal_vault::root::Root;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::pages::Pages;
use super::projects::Projects;
use super::refusal::Refusal;
use super::started::Started;
use crate::child::Opal;

/// Calls that are answered at the same time, and those that may wait for that.
const MOST_ANSWERED: usize = 8;
const MOST_CALLS: usize = 64;

/// Who is answered next.
#[derive(Debug)]
pub(super) struct Queue {
    places: Semaphore,
    turns: Semaphore,
}

impl Default for Queue {
    fn default() -> Self {
        Self { places: Semaphore::new(MOST_CALLS), turns: Semaphore::new(MOST_ANSWERED) }
    }
}

impl Queue {
    /// Waits for a turn, which lasts as long as both are kept.
    ///
    /// # Errors
    /// If too many wait already.
    pub(super) async fn turn(&self) -> Result<[SemaphorePermit<'_>; 2], Refusal> {
        let place = self.places.try_acquire().map_err(|_| Refusal::Busy(MOST_CALLS))?;
        let turn = self.turns.acquire().await.map_err(|_| Refusal::Cancelled)?;
        Ok([place, turn])
    }
}

/// Shared by all calls of a connection.
pub(super) struct Desk {
    pub(super) opal: Opal,
    pub(super) projects: Projects,
    pub(super) started: Started,
    pub(super) rules: McpRules,
    pub(super) pages: Pages,
    pub(super) queue: Queue,
    /// For what is written down: agents may send secrets.
    pub(super) vault: Vault,
}

impl Desk {
    pub(super) const fn root(&self) -> &Root {
        self.opal.root()
    }
}
