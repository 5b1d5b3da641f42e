//! Blocks in SQL: `@psql`, `@mysql`, `@sqlite`.
//!
//! ```text
//! vars ──values──▶ prelude: sets variables of the client, encoded     ┐
//! text of the block, verbatim                                         ├─▶ standard input
//! password ──▶ a file of options in a pipe, by its descriptor ────────┴─▶ client
//! ```
//!
//! A value is encoded digit by digit, so none can end its literal. Nothing of it is in an argument, in
//! the environment or in a file: the shell writes it to a pipe itself (`feed`). The text is read only to
//! find variables in places where the client would paste them or leave them alone (`scan`, `rules`).

mod connection;
mod feed;
mod rules;
mod scan;
mod values;

use opal_core::Data;
use opal_core::Value;
use opal_core::action::{Command, Conditions, Halt, OutputOf, Stage};
use opal_core::decorator::{Param, Presence};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::types::{Type, TypeRef};

pub(super) use connection::{Connection, Place};
pub(super) use feed::Feed;
pub(super) use rules::Rules;
pub(super) use scan::Dialect;

const VALUES: &str = "vars";

pub(super) const VARS: Param = Param {
    name: VALUES,
    ty: Type::Map(TypeRef::Static(&Type::Any)),
    presence: Presence::Default(Value::Map(std::collections::BTreeMap::new())),
    docs: "values for the text: Strings, numbers and Bools, by name",
    ..Param::BASE
};

pub(super) const CONNECTION: Param = Param {
    name: "connection",
    pattern: Some(connection::PATTERN),
    presence: Presence::Default(Value::text("")),
    docs: "the server: `HOST`, `USER@HOST:PORT`, or the path of its socket; by default the one that the \
           client is configured for",
    ..Param::BASE
};

pub(super) const DATABASE: Param = Param {
    name: "database",
    pattern: Some(r"([A-Za-z0-9_][A-Za-z0-9_.$-]{0,62})?"),
    presence: Presence::Default(Value::text("")),
    docs: "the database; by default the one of the client",
    ..Param::BASE
};

pub(super) const PASSWORD: Param = Param {
    name: "password",
    presence: Presence::Optional,
    secret: true,
    docs: "the password, a secret value; by default the one that the client is configured for",
    ..Param::BASE
};

/// The client, with the name that it usually has.
pub(super) const fn program(name: &'static str) -> Param {
    Param {
        name: "program",
        pattern: Some(r"[^\s-]\S*"),
        presence: Presence::Default(Value::text(name)),
        docs: "the client: a name, or a path",
        ..Param::BASE
    }
}

/// What is given to a client: its variables, the text, and who it connects as.
pub(super) struct Work<'i> {
    pub(super) prelude: String,
    pub(super) text: &'i str,
    pub(super) program: &'i str,
    pub(super) connection: Connection,
    pub(super) database: &'i str,
    pub(super) password: Option<&'i str>,
}

impl<'i> Work<'i> {
    /// The rules hold for the values of the run, too: their types may not have been known before.
    pub(super) fn new(inputs: &'i Inputs, rules: &Rules) -> Result<Self, Trouble> {
        let text = inputs.block_text().unwrap_or_default();
        let none = std::collections::BTreeMap::new();
        let vars = match inputs.data(VALUES) {
            Some(Data::Map(vars)) => vars,
            _ => &none,
        };
        rules.check(text, vars)?;
        let written = inputs.text("connection").unwrap_or_default();
        let connection = Connection::parse(written).ok_or_else(|| {
            let message = format!("invalid connection `{written}`");
            invalid(message, "write `USER@HOST:PORT`, or the path of a socket")
        })?;
        Ok(Self {
            prelude: values::prelude(rules.dialect, vars)?,
            text,
            program: inputs.text("program").unwrap_or_default(),
            connection,
            database: inputs.text("database").unwrap_or_default(),
            password: inputs.text("password"),
        })
    }
}

pub(super) fn invalid(message: impl Into<String>, help: &str) -> Trouble {
    Trouble::new(TroubleKind::Invalid, message.into(), help.to_owned())
}

/// Runs the client. The first error of SQL ends it with an exit code.
pub(super) fn run(feed: Result<Feed, Trouble>, stage: &mut dyn Stage) -> Result<Data, Halt> {
    let script = feed.map_err(|trouble| stage.fail(1, trouble))?.script();
    let command = Command {
        script: &script,
        interpreter: None,
        under: Conditions::default(),
        output: OutputOf::Shown,
    };
    let completed = stage.command(&command)?;
    if completed.code == 0 { Ok(Data::Null) } else { Err(stage.exit(completed.code)) }
}
