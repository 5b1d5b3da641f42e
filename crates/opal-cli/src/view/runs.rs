//! What `opal runs` shows.

mod diff;
pub(crate) mod query;
mod screen;
mod tail;
mod times;

use std::fmt::Write as _;
use std::time::Duration;

use opal_core::message::counted;
use opal_vault::event::{Counts, Opened};
use opal_vault::record::{
    RunId,
    reader::{Run, State, Step, Unreadable},
};
use opal_vault::targets::FleetTable;
use serde_json::{Value, json};

use super::diagnostics::visible;
use super::ink::Ink;
use super::run::in_counts;
use super::{print, print_json, say, table::Table, targets};
use crate::failure::{Exit, Failure};

pub(crate) use diff::{Comparison, Pair, diff, diff_json};
pub(crate) use screen::{Page, Screen, piece_json};
pub(crate) use tail::{tail_end, tail_event};
use times::{time, took};

/// Objects that the page of a run names.
const MOST_OBJECTS: usize = 20;

/// A run, and what could be read of it.
pub(crate) struct Listed {
    pub(crate) id: RunId,
    pub(crate) run: Result<Run, Unreadable>,
}

/// Colours, where they are wanted.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn code(self, code: &'static str, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.code("2", text)
    }

    /// How something ended, or that it has not.
    fn end(self, name: &str) -> String {
        let code = match name {
            "executed" | "done" | "satisfied" => "32",
            "failed" | "crashed" | "refused" | "timed_out" => "31",
            "running" | "started" => "36",
            _ => "33",
        };
        self.code(code, name)
    }
}

pub(crate) fn list(listed: &[Listed], is_cut: bool, ink: Ink) -> Result<Exit, Failure> {
    let paint = Paint(ink.colour);
    let mut table = Table::new(["RUN", "TARGET", "STATUS", "STARTED (UTC)", "TOOK", ""]);
    for Listed { id, run } in listed {
        let id = paint.bold(id.as_str());
        table.row(match run {
            Ok(run) => [
                id,
                visible(run.target()),
                paint.end(run.state.name()),
                time(run.started_at()),
                took(run.get("took_ms").and_then(Value::as_f64)),
                paint.dim(&failed_at(run).unwrap_or_default()),
            ],
            Err(error) => {
                let nothing = || "-".to_owned();
                [
                    id,
                    nothing(),
                    "unreadable".into(),
                    nothing(),
                    nothing(),
                    visible(&error.to_string()),
                ]
            }
        });
    }
    if is_cut {
        let more = format!("the newest {}; `--limit N` lists more\n", listed.len());
        say(&more);
    }
    print(&table.finish(|head| paint.dim(head)))
}

pub(crate) fn list_json(listed: &[Listed]) -> Result<Exit, Failure> {
    let runs = listed.iter().map(|Listed { id, run }| match run {
        Ok(run) => run.document(),
        Err(error) => json!({
            "id": id.as_str(),
            "error": {"message": error.to_string(), "help": [error.help()]},
        }),
    });
    print_json(&json!({"version": 1, "runs": runs.collect::<Vec<_>>()}))
}

pub(crate) fn show(
    run: &Run,
    steps: &[Step],
    fleets: &[FleetTable],
    ink: Ink,
) -> Result<Exit, Failure> {
    let paint = Paint(ink.colour);
    let mut out = format!("{}  {}\n", paint.bold(run.id.as_str()), visible(run.target()));
    for (name, text) in facts(run, paint) {
        let _ = writeln!(out, "  {}  {text}", paint.dim(&format!("{name:9}")));
    }
    for fleet in fleets {
        let _ = write!(out, "\n{}\n{}\n", visible(&fleet.path), targets::table(&fleet.rows, ink));
        if let Some(reasons) = targets::reasons(&fleet.rows, ink) {
            let _ = writeln!(out, "{reasons}");
        }
    }
    let leaves: Vec<&Step> = steps.iter().filter(|step| !step.is_block).collect();
    if !leaves.is_empty() {
        out.push('\n');
        out.push_str(&step_table(&leaves, paint));
    }
    print(&out)
}

/// With a column for the target where one of them ran on another machine.
fn step_table(steps: &[&Step], paint: Paint) -> String {
    let number = |step: &Step| step.position.map_or("-".into(), |number| number.to_string());
    let length = |step: &Step| {
        took(step.finish.as_ref().filter(|_| step.number.is_some()).map(|finish| finish.took_ms))
    };
    let head = ["STEP", "TARGET", "END", "TOOK", "PATH", "WHAT"];
    let mut table = Table::new(head).optional("TARGET");
    for step in steps {
        let target = step.target.as_deref().map(visible).unwrap_or_default();
        let (end, path) = (paint.end(step.end()), visible(&step.path));
        table.row([number(step), target, end, length(step), path, what(step, paint)]);
    }
    table.finish(|head| paint.dim(head))
}

