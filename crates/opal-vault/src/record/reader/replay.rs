//! A record, played again: its events and what its steps printed, in the order in which they came.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use opal_core::resource::Status;
use opal_core::stream::Stream;
use serde_json::Value;

use super::{Events, Printed, Unreadable};
use crate::Shown;
use crate::event::{End, Event, Finished, Kind, Started};
use crate::verification::ShownDetails;
use crate::witness::Recorder;

/// Gives a recorder what happened to the steps of a run. What it refuses is passed over. Announced
/// attempts and messages are omitted: they say nothing about a step that its end does not.
pub fn replay(folder: &Path, to: &dyn Recorder) -> Result<(), Unreadable> {
    let mut files = BTreeMap::new();
    for event in Events::open(folder)? {
        if let Some(printed @ Printed::File { .. }) = Printed::of(&event?, folder) {
            files.insert(printed.number(), printed);
        }
    }
    let own: Vec<u64> = files.keys().copied().collect();
    for event in Events::open(folder)? {
        let event = event?;
        match Printed::of(&event, folder) {
            // Its file has it too.
            Some(printed) if own.contains(&printed.number()) => {}
            Some(printed) => print(printed, to)?,
            None => {
                let number = event["number"].as_u64().filter(|_| event["kind"] == "step_finished");
                if let Some(printed) = number.and_then(|number| files.remove(&number)) {
                    print(printed, to)?;
                }
                if let Some(event) = read(&event) {
                    let _ = to.event(&event);
                }
            }
        }
    }
    // Of steps that have not finished.
    files.into_values().try_for_each(|printed| print(printed, to))
}

fn print(printed: Printed, to: &dyn Recorder) -> Result<(), Unreadable> {
    let number = printed.number();
    let mut bytes = Vec::new();
    let mut from = printed.read()?;
    // Outputs are bounded when they are written.
    if from.read_to_end(&mut bytes).is_ok() {
        let _ = to.output(number, Stream::Stdout, &Shown::vouch(bytes));
    }
    Ok(())
}

/// The event that a line is about; none where it is about none of a step.
fn read(event: &Value) -> Option<Event<'_>> {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let shown = |name: &str| event[name].as_str().map(|text| Shown::vouch(text.as_bytes()));
    let number = || event["number"].as_u64();
    let attempt = u32::try_from(event["attempt"].as_u64().unwrap_or(1)).unwrap_or(u32::MAX);
    let code = i32::try_from(event["code"].as_i64().unwrap_or_default()).unwrap_or(1);
    let is_block = event["block"].as_bool().unwrap_or(false);
    let (path, decorator) = (text("path"), text("decorator"));
    let kind = match text("kind") {
        "step_started" => Kind::Started(Started {
            number: number()?,
            path,
            decorator,
            attempt,
            text: shown("text").unwrap_or(Shown::words("")),
            is_block,
            speaks: false,
            branch: None,
        }),
        "step_finished" => Kind::Finished(Finished {
            number: number()?,
            path,
            decorator,
            attempt,
            took: millis(&event["took_ms"]),
            code,
            end: end(text("end"))?,
            is_block,
            passes_on: false,
            is_own_limit: event["own_limit"].as_bool().unwrap_or(false),
            late: None,
            message: shown("message"),
        }),
        "step_skipped" => Kind::Skipped { path, decorator, why: shown("why") },
        "step_caught" => Kind::Caught { path, code, late: None },
        "step_verified" => Kind::Verified {
            path,
            status: Status::named(text("status"))?,
            message: shown("message")?,
            details: event["details"].as_str().map(ShownDetails::recorded),
        },
        "fleet_started" => {
            let names = event["names"].as_array().into_iter().flatten();
            Kind::Fleet { path, names: names.filter_map(Value::as_str).map(Into::into).collect() }
        }
        "targets" => {
            let rows = event["rows"].as_array().into_iter().flatten();
            Kind::Targets { path, rows: rows.filter_map(super::fleets::row).collect() }
        }
        "branches" => {
            let number = |name: &str| event[name].as_u64().and_then(|it| it.try_into().ok());
            Kind::Branches { path, count: number("count")?, most: number("most")? }
        }
        "step_undone" => Kind::Undone { path, was: end(text("was"))?, message: shown("message")? },
        _ => return None,
    };
    let at = time(text("at")).unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Event { at, target: event["target"].as_str().map(Into::into), alike: None, kind })
}

fn end(name: &str) -> Option<End> {
    let all = [End::Done, End::Satisfied, End::Failed, End::TimedOut, End::Stopped];
    all.into_iter().find(|end| end.name() == name)
}

fn millis(value: &Value) -> Duration {
    Duration::try_from_secs_f64(value.as_f64().unwrap_or_default() / 1_000.0).unwrap_or_default()
}

/// A time as records have it.
pub(super) fn time(text: &str) -> Option<SystemTime> {
    text.parse::<jiff::Timestamp>().ok().map(SystemTime::from)
}
