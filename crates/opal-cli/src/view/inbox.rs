//! What `opal plan submit` and `opal plan inbox` show.

use std::fmt::Write as _;

use serde_json::json;

use super::diagnostics::visible;
use super::ink::Ink;
use super::plan::time;
use super::{print, print_json};
use crate::failure::{Exit, Failure};

/// A contract of the inbox. Its state is derived from the policy, the ledger and what people signed.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) state: State,
    pub(crate) target: String,
    pub(crate) created: i64,
    pub(crate) made_by: Option<String>,
    pub(crate) expires: Option<i64>,
    pub(crate) approved_by: Vec<String>,
    pub(crate) rejected_by: Vec<String>,
    /// Whose approvals count for nothing: keys that no rule lists.
    pub(crate) unknown_keys: Vec<String>,
    /// How many people must approve.
    pub(crate) needed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Approved,
    Rejected,
    Expired,
    Used,
    /// The file is not what was submitted.
    Changed,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Used => "used",
            Self::Changed => "changed",
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            Self::Waiting => "\x1b[33m",
            Self::Approved => "\x1b[32m",
            Self::Rejected | Self::Changed => "\x1b[31m",
            Self::Expired | Self::Used => "\x1b[2m",
        }
    }
}

impl Entry {
    /// One whose file cannot be read, or is another one.
    pub(crate) fn changed(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            state: State::Changed,
            target: String::new(),
            created: 0,
            made_by: None,
            expires: None,
            approved_by: Vec::new(),
            rejected_by: Vec::new(),
            unknown_keys: Vec::new(),
            needed: 0,
        }
    }

    fn json(&self) -> serde_json::Value {
        if self.state == State::Changed {
            return json!({"id": self.id, "state": self.state.name()});
        }
        json!({
            "id": self.id,
            "state": self.state.name(),
            "target": self.target,
            "created": time(self.created),
            "made_by": self.made_by,
            "expires": self.expires.map(time),
            "approved_by": self.approved_by,
            "rejected_by": self.rejected_by,
            "unknown_keys": self.unknown_keys,
            "needed": self.needed,
        })
    }

    /// Who said what, and how many are missing.
    fn people(&self) -> String {
        if !self.rejected_by.is_empty() {
            return format!("rejected by {}", self.rejected_by.join(", "));
        }
        let by = match self.approved_by[..] {
            [] => "no approval".to_owned(),
            _ => format!("approved by {}", self.approved_by.join(", ")),
        };
        let missing = self.needed.saturating_sub(self.approved_by.len());
        let mut people = match (self.state, missing) {
            (State::Waiting, 1..) => format!("{by}; {missing} more needed"),
            _ => by,
        };
        for key in &self.unknown_keys {
            people.push_str(&format!("; unknown key {key} counts for nothing"));
        }
        people
    }
}

pub(crate) fn submitted(entry: &Entry, json: bool) -> Result<Exit, Failure> {
    if json {
        let mut document = entry.json();
        document["version"] = 1.into();
        return print_json(&document);
    }
    let id = &entry.id[..8];
    let next = match entry.state {
        State::Waiting => format!("a person approves it with `opal plan approve {id}`"),
        State::Approved => format!("run it with `opal run --plan {id}`"),
        _ => entry.people(),
    };
    let (target, state) = (visible(&entry.target), entry.state.name());
    print(&format!("submitted {target} as {}: {state}\n{}\n", entry.id, visible(&next)))
}

pub(crate) fn list(entries: &[Entry], json: bool, ink: Ink) -> Result<Exit, Failure> {
    if json {
        let all: Vec<serde_json::Value> = entries.iter().map(Entry::json).collect();
        return print_json(&json!({"version": 1, "contracts": all}));
    }
    if entries.is_empty() {
        return print("The inbox is empty; `opal plan submit FILE` puts a contract into it.\n");
    }
    let width = entries.iter().map(|it| visible(&it.target).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for entry in entries {
        let (colour, reset) = if ink.colour { (entry.state.colour(), "\x1b[0m") } else { ("", "") };
        let (id, state) = (&entry.id[..8], entry.state.name());
        if entry.state == State::Changed {
            let _ = writeln!(
                out,
                "{id}  {colour}{state:<8}{reset}  the file is not what was submitted"
            );
            continue;
        }
        let target = visible(&entry.target);
        let by = visible(entry.made_by.as_deref().unwrap_or("unknown"));
        let people = visible(&entry.people());
        let made = time(entry.created);
        let _ = writeln!(
            out,
            "{id}  {colour}{state:<8}{reset}  {target:<width$}  {made}  {by}  {people}"
        );
    }
    print(&out)
}
