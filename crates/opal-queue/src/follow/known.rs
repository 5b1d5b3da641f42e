//! What events say about targets whose row does not come: their share was refused or stopped, or nobody waits for
//! it any more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::UNAVAILABLE;

#[derive(Default)]
pub(super) struct Known {
    /// Targets that may have begun, with the attempts whose end nobody has said.
    begun: BTreeMap<String, BTreeSet<u64>>,
    /// How targets have ended.
    ended: BTreeMap<String, String>,
}

impl Known {
    pub(super) fn begin(&mut self, name: &str, attempt: u64) {
        self.begun.entry(name.to_owned()).or_default().insert(attempt);
    }

    pub(super) fn end(&mut self, name: &str, attempt: u64, status: &str, is_late: bool) {
        if status == "skipped" {
            // It says nothing about an earlier runner that is dead.
            self.begun.entry(name.to_owned()).or_default().remove(&attempt);
            return;
        }
        // Whoever ends a target knows from its journal what was done before.
        self.begun.entry(name.to_owned()).or_default().retain(|it| *it > attempt);
        if !is_late || !self.ended.contains_key(name) {
            self.ended.insert(name.to_owned(), status.to_owned());
        }
    }

    /// The row of a target; none where nothing has begun on it.
    pub(super) fn row(&self, name: &str) -> Option<Value> {
        let ended = self.ended.get(name).map(String::as_str);
        let is_open = self.begun.get(name).is_some_and(|it| !it.is_empty());
        match ended {
            // Another runner may have gone on.
            Some("stopped") | None if is_open => {
                let message = "it was begun, and no runner has said how it ended";
                Some(json!({
                    "target": name, "status": "lost", "code": UNAVAILABLE, "message": message,
                }))
            }
            None => None,
            Some(status) => Some(json!({"target": name, "status": status})),
        }
    }
}
