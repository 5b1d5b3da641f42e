//! Two runs side by side.

use std::fmt::Write as _;

use opal_vault::record::reader::{Run, Step};
use serde_json::{Value, json};

use super::super::diagnostics::visible;
use super::super::ink::Ink;
use super::super::table::Table;
use super::super::{print, print_json};
use super::{Paint, failed_at, is_modified, step_json, time, took};
use crate::failure::{Exit, Failure};

pub(crate) struct Comparison<'a> {
    pub(crate) runs: &'a [Run; 2],
    pub(crate) pairs: &'a [Pair<'a>],
}

/// A step of either run, or of both.
pub(crate) struct Pair<'a> {
    /// None on opal's machine.
    pub(crate) target: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) sides: [Option<&'a Step>; 2],
}

impl Pair<'_> {
    /// Whether it is the same step with the same end, however long it took.
    pub(crate) fn is_same(&self) -> bool {
        let told = |step: &Step| {
            let code = step.finish.as_ref().map(|finish| finish.code);
            (step.text.clone(), step.end().to_owned(), code, step.attempt)
        };
        match self.sides {
            [Some(before), Some(after)] => told(before) == told(after),
            _ => false,
        }
    }

    /// `web1: rollout.ssh.hosts[0].shell[0]`, on a target.
    fn name(&self) -> String {
        let target = self.target.map(|target| format!("{}: ", visible(target)));
        format!("{}{}", target.unwrap_or_default(), visible(self.path))
    }

    fn change(&self) -> &'static str {
        match self.sides {
            [_, None] => "removed",
            [None, _] => "added",
            _ if self.is_same() => "same",
            _ => "changed",
        }
    }
}

pub(crate) fn diff(comparison: &Comparison<'_>, ink: Ink) -> Result<Exit, Failure> {
    let paint = Paint(ink.colour);
    let [before, after] = comparison.runs;
    let mut table = Table::new(["", "BEFORE", "AFTER"]);
    let mut row = |name: &str, of: &dyn Fn(&Run) -> String| {
        table.row([paint.dim(name), of(before), of(after)]);
    };
    row("run", &|run| paint.bold(run.id.as_str()));
    row("target", &|run| visible(run.target()));
    row("started", &|run| time(run.started_at()));
    row("status", &|run| paint.end(run.state.name()));
    row("failed", &|run| failed_at(run).unwrap_or_else(|| "-".into()));
    row("took", &|run| took(run.get("took_ms").and_then(Value::as_f64)));
    row("commit", &|run| {
        let mark = if is_modified(run) { ", modified" } else { "" };
        format!("{}{mark}", short(run.text("commit")))
    });
    row("plan", &|run| short(run.text("plan_hash")));
    let mut out = table.finish(|head| paint.dim(head));
    let different: Vec<&Pair<'_>> =
        comparison.pairs.iter().filter(|pair| !pair.is_same()).collect();
    let same = comparison.pairs.len() - different.len();
    if !different.is_empty() {
        let mut table = Table::new(["CHANGE", "PATH", "BEFORE", "AFTER"]);
        for pair in &different {
            let [before, after] =
                pair.sides.map(|step| step.map_or("-".into(), |s| side(s, paint)));
            table.row([pair.change().into(), pair.name(), before, after]);
        }
        out.push('\n');
        out.push_str(&table.finish(|head| paint.dim(head)));
    }
    let _ =
        writeln!(out, "\n{} the same, {} different", super::counted(same, "step"), different.len());
    print(&out)
}

/// How a step ended, in one cell.
fn side(step: &Step, paint: Paint) -> String {
    let mut side = paint.end(step.end());
    if let Some(finish) = step.finish.as_ref().filter(|_| step.number.is_some()) {
        if finish.code != 0 {
            let _ = write!(side, ", exit {}", finish.code);
        }
        let _ = write!(side, ", {}", took(Some(finish.took_ms)));
    }
    if !step.text.is_empty() {
        let _ = write!(side, ": {}", visible(&step.text));
    }
    side
}

/// The first digits of something long, behind the name of its algorithm.
fn short(text: Option<&str>) -> String {
    let text = text.unwrap_or("-");
    let start = text.find(':').map_or(0, |colon| colon + 1);
    visible(&text.chars().take(start + 12).collect::<String>())
}

pub(crate) fn diff_json(comparison: &Comparison<'_>) -> Result<Exit, Failure> {
    let [before, after] = comparison.runs;
    let steps = comparison.pairs.iter().map(|pair| {
        let [before, after] = pair.sides.map(|step| step.map_or(Value::Null, step_json));
        let mut node =
            json!({"path": pair.path, "change": pair.change(), "before": before, "after": after});
        if let Some(target) = pair.target {
            node["target"] = target.into();
        }
        node
    });
    print_json(&json!({
        "version": 1,
        "same_plan": before.text("plan_hash") == after.text("plan_hash"),
        "before": before.document(),
        "after": after.document(),
        "steps": steps.collect::<Vec<_>>(),
    }))
}
