//! What `opal adopt` says about the objects of a state file.

use std::fmt::Write as _;
use std::path::Path;

use opal_core::message::counted;
use opal_core::resource::Status;
use opal_core::view::visible;
use serde_json::{Value, json};

use super::table::Table;
use super::verify::{Paint, symbol};
use super::{Ink, print_json, say};
use crate::failure::{Exit, Failure};

/// The code of objects that exist nowhere else.
pub(crate) const STATE_ONLY: &str = "E1402";

/// What became of a state file.
#[derive(Debug)]
pub(crate) struct Report {
    /// The file.
    pub(crate) state: String,
    /// None where no object has a step.
    pub(crate) source: Option<String>,
    pub(crate) objects: Vec<Object>,
    pub(crate) outputs: Vec<String>,
    pub(crate) deposed: Vec<String>,
    pub(crate) data: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) address: String,
    pub(crate) of: String,
    /// Whether Terraform would replace it.
    pub(crate) is_tainted: bool,
    pub(crate) outcome: Result<Step, Left>,
}

/// An object that has a step.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) decorator: &'static str,
    pub(crate) status: Status,
    pub(crate) message: String,
    /// Attributes that cannot be read back.
    pub(crate) unread: Vec<String>,
    /// Variables, each with the path of the argument that it is for.
    pub(crate) secrets: Vec<(String, String)>,
}

/// Why an object has none.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<&'static str>,
    pub(crate) why: String,
    pub(crate) help: Option<String>,
}

impl Report {
    pub(crate) fn text(&self) -> &str {
        self.source.as_deref().unwrap_or_default()
    }

    /// Whether every object has a step that is in the desired state.
    pub(crate) fn is_whole(&self) -> bool {
        let is_satisfied = |step: &Step| step.status == Status::Satisfied;
        self.objects.iter().all(|it| it.outcome.as_ref().is_ok_and(is_satisfied))
    }

    fn steps(&self) -> impl Iterator<Item = (&Object, &Step)> {
        self.objects.iter().filter_map(|it| Some((it, it.outcome.as_ref().ok()?)))
    }

    fn left(&self) -> impl Iterator<Item = (&Object, &Left)> {
        self.objects.iter().filter_map(|it| Some((it, it.outcome.as_ref().err()?)))
    }

    /// What nothing but the state file has, a line each.
    fn only_there(&self) -> Vec<String> {
        let left = self.left().filter(|(_, left)| left.code == Some(STATE_ONLY));
        let left = left.map(|(object, _)| format!("{}: all its values", object.address));
        let unread = self.steps().filter(|(_, step)| !step.unread.is_empty());
        let unread = unread.map(|(object, step)| {
            let names = step.unread.join(", ");
            format!("{}: attributes that cannot be read back: {names}", object.address)
        });
        let outputs = self.outputs.iter().map(|name| format!("the output {name}"));
        let deposed = self.deposed.iter().map(|it| format!("{it}: a deposed object"));
        left.chain(unread).chain(outputs).chain(deposed).collect()
    }

    /// Whether the state file has values that the steps do not have.
    fn keeps_state(&self) -> bool {
        let has_secrets = |(_, step): (&Object, &Step)| !step.secrets.is_empty();
        self.left().next().is_some()
            || self.steps().any(has_secrets)
            || !self.only_there().is_empty()
    }
}

/// The table and the lists, for people.
pub(crate) fn human(report: &Report, ink: Ink) {
    let paint = Paint(ink.colour);
    let mut out = String::new();
    if report.source.is_some() {
        let mut table = Table::new(["", "OBJECT", "STATUS", "MESSAGE"]);
        for (object, step) in report.steps() {
            table.row([
                paint.status(step.status, symbol(step.status)),
                shown(&object.address),
                paint.status(step.status, step.status.name()),
                shown(&step.message),
            ]);
        }
        out.push_str(&table.finish(|head| paint.code("2", head)));
        out.push('\n');
    }
    let _ = writeln!(out, "{}", summary(report, paint));
    list(
        &mut out,
        "not adopted",
        report.left().map(|(object, left)| {
            let code = left.code.map_or_else(String::new, |code| format!(" ({code})"));
            let help = left.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
            format!("{}: {}{code}{help}", object.address, left.why)
        }),
    );
    let secrets = report.steps().flat_map(|(object, step)| {
        step.secrets.iter().map(|(name, path)| format!("{name}: {path} of {}", object.address))
    });
    list(&mut out, "secrets that the steps read from the environment", secrets);
    let tainted = report.objects.iter().filter(|it| it.is_tainted);
    list(
        &mut out,
        "tainted: their creation failed, so Terraform would replace them; opal does not",
        tainted.map(|it| it.address.clone()),
    );
    list(&mut out, "data sources, which are values in opal", report.data.iter().cloned());
    list(&mut out, "only in the state file", report.only_there().into_iter());
    if report.keeps_state() {
        let state = shown(&report.state);
        let _ =
            writeln!(out, "\nkeep `{state}`, encrypted: it has values that the steps do not have");
    }
    say(&out);
}

fn list(out: &mut String, head: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "\n{head}:");
    }
    for line in lines {
        let _ = writeln!(out, "  {}", shown(&line));
    }
}

/// One line, without a tab.
fn shown(text: &str) -> String {
    visible::line(&visible::words(text))
}

/// `3 objects: 2 satisfied, 1 not adopted`.
fn summary(report: &Report, paint: Paint) -> String {
    let counts = Status::ALL.into_iter().filter_map(|status| {
        let count = report.steps().filter(|(_, step)| step.status == status).count();
        (count > 0).then(|| paint.status(status, &format!("{count} {}", status.name())))
    });
    let left = report.left().count();
    let left = (left > 0).then(|| paint.code("31", &format!("{left} not adopted")));
    let counts = counts.chain(left).collect::<Vec<_>>().join(", ");
    let colon = if counts.is_empty() { "" } else { ": " };
    format!("{}{colon}{counts}", counted(report.objects.len(), "object"))
}

pub(crate) fn json(report: &Report, out: Option<&Path>) -> Result<Exit, Failure> {
    let object = |it: &Object| match &it.outcome {
        Ok(step) => json!({
            "address": it.address,
            "type": it.of,
            "tainted": it.is_tainted,
            "adopted": true,
            "decorator": step.decorator,
            "status": step.status.name(),
            "message": step.message,
            "unread": step.unread,
            "secrets": step.secrets.iter().map(secret).collect::<Vec<_>>(),
        }),
        Err(left) => json!({
            "address": it.address,
            "type": it.of,
            "tainted": it.is_tainted,
            "adopted": false,
            "code": left.code,
            "message": left.why,
            "help": left.help,
        }),
    };
    print_json(&json!({
        "version": 1,
        "state": report.state,
        "file": out.map(|out| out.display().to_string()),
        "source": report.source,
        "objects": report.objects.iter().map(object).collect::<Vec<_>>(),
        "outputs": report.outputs,
        "deposed": report.deposed,
        "data": report.data,
        "only_in_state": report.only_there(),
        "keep_state": report.keeps_state(),
    }))
}

fn secret((name, path): &(String, String)) -> Value {
    json!({"variable": name, "argument": path})
}
