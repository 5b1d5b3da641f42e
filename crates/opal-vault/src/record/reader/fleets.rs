//! How the targets of fleets ended: as `targets.json` says, or the events of a run that has none.

use opal_core::gather::Gather as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::run::{malformed, read_object};
use super::{Events, Unread, Unreadable};
use crate::Shown;
use crate::record::TARGETS;
use crate::targets::{FleetTable, TargetEnd, TargetRow};

/// Bytes that the tables of a run may have.
const MAX_TABLE_BYTES: u64 = 256 * 1024 * 1024;

/// The tables of a run that has ended; none where it has no fleet.
pub fn tables(folder: &Path) -> Result<Vec<FleetTable>, Unreadable> {
    let path = folder.join(TARGETS);
    match read_object(&path, MAX_TABLE_BYTES) {
        Ok(document) => {
            let fleets = document.get("fleets").and_then(Value::as_array);
            let fleets = fleets.and_then(|all| all.iter().map(table).collect());
            fleets.ok_or_else(|| malformed(&path))
        }
        Err(Unreadable { why: Unread::Io(error), .. })
            if error.kind() == std::io::ErrorKind::NotFound =>
        {
            from_events(folder)
        }
        Err(error) => Err(error),
    }
}

fn table(value: &Value) -> Option<FleetTable> {
    let rows = value["targets"].as_array()?.iter().map(row).collect::<Option<_>>()?;
    Some(FleetTable { path: value["path"].as_str()?.into(), rows })
}

pub(super) fn row(value: &Value) -> Option<TargetRow> {
    let shown = |name: &str| value[name].as_str().map(|text| Shown::vouch(text.as_bytes()));
    let took = value["took_ms"].as_f64().map(|ms| ms / 1_000.0);
    Some(TargetRow {
        name: value["target"].as_str()?.into(),
        end: TargetEnd::named(value["status"].as_str()?)?,
        step: shown("step").map(Shown::into_owned),
        path: value["path"].as_str().map(Into::into),
        code: value["code"].as_i64().map(|code| i32::try_from(code).unwrap_or(1)),
        message: shown("message").map(Shown::into_owned),
        help: help(value),
        took: took.map(|took| Duration::try_from_secs_f64(took).unwrap_or_default()),
        is_earlier: value["earlier"].as_bool().unwrap_or_default(),
    })
}

fn help(row: &Value) -> Vec<Shown<'static>> {
    let texts = row["help"].as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| Shown::vouch(text.as_bytes()).into_owned()).collect()
}

/// The fleets of a run, as far as its events have come.
#[derive(Debug, Default)]
pub(super) struct Fleets {
    begun: Vec<Begun>,
}

#[derive(Debug)]
struct Begun {
    path: String,
    /// The target that the fleet itself is on, and a `/`.
    site: String,
    /// The places of its targets.
    members: BTreeMap<Arc<str>, usize>,
    names: Vec<Arc<str>>,
}

impl Fleets {
    /// Takes an event; says whether a fleet begins with it.
    pub(super) fn begins(&mut self, event: &Value) -> bool {
        if event["kind"] != "fleet_started" {
            return false;
        }
        let names = event["names"].as_array().into_iter().flatten();
        let names: Vec<Arc<str>> = names.filter_map(Value::as_str).map(Into::into).collect();
        let site = event["target"].as_str().map_or(String::new(), |site| format!("{site}/"));
        let path = event["path"].as_str().unwrap_or_default().to_owned();
        let members = names.iter().enumerate().map(|(at, name)| (Arc::clone(name), at)).gathered();
        // One that is tried again begins again.
        self.begun.retain(|fleet| fleet.path != path);
        self.begun.push(Begun { path, site, members, names });
        true
    }

    /// The fleet that a step is in, and the place of its target among the others.
    pub(super) fn place(&self, path: &str, target: Option<&str>) -> Option<(&str, usize)> {
        let target = target?;
        let is_around = |fleet: &&Begun| {
            path.strip_prefix(&*fleet.path).is_some_and(|rest| rest.starts_with('.'))
        };
        let fleet = self.begun.iter().find(is_around)?;
        let name = target.strip_prefix(&*fleet.site)?.split('/').next()?;
        Some((&fleet.path, *fleet.members.get(name)?))
    }
}

/// What a run has come to on each target that was killed before it could say so. What it was at then is
/// lost, as with a connection.
fn from_events(folder: &Path) -> Result<Vec<FleetTable>, Unreadable> {
    let mut fleets = Fleets::default();
    let mut tables: Vec<FleetTable> = Vec::new();
    for event in Events::open(folder)? {
        let event = event?;
        let path = event["path"].as_str().unwrap_or_default();
        if fleets.begins(&event) {
            let names = fleets.begun.last().map(|fleet| fleet.names.clone()).unwrap_or_default();
            let rows = names.into_iter().map(TargetRow::skipped).collect();
            tables.retain(|table| &*table.path != path);
            tables.push(FleetTable { path: path.into(), rows });
            continue;
        }
        let found = match event["kind"].as_str() {
            Some("targets") => {
                let rows = event["rows"].as_array().into_iter().flatten().filter_map(row);
                if let Some(table) = tables.iter_mut().find(|table| &*table.path == path) {
                    table.rows = rows.collect();
                }
                continue;
            }
            Some("target_finished") => row(&event["row"]).map(|row| (path, row)),
            Some("step_started" | "step_finished") => {
                let place = fleets.place(path, event["target"].as_str());
                place.and_then(|(fleet, place)| {
                    let table = tables.iter().find(|table| &*table.path == fleet)?;
                    Some((fleet, at(&event, table.rows.get(place)?)))
                })
            }
            _ => None,
        };
        let Some((fleet, row)) = found else { continue };
        let table = tables.iter_mut().find(|table| &*table.path == fleet);
        if let Some(known) =
            table.and_then(|table| table.rows.iter_mut().find(|known| known.name == row.name))
        {
            *known = row;
        }
    }
    Ok(tables)
}

/// A target after one of its steps has started or ended.
fn at(event: &Value, before: &TargetRow) -> TargetRow {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let mut row = TargetRow { end: TargetEnd::Lost, ..before.clone() };
    if event["block"] == true {
        return row;
    }
    if event["kind"] == "step_started" {
        row.path = Some(text("path").into());
        row.step = Some(Shown::vouch(text("text").into_bytes()));
    } else if matches!(event["end"].as_str(), Some("done" | "satisfied")) {
        (row.path, row.step) = (None, None);
    }
    row
}
