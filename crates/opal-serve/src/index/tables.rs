//! The tables: one for each kind of flat document that `opal runs export` prints, with the same names.

use opal_vault::record::reader::Row;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use serde_json::Value;

/// Counts up with every change of the tables: an index of another version is made again.
pub(super) const VERSION: i64 = 3;

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
/// read, and the sum of its names, `known` where each run is.
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
         CREATE TABLE folders (path TEXT PRIMARY KEY, state TEXT, names INTEGER) WITHOUT ROWID;
         CREATE TABLE known (run TEXT PRIMARY KEY, folder TEXT, is_over INTEGER) WITHOUT ROWID;
         CREATE INDEX known_in ON known (folder, run, is_over);
         CREATE INDEX known_running ON known (folder) WHERE NOT is_over;
         CREATE TABLE progress (pruned INTEGER);
         INSERT INTO progress VALUES (0);",
    )?;
    connection.pragma_update(None, "user_version", VERSION)
}

impl Table {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.split(' ').next().unwrap_or(column))
    }

    /// Adds rows, in place of those with their ids. What the table does not have is left out.
    pub(super) fn put<'r>(
        &self,
        connection: &Connection,
        rows: impl IntoIterator<Item = &'r Row>,
    ) -> rusqlite::Result<()> {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let marks = vec!["?"; self.columns.len()].join(", ");
        let text = format!("INSERT OR REPLACE INTO {} VALUES ({marks})", self.name);
        let mut insert = connection.prepare_cached(&text)?;
        for row in rows {
            insert.execute(params_from_iter(self.names().map(|name| Cell(row.get(name)))))?;
        }
        Ok(())
    }
}

/// A value of a row as SQLite keeps it.
struct Cell<'v>(Option<&'v Value>);

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            None | Some(Value::Null) => ValueRef::Null,
            Some(Value::Bool(holds)) => ValueRef::Integer(i64::from(*holds)),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(integer) => ValueRef::Integer(integer),
                None => number.as_f64().map_or(ValueRef::Null, ValueRef::Real),
            },
            Some(Value::String(text)) => text.as_str().into(),
            Some(other) => return Ok(other.to_string().into()),
        }))
    }
}
