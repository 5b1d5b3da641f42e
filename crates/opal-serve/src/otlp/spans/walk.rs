//! The events of a run, one after the other.

use std::collections::BTreeMap;

use opal_vault::record::reader::Run;
use opal_vault::targets::TargetEnd;
use opal_vault::trace::Traced;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;

use super::super::attributes::{Result, TARGET, flag, maybe, number, text};
use super::{Reported, Spans};

/// How a step or an attempt ended.
const TASK_RESULT: &str = "cicd.pipeline.task.run.result";
const PIPELINE_RESULT: &str = "cicd.pipeline.result";

const RETRY: &str = "@retry";

/// A target, none on opal's machine, and a path.
type Key = (Option<String>, String);

/// A start of a step.
struct Begun {
    /// Of its span.
    at: usize,
    number: u64,
    path: String,
    is_retry: bool,
    is_open: bool,
    /// How many verifications it has had.
    verified: u64,
    /// The spans of its attempts, where it is a `@retry`.
    attempts: BTreeMap<u64, usize>,
}

/// What the events have reported so far.
pub(super) struct Walk<'r> {
    spans: Spans,
    run: &'r str,
    begun: Vec<Begun>,
    by_number: BTreeMap<u64, usize>,
    /// The last start of each.
    latest: BTreeMap<Key, usize>,
    errors: BTreeMap<(String, String), u64>,
    start: u64,
    last: u64,
}

/// Nanoseconds since 1970 of a time as records have it.
pub(super) fn nanos(time: &str) -> u64 {
    let time = time.parse::<jiff::Timestamp>().ok();
    time.and_then(|time| time.as_nanosecond().try_into().ok()).unwrap_or_default()
}

fn string<'e>(event: &'e Value, name: &str) -> &'e str {
    event[name].as_str().unwrap_or_default()
}

fn key(event: &Value) -> Key {
    (event["target"].as_str().map(str::to_owned), string(event, "path").to_owned())
}

impl<'r> Walk<'r> {
    pub(super) fn new(spans: Spans, start: u64, run: &'r str) -> Self {
        Self {
            spans,
            run,
            begun: Vec::new(),
            by_number: BTreeMap::new(),
            latest: BTreeMap::new(),
            errors: BTreeMap::new(),
            start,
            last: start,
        }
    }

    /// The span of the run, which is the first one.
    pub(super) fn run(&mut self, name: &str, attributes: Vec<KeyValue>) {
        let parent = self.spans.trace.parent().map(|parent| parent.span().to_vec());
        self.spans.begin(Traced::Run, None, name.to_owned(), self.start, attributes);
        if let Some(span) = self.spans.all.first_mut() {
            span.kind = SpanKind::Server as i32;
            span.parent_span_id = parent.unwrap_or_default();
        }
    }

    pub(super) fn event(&mut self, event: &Value) {
        if let Some(at) = event["at"].as_str() {
            self.last = self.last.max(nanos(at));
        }
        match event["kind"].as_str() {
            Some("step_started") => self.started(event),
            Some("step_finished") => self.finished(event),
            Some("step_retrying") => self.retrying(event),
            Some("step_verified") => self.verified(event),
            Some("step_undone") => self.undone(event),
            Some("target_finished") => self.target(&event["row"]),
            _ => {}
        }
    }

    /// Since when it runs, and until when: events have the time at which they were written.
    fn now(&self, event: &Value) -> u64 {
        event["at"].as_str().map_or(self.last, nanos)
    }

    /// The innermost block around a path that is open: on its own target before opal's machine.
    fn around(&self, (target, path): &Key) -> Option<usize> {
        let mut rest = path.as_str();
        while let Some((outer, _)) = rest.rsplit_once('.') {
            rest = outer;
            for target in [target.clone(), None] {
                let found = self.latest.get(&(target, outer.to_owned()));
                if let Some(&place) = found
                    && self.begun[place].is_open
                {
                    return Some(place);
                }
            }
        }
        None
    }

    fn started(&mut self, event: &Value) {
        let (key, start) = (key(event), self.now(event));
        let number = event["number"].as_u64().unwrap_or_default();
        let attempt = event["attempt"].as_u64().unwrap_or(1);
        let parent = match self.around(&key) {
            Some(place) if self.begun[place].is_retry => self.attempt(place, attempt, start),
            Some(place) => Some(self.begun[place].at),
            None => None,
        };
        let (target, path) = &key;
        let of = Traced::Step { path, attempt, number };
        let attributes = self.described(event, number, attempt, target.as_deref());
        let Some(at) = self.spans.begin(of, parent, path.clone(), start, attributes) else {
            return;
        };
        self.by_number.insert(number, self.begun.len());
        self.begun.push(Begun {
            at,
            number,
            path: path.clone(),
            is_retry: string(event, "decorator") == RETRY,
            is_open: true,
            verified: 0,
            attempts: BTreeMap::new(),
        });
        self.latest.insert(key, self.begun.len() - 1);
    }

    fn described(
        &self,
        event: &Value,
        number_of: u64,
        attempt: u64,
        target: Option<&str>,
    ) -> Vec<KeyValue> {
        let mut all = vec![
            text("cicd.pipeline.task.name", string(event, "path")),
            text("cicd.pipeline.task.run.id", &format!("{}#{number_of}", self.run)),
            text("opal.decorator", string(event, "decorator")),
        ];
        all.extend(maybe("opal.text", event["text"].as_str()));
        all.extend(flag("opal.block", event["block"] == true));
        all.extend(maybe(TARGET, target));
        if attempt > 1 {
            all.push(number("opal.attempt", i64::try_from(attempt).unwrap_or(i64::MAX)));
        }
        all
    }

