//! A run as flat documents, for databases and other programs: itself, its steps, verifications, approvals.
//!
//! Names and ids stay the same for ever: `docs/schema/runs-1.json` publishes them. A record that is damaged gives
//! what can be read of it, and says so.

use serde_json::{Map, Value, json};

use super::{Found, Run, Step, StepVerification, Unreadable, steps};

/// A flat document. What is not known is left out.
pub type Row = Map<String, Value>;

#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub run: Row,
    pub steps: Vec<Row>,
    pub verifications: Vec<Row>,
    pub approvals: Vec<Row>,
}

/// What names of a document of a run become names of its row.
const TEXTS: [(&str, &str); 10] = [
    ("target", "task"),
    ("started_at", "started_at"),
    ("finished_at", "finished_at"),
    ("host", "host"),
    ("user", "user"),
    ("commit", "commit_id"),
    ("directory", "directory"),
    ("plan_hash", "plan_hash"),
    ("limit", "limited"),
    ("opal", "opal"),
];

/// The rows of a run, as they are now.
#[must_use]
pub fn rows(found: &Found) -> Rows {
    let mut rows = Rows::default();
    let Some(run) = load(found, &mut rows) else { return rows };
    match steps(&found.folder) {
        Ok(steps) => add_steps(found.id.as_str(), &steps, &mut rows),
        // A contract that was refused has none.
        Err(error) if run.get("refused").is_none() => unreadable(&mut rows.run, &error),
        Err(_) => {}
    }
    rows
}

/// The row of the run alone.
pub(in crate::record) fn run_row(found: &Found) -> Row {
    let mut rows = Rows::default();
    load(found, &mut rows);
    rows.run
}

/// The run itself and its approvals; none where it cannot be read.
fn load(found: &Found, rows: &mut Rows) -> Option<Run> {
    put(&mut rows.run, "id", Some(json!(found.id.as_str())));
    match Run::load(found) {
        Ok(run) => {
            describe(&run, rows);
            Some(run)
        }
        Err(error) => {
            unreadable(&mut rows.run, &error);
            None
        }
    }
}

fn unreadable(run: &mut Row, error: &Unreadable) {
    put(run, "unreadable", Some(error.to_string().into()));
}

fn put(row: &mut Row, name: &str, value: Option<Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        row.insert(name.to_owned(), value);
    }
}

fn describe(run: &Run, rows: &mut Rows) {
    let row = &mut rows.run;
    put(row, "status", Some(run.state.name().into()));
    let document = run.document();
    for (from, to) in TEXTS {
        put(row, to, document[from].as_str().map(Into::into));
    }
    put(row, "code", document["code"].as_i64().map(Into::into));
    put(row, "took_ms", document["took_ms"].as_f64().map(Into::into));
    put(row, "modified", document["modified"].as_bool().map(Into::into));
    let failed = &document["failed"];
    put(row, "failed_path", failed["path"].as_str().map(Into::into));
    put(row, "failed_message", failed["message"].as_str().map(Into::into));
    put(row, "refused", document["refused"]["reason"].as_str().map(Into::into));
    for (name, count) in document["counts"].as_object().into_iter().flatten() {
        put(row, name, count.as_u64().map(Into::into));
    }
    let contract = &document["contract"];
    put(row, "contract", contract["file_digest"].as_str().map(Into::into));
    put(row, "contract_path", contract["path"].as_str().map(Into::into));
    let id = run.id.as_str();
    let approvals = contract["approvals"].as_array().into_iter().flatten();
    for (index, approval) in (1..).zip(approvals) {
        let mut row = Row::new();
        put(&mut row, "id", Some(format!("{id}/approval-{index}").into()));
        put(&mut row, "run", Some(id.into()));
        for name in ["name", "key", "at", "note"] {
            put(&mut row, name, approval[name].as_str().map(Into::into));
        }
        rows.approvals.push(row);
    }
}

/// In the order of reading, counted from 1: that does not change once a run has ended.
fn add_steps(run: &str, steps: &[Step], rows: &mut Rows) {
    for (position, step) in (1_u64..).zip(steps) {
        let id = format!("{run}/{position}");
        let finish = step.finish.as_ref();
        let mut row = Row::new();
        put(&mut row, "id", Some(id.clone().into()));
        put(&mut row, "run", Some(run.into()));
        put(&mut row, "position", Some(position.into()));
        put(&mut row, "path", Some(step.path.clone().into()));
        put(&mut row, "target", step.target.clone().map(Into::into));
        put(&mut row, "decorator", Some(step.decorator.clone().into()));
        put(&mut row, "text", Some(step.text.clone().into()));
        put(&mut row, "attempt", Some(step.attempt.into()));
        put(&mut row, "block", step.is_block.then_some(true.into()));
        put(&mut row, "started_at", step.started_at.clone().map(Into::into));
        put(&mut row, "result", Some(step.end().into()));
        put(&mut row, "code", finish.map(|finish| finish.code.into()));
        let took = finish.filter(|_| step.number.is_some()).map(|finish| finish.took_ms.into());
        put(&mut row, "took_ms", took);
        put(&mut row, "message", finish.and_then(|it| it.message.clone()).map(Into::into));
        rows.steps.push(row);
        let checks = (1..).zip(&step.verifications);
        rows.verifications
            .extend(checks.map(|(index, it)| verification(run, &id, index, step, it)));
    }
}

fn verification(run: &str, id: &str, index: u64, step: &Step, found: &StepVerification) -> Row {
    let mut row = Row::new();
    put(&mut row, "id", Some(format!("{id}/verification-{index}").into()));
    put(&mut row, "run", Some(run.into()));
    put(&mut row, "step", Some(id.into()));
    put(&mut row, "path", Some(step.path.clone().into()));
    put(&mut row, "target", step.target.clone().map(Into::into));
    put(&mut row, "status", Some(found.status.clone().into()));
    put(&mut row, "message", Some(found.message.clone().into()));
    put(&mut row, "details", found.details.clone().map(Into::into));
    row
}
