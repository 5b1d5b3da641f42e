//! Events as lines of JSON, with sorted keys.
//!
//! Lines are written by hand: thousands of steps a second should not each build a tree of maps.

pub(super) mod objects;

use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use crate::event::{Event, Finished, Kind, Started};
use crate::targets::TargetRow;
use base64ct::{Base64, Encoding as _};
use opal_core::stream::Stream;
use opal_core::view::visible;
use serde_json::Value;

/// One object on one line.
#[derive(Debug)]
pub(super) struct Line {
    text: String,
    /// The key that is last at each open level: keys must come sorted.
    last: Vec<&'static str>,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { text: String::from("{"), last: vec![""] }
    }

    fn key(&mut self, key: &'static str) {
        if let Some(last) = self.last.last_mut() {
            debug_assert!(*last < key, "`{key}` follows `{last}`");
            if !last.is_empty() {
                self.text.push(',');
            }
            *last = key;
        }
        self.raw(format_args!("\"{key}\":"));
    }

    fn raw(&mut self, what: fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(what);
    }

    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.key(key);
        string(&mut self.text, text);
    }

    pub(super) fn maybe(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    pub(super) fn number(&mut self, key: &'static str, number: impl fmt::Display) {
        self.key(key);
        self.raw(format_args!("{number}"));
    }

    /// Only where it is so.
    pub(super) fn flag(&mut self, key: &'static str, holds: bool) {
        if holds {
            self.key(key);
            self.text.push_str("true");
        }
    }

    /// RFC 3339 in UTC, to the microsecond.
    pub(super) fn time(&mut self, key: &'static str, at: SystemTime) {
        let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.key(key);
        self.raw(format_args!("\"{at:.6}\""));
    }

    pub(super) fn millis(&mut self, key: &'static str, took: Duration) {
        let micros = took.as_micros();
        self.key(key);
        self.raw(format_args!("{}.{:03}", micros / 1000, micros % 1000));
    }

    pub(super) fn object(&mut self, key: &'static str, inside: impl FnOnce(&mut Self)) {
        self.key(key);
        self.braced(inside);
    }

    pub(super) fn texts<'t>(&mut self, key: &'static str, texts: impl Iterator<Item = &'t str>) {
        self.key(key);
        self.text.push('[');
        for (index, text) in texts.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            string(&mut self.text, text);
        }
        self.text.push(']');
    }

    pub(super) fn list<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.key(key);
        self.text.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.braced(|line| each(line, item));
        }
        self.text.push(']');
    }

    /// Names that are not ours, in their order.
    pub(super) fn pairs<'p>(
        &mut self,
        key: &'static str,
        pairs: impl IntoIterator<Item = (&'p str, String)>,
    ) {
        self.key(key);
        self.text.push('{');
        for (index, (name, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            string(&mut self.text, name);
            self.text.push(':');
            string(&mut self.text, &value);
        }
        self.text.push('}');
    }

    fn braced(&mut self, inside: impl FnOnce(&mut Self)) {
        self.text.push('{');
        self.last.push("");
        inside(self);
        self.last.pop();
        self.text.push('}');
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        self.text.push_str("}\n");
        self.text.into_bytes()
    }
}

/// JSON text in which nothing acts on a terminal.
fn string(into: &mut String, text: &str) {
    into.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\') || visible::character(c) != c)
    {
        into.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(c) = rest.chars().next() else { break };
        match c {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\t' => into.push_str("\\t"),
            '\r' => into.push_str("\\r"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(into, "\\u{unit:04x}");
                }
            }
        }
        rest = &rest[c.len_utf8()..];
    }
    into.push_str(rest);
    into.push('"');
}

pub(super) fn event(event: &Event<'_>) -> Vec<u8> {
    let mut line = Line::new();
    line.time("at", event.at);
    let target = event.target.as_deref();
    match &event.kind {
        kind @ (Kind::Fleet { .. }
        | Kind::TargetEnded { .. }
        | Kind::Targets { .. }
        | Kind::Branches { .. }) => branches(&mut line, kind, target),
        Kind::Started(step) => started(&mut line, step, target),
        Kind::Finished(step) => finished(&mut line, step, target),
        Kind::Skipped { path, decorator, why } => {
            line.text("decorator", decorator);
            line.text("kind", "step_skipped");
            line.text("path", path);
            line.maybe("target", target);
            line.maybe("why", why.as_ref().map(|why| why.text()).as_deref());
        }
        Kind::Retrying { path, attempt, of, code, pause } => {
            line.number("attempt", attempt);
            line.number("code", code);
            line.text("kind", "step_retrying");
            line.number("of", of);
            line.text("path", path);
            line.millis("pause_ms", *pause);
            line.maybe("target", target);
        }
        Kind::Caught { path, code, .. } => {
            line.number("code", code);
            line.text("kind", "step_caught");
            line.text("path", path);
            line.maybe("target", target);
        }
        Kind::Log { path, level, message } => {
            line.text("kind", "log");
            line.text("level", level.name());
            line.text("message", &message.text());
            line.text("path", path);
            line.maybe("target", target);
        }
        kind @ (Kind::Opened { .. } | Kind::Closed { .. } | Kind::Object { .. }) => {
            objects::write(&mut line, kind, target);
        }
        Kind::CleaningUp { why } => {
            line.text("kind", "cleaning_up");
            line.text("why", why);
        }
        Kind::Verified { path, status, message, details } => {
            let details = details.as_ref().map(|details| details.text());
            line.maybe("details", details.as_deref());
            line.text("kind", "step_verified");
            line.text("message", &message.text());
            line.text("path", path);
            line.text("status", status.name());
            line.maybe("target", target);
        }
        Kind::Undone { path, was, message } => {
            line.text("kind", "step_undone");
            line.text("message", &message.text());
            line.text("path", path);
            line.maybe("target", target);
            line.text("was", was.name());
        }
    }
    line.end()
}

