//! `opal runs export`: runs as JSON Lines, each exactly once; with `--otlp` one run as telemetry.
//!
//! The cursor says which runs an export has had: all that sort up to one of them, without those that were still
//! going on, and some that are newer. A run gets its name when it starts and its record a moment later, so the
//! newest runs are named one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::ArgMatches;
use opal_vault::record::reader::{self, Found, Row, State};
use opal_vault::record::{RunId, pruned};
use opal_vault::root::Root;
use serde_json::{Value, json};

use super::filter::moment;
use super::stored::{found, load};
use crate::clock;
use crate::context::Context;
use crate::failure::record::root_failure;
use crate::failure::{Exit, Failure};
use crate::telemetry::Telemetry;
use crate::view;
use crate::view::runs::Page;

/// No record appears later than this after the name of its run was made.
const SETTLED: Duration = Duration::from_secs(600);

/// The form of a cursor.
const VERSION: &str = "1";

pub(super) fn run(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match matches.get_one::<String>("run") {
        Some(name) => send(context, root, name, matches),
        None => lines(root, matches),
    }
}

/// Sends a run again, or one of which nothing was sent.
fn send(
    context: &Context<'_>,
    root: &Root,
    name: &str,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let run = load(root, name, &context.opal_runs(matches.get_one("root")))?;
    if run.state == State::Running {
        let message = format!("the run `{}` has not ended", run.id);
        return Err(Failure::usage(message, "wait for its end: `opal runs tail`"));
    }
    let sent = Telemetry::read().send(&run.folder)?;
    view::telemetry::sent(run.id.as_str(), &sent)
}

fn lines(root: &Root, matches: &ArgMatches) -> Result<Exit, Failure> {
    let since = matches.get_one::<String>("since").map(|text| Since::parse(text)).transpose()?;
    let since = since.unwrap_or_default();
    let mut page = Page::default();
    let mut cursor = Cursor::begin();
    let mut runs = found(root)?;
    runs.reverse();
    let there: BTreeSet<&RunId> = runs.iter().map(|found| &found.id).collect();
    // A run that was pruned in the meantime has a line; the last one counts.
    let mut gone: BTreeMap<RunId, Row> = BTreeMap::new();
    for row in pruned::read(root, 0).map_err(root_failure)?.runs {
        let id = row.get("id").and_then(Value::as_str).and_then(|id| id.parse::<RunId>().ok());
        if let Some(id) = id.filter(|id| !there.contains(id)) {
            gone.insert(id, row);
        }
    }
    for (id, mut row) in gone {
        if since.wants(&id, &row) {
            row.insert("pruned".to_owned(), true.into());
            line(&mut page, "run", row)?;
        }
        cursor.had(&id);
    }
    for found in &runs {
        export(&mut page, &mut cursor, &since, found)?;
    }
    page.json(&json!({"cursor": cursor.text(), "kind": "cursor", "version": 1}))?;
    page.end()
}

fn export(
    page: &mut Page,
    cursor: &mut Cursor,
    since: &Since,
    found: &Found,
) -> Result<(), Failure> {
    if since.has_had(&found.id) {
        cursor.had(&found.id);
        return Ok(());
    }
    let rows = reader::rows(found);
    if rows.run.get("status").is_some_and(|status| status == "running") {
        cursor.open(&found.id);
        return Ok(());
    }
    cursor.had(&found.id);
    if !since.wants(&found.id, &rows.run) {
        return Ok(());
    }
    line(page, "run", rows.run)?;
    rows.steps.into_iter().try_for_each(|row| line(page, "step", row))?;
    rows.verifications.into_iter().try_for_each(|row| line(page, "verification", row))?;
    rows.approvals.into_iter().try_for_each(|row| line(page, "approval", row))
}

fn line(page: &mut Page, kind: &str, mut row: Row) -> Result<(), Failure> {
    // Databases cannot store it.
    for text in row.values_mut() {
        if let Value::String(text) = text
            && text.contains('\0')
        {
            *text = text.replace('\0', "\u{2400}");
        }
    }
    row.insert("kind".to_owned(), kind.into());
    row.insert("version".to_owned(), 1.into());
    page.json(&Value::Object(row))
}

/// What an earlier export has had.
#[derive(Debug, Default)]
struct Since {
    /// Runs that started before are not exported, whoever has had them.
    moment: Option<String>,
    cursor: Cursor,
}

impl Since {
    fn parse(text: &str) -> Result<Self, Failure> {
        if let Some(cursor) = Cursor::parse(text) {
            return Ok(Self { moment: None, cursor });
        }
        Ok(Self { moment: Some(moment("--since", text)?), cursor: Cursor::default() })
    }

    fn has_had(&self, id: &RunId) -> bool {
        let Cursor { up_to, open, newer } = &self.cursor;
        newer.contains(id) || up_to.as_ref().is_some_and(|last| id <= last) && !open.contains(id)
    }

    fn wants(&self, id: &RunId, run: &Row) -> bool {
        let started = run.get("started_at").and_then(Value::as_str).unwrap_or_default();
        !self.has_had(id) && self.moment.as_deref().is_none_or(|moment| started >= moment)
    }
}

/// `1/RUN/RUN,RUN/RUN`: up to which run all were had, which of those went on, and which newer ones were had.
#[derive(Debug, Default)]
struct Cursor {
    up_to: Option<RunId>,
    open: BTreeSet<RunId>,
    newer: BTreeSet<RunId>,
}

impl Cursor {
    fn begin() -> Self {
        let up_to = clock::now().checked_sub(SETTLED).map(|then| RunId::new(then, [0; 4]));
        Self { up_to, ..Self::default() }
    }

    fn is_newer(&self, id: &RunId) -> bool {
        self.up_to.as_ref().is_none_or(|last| id > last)
    }

    fn had(&mut self, id: &RunId) {
        if self.is_newer(id) {
            self.newer.insert(id.clone());
        }
    }

    fn open(&mut self, id: &RunId) {
        if !self.is_newer(id) {
            self.open.insert(id.clone());
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let [VERSION, up_to, open, newer] = parts[..] else { return None };
        let ids = |text: &str| {
            let ids = text.split(',').filter(|id| !id.is_empty());
            ids.map(|id| id.parse().ok()).collect::<Option<BTreeSet<RunId>>>()
        };
        let up_to = if up_to.is_empty() { None } else { Some(up_to.parse().ok()?) };
        Some(Self { up_to, open: ids(open)?, newer: ids(newer)? })
    }

    fn text(&self) -> String {
        let ids =
            |ids: &BTreeSet<RunId>| ids.iter().map(RunId::as_str).collect::<Vec<_>>().join(",");
        let up_to = self.up_to.as_ref().map_or("", RunId::as_str);
        format!("{VERSION}/{up_to}/{}/{}", ids(&self.open), ids(&self.newer))
    }
}