/// The lines above the steps: what is not known has none.
fn facts(run: &Run, paint: Paint) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let code = run.get("code").and_then(Value::as_i64).filter(|code| *code != 0);
    let code = code.map_or(String::new(), |code| format!(", exit {code}"));
    let place = failed_at(run).map_or(String::new(), |place| format!(", {place}"));
    facts.push(("status", format!("{}{code}{place}", paint.end(run.state.name()))));
    if let Some(message) = run.get("failed").and_then(|failed| failed["message"].as_str()) {
        facts.push(("", visible(message)));
    }
    if let Some(refused) = run.get("refused") {
        let text = |name: &str| visible(refused[name].as_str().unwrap_or_default());
        facts.push(("refused", format!("{}: {}", text("reason"), text("message"))));
    }
    for also in run.get("also_failed").and_then(Value::as_array).into_iter().flatten() {
        let path = visible(also["path"].as_str().unwrap_or_default());
        facts.push(("", format!("also at {path}, exit {}", also["code"])));
    }
    for open in run.get("unclosed").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| visible(open[name].as_str().unwrap_or_default());
        let (decorator, plugin, version) = (text("decorator"), text("plugin"), text("version"));
        let what = format!("`@{decorator}` of {plugin} {version}: {}", text("token"));
        facts.push(("not closed", format!("{what}; `opal runs cleanup {}`", run.id)));
    }
    objects(run, &mut facts);
    let length = run.get("took_ms").and_then(Value::as_f64);
    let length = length.map_or(String::new(), |ms| format!(", took {}", took(Some(ms))));
    facts.push(("started", format!("{} UTC{length}", time(run.started_at()))));
    let who = ["user", "host"].into_iter().filter_map(|name| run.text(name));
    let who = visible(&who.collect::<Vec<_>>().join("@"));
    if !who.is_empty() {
        facts.push(("by", who));
    }
    if let Some(Value::Object(arguments)) = run.get("arguments").filter(|all| **all != json!({})) {
        let words = arguments.iter().map(|(name, value)| {
            format!("{}={}", visible(name), visible(value.as_str().unwrap_or_default()))
        });
        facts.push(("arguments", words.collect::<Vec<_>>().join(" ")));
    }
    facts.extend(run.text("limit").map(|limit| ("limit", visible(limit))));
    facts.extend(commit(run).map(|commit| ("commit", visible(&commit))));
    let texts = [("plan", "plan_hash"), ("opal", "opal")];
    let texts = texts.into_iter().filter_map(|(name, key)| Some((name, visible(run.text(key)?))));
    facts.extend(texts);
    if let Some(path) = run.get("contract").and_then(|contract| contract["path"].as_str()) {
        facts.push(("contract", visible(path)));
        let approvals = run.get("contract").and_then(|contract| contract["approvals"].as_array());
        for one in approvals.into_iter().flatten() {
            let text = |name: &str| one[name].as_str().unwrap_or_default();
            facts.push(("approved by", visible(&format!("{} at {}", text("name"), text("at")))));
        }
    }
    for drift in run.get("drift").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| visible(drift[name].as_str().unwrap_or_default());
        facts.push(("drift", format!("{}: {}", text("code"), text("words"))));
    }
    facts.push(("record", visible(&run.folder.display().to_string())));
    facts
}

/// `abc123, modified` where the source was not as the commit has it.
fn commit(run: &Run) -> Option<String> {
    let commit = run.text("commit")?;
    Some(if is_modified(run) { format!("{commit}, modified") } else { commit.to_owned() })
}

fn is_modified(run: &Run) -> bool {
    run.get("modified").and_then(Value::as_bool).unwrap_or_default()
}

/// The step in words, and what there is to say about its end.
fn what(step: &Step, paint: Paint) -> String {
    let mut what = visible(&step.text);
    let Some(finish) = &step.finish else { return what };
    if finish.code != 0 {
        let _ = write!(what, "  {}", paint.dim(&format!("exit {}", finish.code)));
    }
    if let Some(message) = &finish.message {
        let _ = write!(what, "  {}", paint.dim(&visible(message)));
    }
    what
}

pub(crate) fn show_json(run: &Run, steps: &[Step], fleets: &[FleetTable]) -> Result<Exit, Failure> {
    print_json(&document(run, steps, fleets))
}

/// A run and its steps, as one document.
pub(crate) fn document(run: &Run, steps: &[Step], fleets: &[FleetTable]) -> Value {
    let steps: Vec<Value> = steps.iter().map(step_json).collect();
    let folder = run.folder.display().to_string();
    let mut document =
        json!({"version": 1, "run": run.document(), "steps": steps, "record": folder});
    if !fleets.is_empty() {
        document["fleets"] = targets::json(fleets);
    }
    document
}