    /// The span of an attempt of a `@retry`, which begins with its first step.
    fn attempt(&mut self, place: usize, attempt: u64, start: u64) -> Option<usize> {
        let retry = &self.begun[place];
        if let Some(at) = retry.attempts.get(&attempt) {
            return Some(*at);
        }
        let of = Traced::Attempt { path: &retry.path, attempt, number: retry.number };
        let name = format!("{} attempt {attempt}", retry.path);
        let count = i64::try_from(attempt).unwrap_or(i64::MAX);
        let attributes =
            vec![text("cicd.pipeline.task.name", &retry.path), number("opal.attempt", count)];
        let at = self.spans.begin(of, Some(retry.at), name, start, attributes)?;
        self.begun[place].attempts.insert(attempt, at);
        Some(at)
    }

    fn finished(&mut self, event: &Value) {
        let code = event["code"].as_i64().unwrap_or_default();
        let result = Result::of_step(event["end"].as_str(), code);
        if event["block"] != true
            && let Some(error) = &result.error
            && result.name != "cancellation"
        {
            self.failed(event["target"].as_str(), error);
        }
        let place = event["number"].as_u64().and_then(|number| self.by_number.get(&number));
        let Some(&place) = place else { return };
        let end = self.now(event);
        let begun = &mut self.begun[place];
        begun.is_open = false;
        // Of all attempts but the last one it was reported when they ended.
        let last = begun.attempts.pop_last();
        let message = event["message"].as_str();
        let at = begun.at;
        if let Some((_, attempt)) = last {
            self.spans.end(attempt, end, &result, TASK_RESULT, message);
        }
        self.spans.end(at, end, &result, TASK_RESULT, message);
        if let Some(span) = self.spans.all.get_mut(at) {
            span.attributes.push(text("opal.end", string(event, "end")));
            span.attributes.push(number("opal.code", code));
        }
    }

    fn failed(&mut self, target: Option<&str>, error: &str) {
        let key = (target.unwrap_or_default().to_owned(), error.to_owned());
        *self.errors.entry(key).or_default() += 1;
    }

    fn retrying(&mut self, event: &Value) {
        let attempt = event["attempt"].as_u64().unwrap_or(1);
        let place = self.latest.get(&key(event));
        let at = place.and_then(|&place| self.begun[place].attempts.get(&attempt));
        if let Some(&at) = at {
            let code = event["code"].as_i64().unwrap_or(1);
            let result = Result::of_step(Some("failed"), code);
            self.spans.end(at, self.now(event), &result, TASK_RESULT, None);
        }
    }

    /// The first verification of a step begins with it; of a later one only its end is known.
    fn verified(&mut self, event: &Value) {
        let end = self.now(event);
        let Some(&place) = self.latest.get(&key(event)) else { return };
        let begun = &mut self.begun[place];
        begun.verified += 1;
        let is_first = begun.verified == 1 && begun.is_open;
        let (at, index, number) = (begun.at, begun.verified, begun.number);
        let path = begun.path.clone();
        let begin = self.spans.all.get(at).map_or(end, |span| span.start_time_unix_nano);
        let start = if is_first { begin.min(end) } else { end };
        let mut attributes = vec![
            text("cicd.pipeline.task.name", &path),
            text("opal.verification", string(event, "status")),
        ];
        attributes.extend(maybe("opal.text", event["message"].as_str()));
        attributes.extend(maybe(TARGET, event["target"].as_str()));
        let of = Traced::Verification { path: &path, index, number };
        let span = self.spans.begin(of, Some(at), format!("verify {path}"), start, attributes);
        if let Some(span) = span.and_then(|span| self.spans.all.get_mut(span)) {
            span.end_time_unix_nano = end;
        }
    }

    /// At the end of the run, what the step had described is no longer so.
    fn undone(&mut self, event: &Value) {
        let result = Result::of_step(Some("failed"), 1);
        self.failed(event["target"].as_str(), "undone");
        let Some(&place) = self.latest.get(&key(event)) else { return };
        let at = self.begun[place].at;
        let end = self.spans.all.get(at).map_or(0, |span| span.end_time_unix_nano);
        self.spans.end(at, end, &result, TASK_RESULT, event["message"].as_str());
    }

    /// A target of a fleet that failed, and no step on it did: nobody reached it.
    fn target(&mut self, row: &Value) {
        let name = string(row, "target");
        let Some(end) = TargetEnd::named(string(row, "status")) else { return };
        let is_known = self.errors.keys().any(|(target, _)| target == name);
        if end.is_failure() && row["earlier"] != true && !is_known {
            self.failed(Some(name), end.name());
        }
    }

    /// What began and did not end ends with the run, or with the last that was written.
    pub(super) fn finish(mut self, run: Run, result: Result, end: u64) -> Reported {
        let end = if end == 0 { self.last } else { end }.max(self.start);
        let unfinished = Result::of_step(None, 0);
        for begun in &self.begun {
            if begun.is_open {
                let attempts = begun.attempts.values().next_back();
                for at in attempts.into_iter().chain([&begun.at]) {
                    self.spans.end(*at, end, &unfinished, TASK_RESULT, Some("not finished"));
                }
            }
        }
        let message = run.get("failed").and_then(|failed| failed["message"].as_str());
        self.spans.end(0, end, &result, PIPELINE_RESULT, message);
        if let (Some(span), true) = (self.spans.all.first_mut(), self.spans.dropped > 0) {
            let dropped = i64::try_from(self.spans.dropped).unwrap_or(i64::MAX);
            span.attributes.push(number("opal.spans.dropped", dropped));
        }
        if let (Some(error), true) = (&result.error, self.errors.is_empty()) {
            self.errors.insert((String::new(), error.clone()), 1);
        }
        let Self { spans, errors, start, .. } = self;
        Reported { run, result, spans: spans.all, errors, start, end }
    }
}
