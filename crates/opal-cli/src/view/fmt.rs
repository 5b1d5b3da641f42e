//! What `opal fmt` shows.

use std::path::PathBuf;

use opal_core::message::counted;
use opal_decorators::patch;
use serde_json::json;

use super::diagnostics::visible;
use super::ink::Ink;
use super::{failure_text, print, print_json, say};
use crate::checked_file::CheckedFile;
use crate::failure::{Exit, Failure};

/// What became of one file.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is in form already; its text.
    Unchanged(String),
    /// The text before and after.
    Changed {
        before: String,
        after: String,
    },
    /// Errors keep it from being formatted; it is as it was.
    Broken(CheckedFile),
    Failed(Failure),
}

#[derive(Debug)]
pub(crate) struct Formatted {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) struct Mode {
    pub(crate) check: bool,
    pub(crate) diff: bool,
    pub(crate) json: bool,
    pub(crate) from_stdin: bool,
}

pub(crate) fn show(all: &[Formatted], mode: &Mode, ink: Ink) -> Result<Exit, Failure> {
    for formatted in all {
        match &formatted.outcome {
            Outcome::Failed(failure) => say(&failure_text(failure, ink)),
            Outcome::Broken(file) => {
                super::check::to_stderr(std::slice::from_ref(file), ink)?;
            }
            _ => {}
        }
    }
    if mode.json {
        return show_json(all, mode);
    }
    if mode.diff {
        let diffs: String = all.iter().map(unified).collect();
        return print(&diffs);
    }
    if mode.from_stdin && !mode.check {
        return all.iter().try_fold(Exit::Done, |_, formatted| match &formatted.outcome {
            Outcome::Changed { after: text, .. } | Outcome::Unchanged(text) => print(text),
            _ => Ok(Exit::Done),
        });
    }
    human(all, mode)
}

fn human(all: &[Formatted], mode: &Mode) -> Result<Exit, Failure> {
    let changed = all.iter().filter(|f| matches!(f.outcome, Outcome::Changed { .. }));
    let verb = if mode.check { "would change" } else { "formatted" };
    let mut out = String::new();
    for formatted in changed.clone() {
        out.push_str(&format!("{verb}: {}\n", visible(&formatted.name)));
    }
    print(&out)?;
    let unchanged = all.iter().filter(|f| matches!(f.outcome, Outcome::Unchanged(_))).count();
    if mode.check && changed.count() > 0 {
        say("format them with `opal fmt`; show the changes with `opal fmt --diff`\n");
    } else if unchanged == all.len() {
        say(&format!("{} already formatted\n", counted(unchanged, "file")));
    }
    Ok(Exit::Done)
}

fn unified(formatted: &Formatted) -> String {
    let Outcome::Changed { before, after } = &formatted.outcome else { return String::new() };
    let name = formatted.name.trim_start_matches('/');
    patch(name, before, after)
}

fn show_json(all: &[Formatted], mode: &Mode) -> Result<Exit, Failure> {
    let files: Vec<serde_json::Value> = all
        .iter()
        .map(|formatted| {
            let status = match &formatted.outcome {
                Outcome::Unchanged(_) => "unchanged",
                Outcome::Changed { .. } if mode.check || mode.diff => "would_change",
                Outcome::Changed { .. } => "formatted",
                Outcome::Broken(_) => "broken",
                Outcome::Failed(_) => "failed",
            };
            let mut document = json!({"file": formatted.name, "status": status});
            match &formatted.outcome {
                Outcome::Changed { .. } if mode.diff => {
                    document["diff"] = json!(unified(formatted))
                }
                Outcome::Changed { after, .. } if mode.from_stdin => {
                    document["text"] = json!(after)
                }
                Outcome::Failed(failure) => document["message"] = json!(failure.message),
                _ => {}
            }
            document
        })
        .collect();
    print_json(&json!({"version": 1, "files": files}))
}
