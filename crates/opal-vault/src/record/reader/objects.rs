//! What decorators of packages opened in a run and did not close, and what they acted on.

use std::path::Path;

use serde_json::Value;

use super::super::line::objects::{INTENDED, MADE};
use super::{Events, Unreadable};
use crate::Shown;
use crate::event::Opened;

/// What was opened and not closed, in the order of the record.
pub fn unclosed(folder: &Path) -> Result<Vec<Opened>, Unreadable> {
    let mut open: Vec<Opened> = Vec::new();
    for event in Events::open(folder)? {
        let event = event?;
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("kind") {
            "object_opened" => open.push(Opened {
                id: text("id").into(),
                plugin: text("plugin").into(),
                version: text("version").into(),
                decorator: text("decorator").into(),
                token: Shown::vouch(text("token").as_bytes()).into_owned(),
                is_kept: event["kept"].as_bool().unwrap_or_default(),
                target: event["target"].as_str().map(Into::into),
            }),
            "object_closed" => open.retain(|it| *it.id != *text("id")),
            _ => {}
        }
    }
    Ok(open)
}

/// The objects of the world that steps acted on, as the record has them. One that a step was about to act
/// on is among them where the record ends before it says how that went.
pub fn objects(folder: &Path) -> Result<Vec<Value>, Unreadable> {
    let mut all: Vec<Value> = Vec::new();
    for event in Events::open(folder)? {
        let event = event?;
        let kind = event.get("kind").and_then(Value::as_str).unwrap_or_default();
        let is_same = |it: &Value| it["path"] == event["path"] && it["target"] == event["target"];
        match kind {
            INTENDED | MADE | "step_finished" => {
                all.retain(|it| it["kind"] != INTENDED || !is_same(it));
            }
            _ => {}
        }
        let is_named = kind == MADE && event.get("identity").is_some();
        if kind == INTENDED || is_named {
            all.push(event);
        }
    }
    Ok(all)
}
