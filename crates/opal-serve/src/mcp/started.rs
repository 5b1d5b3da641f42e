//! The runs that an agent has started. They go on when it leaves; only it can stop them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opal_core::hash::Digest;
use opal_vault::record::reader::{self, Run, State};
use opal_vault::root::Root;
use tokio::process::Child;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::refusal::Refusal;
use crate::child::signal;

/// So many of the newest records may be of runs that others have started meanwhile.
const NEWEST: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Started(Arc<Mutex<BTreeMap<String, UnboundedSender<()>>>>);

impl Started {
    /// Waits for the end of a run, and hands on the wish to stop it.
    pub(super) fn keep(&self, run: String, mut child: Child) {
        let (sender, mut wishes) = unbounded_channel();
        self.lock().insert(run.clone(), sender);
        let all = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = child.wait() => break,
                    // While it has not been waited for, its number is its own.
                    Some(()) = wishes.recv() => signal(&child),
                }
            }
            all.lock().remove(&run);
        });
    }

    /// Stops one of them. By its record a run may have ended a moment before its process.
    pub(super) fn stop(&self, root: &Root, run: &str) -> Result<(), Refusal> {
        if state_of(root, run) != Some(State::Running) {
            return Err(Refusal::NotOwnRun);
        }
        let sent = self.lock().get(run).map(|sender| sender.send(()));
        sent.and_then(Result::ok).ok_or(Refusal::NotOwnRun)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, UnboundedSender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn state_of(root: &Root, run: &str) -> Option<State> {
    let found = reader::list(root).ok()?.into_iter().find(|found| found.id.as_str() == run)?;
    Run::load(&found).ok().map(|run| run.state)
}

/// The run of a contract that a process has begun, by its record.
pub(super) fn run_of(root: &Root, process: u32, contract: &Digest) -> Option<Run> {
    let newest = reader::list(root).ok()?.into_iter().take(NEWEST);
    let is_meant = |run: &Run| {
        run.get("pid").and_then(serde_json::Value::as_u64) == Some(process.into())
            && run.contract().as_ref() == Some(contract)
            && run.get("refused").is_none_or(serde_json::Value::is_null)
    };
    newest.filter_map(|found| Run::load(&found).ok()).find(is_meant)
}
