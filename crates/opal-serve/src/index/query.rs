//! Queries of users: they read the four tables and nothing else, within limits.

use std::time::{Duration, Instant};

use opal_vault::root::Root;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, ErrorCode};
use serde_json::{Value, json};

use super::tables::NAMES;
use super::{Error, update};

/// What a query may take, in time, in memory, and in what it returns.
pub(super) const MOST_TIME: Duration = Duration::from_secs(5);
pub(super) const MOST_BYTES: usize = 100_000_000;

/// Instructions of the database after which the clock is read again.
const STRIDE: i32 = 10_000;

/// `{"columns": […], "rows": [[…]]}`.
pub(super) fn run(root: &Root, sql: &str) -> Result<Value, Error> {
    let mut connection = update::open(root)?;
    confine(&mut connection)?;
    ask(&connection, sql).map_err(|error| match error {
        Error::Database(error) => reason(error),
        error => error,
    })
}

/// From here on the connection only reads the tables of runs.
fn confine(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "hard_heap_limit", MOST_BYTES as i64)?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES as i32),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    let end = Instant::now() + MOST_TIME;
    connection.progress_handler(STRIDE, Some(move || Instant::now() >= end))?;
    connection.authorizer(Some(judge))
}

/// Reading is allowed, and functions that only compute.
fn judge(asked: AuthContext<'_>) -> Authorization {
    match asked.action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, .. } if is_readable(table_name) => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// The tables of runs; what a query makes itself has no name, or that of its `WITH`.
fn is_readable(table: &str) -> bool {
    let own = ["folders", "known", "progress"];
    NAMES.contains(&table)
        || !own.contains(&table) && !table.starts_with("sqlite_") && !table.starts_with("pragma_")
}

fn ask(connection: &Connection, sql: &str) -> Result<Value, Error> {
    let mut batch = Batch::new(connection, sql);
    let Some(mut statement) = batch.next()? else {
        return Ok(json!({"columns": [], "rows": []}));
    };
    if !statement.readonly() {
        return Err(Error::NotARead);
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let (mut rows, mut size) = (Vec::new(), 0);
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let cells = (0..columns.len()).map(|at| row.get_ref(at).map(cell));
        let cells = cells.collect::<rusqlite::Result<Vec<Value>>>()?;
        size += cells.iter().map(weight).sum::<usize>() + 2;
        if size > MOST_BYTES {
            return Err(Error::TooLarge);
        }
        rows.push(Value::Array(cells));
    }
    drop(found);
    drop(statement);
    match batch.next() {
        Ok(None) => Ok(json!({"columns": columns, "rows": rows})),
        Ok(Some(_)) | Err(_) => Err(Error::Several),
    }
}

fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
    }
}

/// Bytes that it takes as text, about.
fn weight(value: &Value) -> usize {
    value.as_str().map_or(8, |text| text.len() + 3)
}

fn reason(error: rusqlite::Error) -> Error {
    let code = match &error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        error => error.sqlite_error_code(),
    };
    match code {
        Some(ErrorCode::OperationInterrupted) => Error::TooSlow,
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => Error::TooLarge,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => Error::NotARead,
        _ => Error::Database(error),
    }
}
