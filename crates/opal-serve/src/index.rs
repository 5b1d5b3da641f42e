//! Queries over all runs: `opal runs stats` and `opal runs sql`.
//!
//! `index.sqlite` under the runtime root is derived from the records and can be deleted at any time. Each query
//! first brings it up to date; a run never opens it.
//!
//! | what | where |
//! |---|---|
//! | the tables | [`tables`] |
//! | bringing the index up to date | [`update`] |
//! | queries of users, and what they must not do | [`query`] |
//! | how often tasks and steps fail, and how long they take | [`stats`] |
//!
//! Deliberately not here: how results look, and what is a secret. Records were scrubbed when they were written.

mod query;
mod stats;
mod tables;
mod update;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use opal_helper::{Asking, Parcel};
use opal_vault::root::{Root, RootError};
use serde_json::{Value, json};

/// The part's name.
pub(crate) const PART: &str = "index";

/// Answers the questions of opal.
pub(crate) fn serve() -> ExitCode {
    opal_helper::serve(answer)
}

/// `{"root", "sql"}` or `{"root", "stats", "task"}`. The answer is in the first part of the parcel; why there is
/// none is in its head.
fn answer(request: &Parcel, _: &mut Asking<'_>) -> Parcel {
    let text = |name: &str| request.head.get(name).and_then(Value::as_str);
    let Some(root) = text("root").map(|path| Root::new(Path::new(path))) else {
        return refused(&Error::Request);
    };
    let found = match (text("sql"), request.head.get("stats")) {
        (Some(sql), _) => query::run(&root, sql),
        (None, Some(_)) => stats::of(&root, text("task")),
        (None, None) => Err(Error::Request),
    };
    match found {
        Ok(found) => Parcel::new(json!({})).with(found.to_string().as_bytes()),
        Err(error) => refused(&error),
    }
}

fn refused(error: &Error) -> Parcel {
    Parcel::new(json!({"error": error.to_string(), "help": error.help(), "kind": error.kind()}))
}

/// Why a query has no answer: all messages of this part.
#[derive(Debug)]
pub(crate) enum Error {
    /// opal asked for something that is unknown here.
    Request,
    Root(RootError),
    Database(rusqlite::Error),
    /// More statements than one.
    Several,
    /// It does not read: it would change, attach or set something.
    NotARead,
    TooSlow,
    TooLarge,
}

impl Error {
    fn kind(&self) -> &'static str {
        match self {
            Self::Root(_) => "root",
            Self::Database(error) if is_of_query(error) => "usage",
            Self::Request | Self::Database(_) => "failed",
            Self::Several | Self::NotARead => "usage",
            Self::TooSlow | Self::TooLarge => "limit",
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Request => "try again; if it happens again, it is a bug of opal".to_owned(),
            Self::Root(error) => error.help(),
            Self::Database(error) if is_of_query(error) => {
                format!("the tables are {}", tables::NAMES.join(", "))
            }
            Self::Database(_) => "remove `index.sqlite`: it is made again from the records".to_owned(),
            Self::Several => "write one statement; `WITH` and `UNION` combine several".to_owned(),
            Self::NotARead => {
                "the index is read only: write `SELECT …`; `PRAGMA`, `ATTACH` and extensions are off"
                    .to_owned()
            }
            Self::TooSlow => "narrow it, for instance by `WHERE started_at > …`".to_owned(),
            Self::TooLarge => "select fewer columns, or add `LIMIT`".to_owned(),
        }
    }
}

/// Whether it is about what was typed.
fn is_of_query(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqlInputError { .. })
        || error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("the query cannot be read"),
            Self::Root(error) => error.fmt(f),
            Self::Database(rusqlite::Error::SqlInputError { msg, .. }) => write!(f, "{msg}"),
            Self::Database(error) => error.fmt(f),
            Self::Several => f.write_str("the query has several statements"),
            Self::NotARead => f.write_str("the query does not only read"),
            Self::TooSlow => {
                write!(f, "the query timed out after {} s", query::MOST_TIME.as_secs())
            }
            Self::TooLarge => {
                write!(f, "the query needs more than {} MB", query::MOST_BYTES / 1_000_000)
            }
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<RootError> for Error {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}