/// What happens to branches and targets as a whole.
fn branches(line: &mut Line, kind: &Kind<'_>, target: Option<&str>) {
    match kind {
        Kind::Fleet { path, names } => {
            line.text("kind", "fleet_started");
            line.texts("names", names.iter().map(|name| &**name));
            line.text("path", path);
        }
        Kind::TargetEnded { path, row: ended } => {
            line.text("kind", "target_finished");
            line.text("path", path);
            line.object("row", |line| row(line, ended));
        }
        Kind::Targets { path, rows } => {
            line.text("kind", "targets");
            line.text("path", path);
            line.list("rows", rows, row);
        }
        Kind::Branches { path, count, most } => {
            line.number("count", count);
            line.text("kind", "branches");
            line.number("most", most);
            line.text("path", path);
        }
        _ => {}
    }
    line.maybe("target", target);
}

/// How a target of a fleet ended.
pub(super) fn row(line: &mut Line, row: &TargetRow) {
    if let Some(code) = row.code {
        line.number("code", code);
    }
    line.flag("earlier", row.is_earlier);
    if !row.help.is_empty() {
        let help: Vec<_> = row.help.iter().map(|help| help.text()).collect();
        line.texts("help", help.iter().map(|help| &**help));
    }
    line.maybe("message", row.message.as_ref().map(|message| message.text()).as_deref());
    line.maybe("path", row.path.as_deref());
    line.text("status", row.end.name());
    line.maybe("step", row.step.as_ref().map(|step| step.text()).as_deref());
    line.text("target", &row.name);
    if let Some(took) = row.took {
        line.millis("took_ms", took);
    }
}

fn started(line: &mut Line, step: &Started<'_>, target: Option<&str>) {
    line.number("attempt", step.attempt);
    line.flag("block", step.is_block);
    line.text("decorator", step.decorator);
    line.text("kind", "step_started");
    line.number("number", step.number);
    line.text("path", step.path);
    line.maybe("target", target);
    line.text("text", &step.text.text());
}

fn finished(line: &mut Line, step: &Finished<'_>, target: Option<&str>) {
    line.number("attempt", step.attempt);
    line.flag("block", step.is_block);
    line.number("code", step.code);
    line.text("decorator", step.decorator);
    line.text("end", step.end.name());
    line.text("kind", "step_finished");
    line.maybe("message", step.message.as_ref().map(|message| message.text()).as_deref());
    line.number("number", step.number);
    if step.is_own_limit {
        line.flag("own_limit", true);
    }
    line.text("path", step.path);
    line.maybe("target", target);
    line.millis("took_ms", step.took);
}

/// Something that a step printed: as text where it is UTF-8.
pub(super) fn output(number: u64, stream: Stream, bytes: &[u8]) -> Vec<u8> {
    let mut line = Line::new();
    let text = std::str::from_utf8(bytes);
    if text.is_err() {
        line.text("base64", &Base64::encode_string(bytes));
    }
    line.text("kind", "output");
    line.number("number", number);
    line.text("stream", stream.name());
    line.maybe("text", text.ok());
    line.end()
}

/// Where the whole output of a step is, because there is much of it.
pub(super) fn output_file(number: u64, file: &str, left_out: u64) -> Vec<u8> {
    let mut line = Line::new();
    line.text("file", file);
    line.text("kind", "output");
    if left_out > 0 {
        line.number("left_out", left_out);
    }
    line.number("number", number);
    line.end()
}

/// An event that has been read, as it was written.
pub(super) fn value(value: &Value) -> Vec<u8> {
    let mut text = String::new();
    nested(&mut text, value);
    text.push('\n');
    text.into_bytes()
}

fn nested(into: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = write!(into, "{value}");
        }
        Value::String(text) => string(into, text),
        Value::Array(items) => {
            let mut before = '[';
            for item in items {
                into.push(std::mem::replace(&mut before, ','));
                nested(into, item);
            }
            into.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(map) => {
            let mut before = '{';
            for (key, item) in map {
                into.push(std::mem::replace(&mut before, ','));
                string(into, key);
                into.push(':');
                nested(into, item);
            }
            into.push_str(if map.is_empty() { "{}" } else { "}" });
        }
    }
}