/// What a run came to, in one line.
pub(crate) fn summary(run: &Run) -> String {
    let State::Ended(status) = run.state else { return run.state.name().to_owned() };
    let Some(counts) = run.get("counts") else { return run.state.name().to_owned() };
    let count = |name: &str| counts[name].as_u64().unwrap_or_default();
    let counts = Counts {
        done: count("done"),
        satisfied: count("satisfied"),
        failed: count("failed"),
        caught: count("caught"),
        stopped: count("stopped"),
        skipped: count("skipped"),
        retries: count("retries"),
    };
    let took = run.get("took_ms").and_then(Value::as_f64).unwrap_or_default() / 1_000.0;
    in_counts(status, counts, Duration::try_from_secs_f64(took).unwrap_or_default())
}

fn step_json(step: &Step) -> Value {
    let mut node = json!({
        "attempt": step.attempt,
        "block": step.is_block,
        "decorator": step.decorator,
        "end": step.end(),
        "number": step.position,
        "path": step.path,
        "started_at": step.started_at,
        "text": step.text,
    });
    if let Some(target) = &step.target {
        node["target"] = target.as_str().into();
    }
    if let Some(finish) = step.finish.as_ref().filter(|_| step.number.is_some()) {
        node["code"] = finish.code.into();
        node["took_ms"] = finish.took_ms.into();
        node["message"] = finish.message.clone().into();
    }
    node
}

/// The objects that steps acted on, or were about to act on when the run ended.
fn objects(run: &Run, facts: &mut Vec<(&'static str, String)>) {
    let all: Vec<&Value> =
        run.get("objects").and_then(Value::as_array).into_iter().flatten().collect();
    let is_open = |it: &&&Value| it["deed"].is_string() && run.state != State::Running;
    let text = |it: &Value, name: &str| visible(it[name].as_str().unwrap_or_default());
    let named = |it: &Value| format!("{} {}", text(it, "type"), text(it, "identity"));
    for it in all.iter().filter(is_open) {
        let what = format!("{} {} ({})", text(it, "deed"), named(it), text(it, "path"));
        facts.push(("unfinished", format!("{what}; `opal verify` shows whether it is done")));
    }
    let made: Vec<&&Value> = all.iter().filter(|it| !it["deed"].is_string()).collect();
    for it in made.iter().take(MOST_OBJECTS) {
        let what = named(it);
        facts.push(("object", format!("{} ({})", what.trim_start(), text(it, "plugin"))));
    }
    if made.len() > MOST_OBJECTS {
        let more = made.len() - MOST_OBJECTS;
        facts.push(("", format!("{more} more; `opal runs show {} --json` has all", run.id)));
    }
}

/// What a plugin opened and did not close.
pub(crate) fn unclosed_json(open: &Opened) -> Value {
    json!({
        "id": &*open.id, "plugin": &*open.plugin, "version": &*open.version,
        "decorator": &*open.decorator, "token": open.token.text(), "target": open.target.as_deref(),
    })
}

/// At the end of a run: what its plugins did not close.
pub(crate) fn still_open(open: &[Opened], runs: &str, run: Option<&str>) {
    for one in open {
        say(&format!("warning: not closed: {}\n", visible(&one.named())));
    }
    if let (Some(run), false) = (run, open.is_empty()) {
        say(&format!("  help: close it with `{runs} cleanup {run}`\n"));
    }
}

/// What `opal runs cleanup` did, and what it could not do. The first of these is the error of the command.
pub(crate) fn cleaned(
    run: &RunId,
    closed: &[Opened],
    failed: &[(Opened, Failure)],
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let failed = failed.iter().map(|(open, failure)| {
            let mut document = unclosed_json(open);
            document["error"] = json!({"message": failure.message, "help": failure.help});
            document
        });
        let failed: Vec<Value> = failed.collect();
        let closed: Vec<Value> = closed.iter().map(unclosed_json).collect();
        let document = json!({
            "version": 1, "run": run.as_str(), "closed": closed, "not_closed": failed,
        });
        return print_json(&document);
    }
    if closed.is_empty() && failed.is_empty() {
        return print("Nothing to close.\n");
    }
    let lines = closed.iter().map(|open| format!("closed {}\n", visible(&open.named())));
    print(&lines.collect::<String>())?;
    for (_, failure) in failed.iter().skip(1) {
        say(&format!("error: {}\n", visible(&failure.message)));
    }
    Ok(Exit::Done)
}

pub(crate) fn pruned(gone: &[RunId], dry_run: bool, json: bool) -> Result<Exit, Failure> {
    if json {
        let ids: Vec<&str> = gone.iter().map(RunId::as_str).collect();
        return print_json(&json!({"version": 1, "dry_run": dry_run, "removed": ids}));
    }
    if gone.is_empty() {
        return print("No runs to remove.\n");
    }
    let verb = if dry_run { "would remove" } else { "removed" };
    let mut out = format!("{verb} {}\n", counted(gone.len(), "run"));
    gone.iter().for_each(|id| out.push_str(&format!("  {id}\n")));
    print(&out)
}

/// `at deploy.shell[1]`, of a run that failed.
fn failed_at(run: &Run) -> Option<String> {
    let path = run.get("failed")?.get("path")?.as_str()?;
    matches!(run.state, State::Ended(_)).then(|| format!("at {}", visible(path)))
}
