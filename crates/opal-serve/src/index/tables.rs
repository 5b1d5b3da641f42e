//! The tables: one for each kind of flat document that `opal runs export` prints, with the same names.

use opal_vault::record::reader::Row;
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

/// Counts up with every change of the tables: an index of another version is made again.
pub(super) const VERSION: i64 = 2;

/// The tables that queries may read.
pub(super) const NAMES: [&str; 4] = ["runs", "steps", "verifications", "approvals"];

/// A table and its columns, in the order of `SELECT *`.
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static [&'static str],
}

pub(super) const RUNS: Table = Table {
    name: "runs",
    columns: &[
        "id TEXT PRIMARY KEY",
        "task TEXT",
        "status TEXT",
        "code INTEGER",
        "started_at TEXT",
        "finished_at TEXT",
        "took_ms REAL",
        "host TEXT",
        "user TEXT",
        "commit_id TEXT",
        "modified INTEGER",
        "directory TEXT",
        "plan_hash TEXT",
        "contract TEXT",
        "contract_path TEXT",
        "limited TEXT",
        "refused TEXT",
        "failed_path TEXT",
        "failed_message TEXT",
        "done INTEGER",
        "satisfied INTEGER",
        "failed INTEGER",
        "caught INTEGER",
        "stopped INTEGER",
        "skipped INTEGER",
        "retries INTEGER",
        "opal TEXT",
        "unreadable TEXT",
        "pruned INTEGER",
    ],
};

pub(super) const STEPS: Table = Table {
    name: "steps",
    columns: &[
        "id TEXT PRIMARY KEY",
        "run TEXT",
        "position INTEGER",
        "path TEXT",
        "target TEXT",
        "decorator TEXT",
        "text TEXT",
        "attempt INTEGER",
        "block INTEGER",
        "started_at TEXT",
        "result TEXT",
        "code INTEGER",
        "took_ms REAL",
        "message TEXT",
    ],
};

pub(super) const VERIFICATIONS: Table = Table {
    name: "verifications",
    columns: &[
        "id TEXT PRIMARY KEY",
        "run TEXT",
        "step TEXT",
        "path TEXT",
        "target TEXT",
        "status TEXT",
        "message TEXT",
    ],
};

pub(super) const APPROVALS: Table = Table {
    name: "approvals",
    columns: &["id TEXT PRIMARY KEY", "run TEXT", "name TEXT", "key TEXT", "at TEXT", "note TEXT"],
};

/// All of them, and what the index knows about itself: `folders` says in which state a directory of records was
/// read, `known` where each run is.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    for Table { name, columns } in [RUNS, STEPS, VERIFICATIONS, APPROVALS] {
        let columns = columns.join(", ");
        connection.execute_batch(&format!("CREATE TABLE {name} ({columns}) WITHOUT ROWID"))?;
    }
    connection.execute_batch(
        "CREATE INDEX runs_of_task ON runs (task, id, status, started_at, took_ms);
         CREATE INDEX steps_of_run ON steps (run);
         CREATE INDEX steps_of_path ON steps (path);
         CREATE INDEX verifications_of_run ON verifications (run);
         CREATE INDEX approvals_of_run ON approvals (run);
         CREATE TABLE folders (path TEXT PRIMARY KEY, state TEXT) WITHOUT ROWID;
         CREATE TABLE known (run TEXT PRIMARY KEY, folder TEXT, is_over INTEGER) WITHOUT ROWID;
         CREATE INDEX known_in ON known (folder, run, is_over);
         CREATE TABLE progress (pruned INTEGER);
         INSERT INTO progress VALUES (0);",
    )?;
    connection.pragma_update(None, "user_version", VERSION)
}

impl Table {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.split(' ').next().unwrap_or(column))
    }

    /// Adds a row, in place of the one with its id. What the table does not have is left out.
    pub(super) fn put(&self, connection: &Connection, row: &Row) -> rusqlite::Result<()> {
        let marks = vec!["?"; self.columns.len()].join(", ");
        let text = format!("INSERT OR REPLACE INTO {} VALUES ({marks})", self.name);
        let cells = self.names().map(|name| row.get(name).map_or(Cell::Null, cell));
        connection.prepare_cached(&text)?.execute(params_from_iter(cells)).map(drop)
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(holds) => Cell::Integer(i64::from(*holds)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Cell::Integer(integer),
            None => number.as_f64().map_or(Cell::Null, Cell::Real),
        },
        Value::String(text) => Cell::Text(text.clone()),
        other => Cell::Text(other.to_string()),
    }
}
