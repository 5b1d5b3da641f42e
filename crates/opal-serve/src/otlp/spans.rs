//! From the events of a record to spans: one for the run, each block, step, attempt and verification.
//!
//! ```text
//! run ─┬─ block ─┬─ step ── verification
//!      │         └─ step
//!      └─ @retry ─┬─ attempt 1 ── step
//!                 └─ attempt 2 ── step
//! ```

mod walk;

use std::collections::BTreeMap;

use opal_vault::record::reader::{Events, Found, Run, Unreadable};
use opal_vault::trace::{Trace, TraceParent, Traced};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message as _;

use super::attributes::{
    ERROR_TYPE, PIPELINE, Result, cut, flag, maybe, number, resource, scope, text,
};
use walk::Walk;

/// Bytes of all spans: half of what a collector takes in one request.
const MOST_BYTES: usize = 8 << 20;

/// Events that are read of one record.
const MOST_EVENTS: usize = 4_000_000;

/// What a record tells.
pub(super) struct Reported {
    pub(super) run: Run,
    pub(super) result: Result,
    /// The first one is the run's own.
    pub(super) spans: Vec<Span>,
    /// Steps that failed, by target (empty: opal's machine) and by class of error.
    pub(super) errors: BTreeMap<(String, String), u64>,
    /// Nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Spans with their ids, as far as there is room.
struct Spans {
    trace: Trace,
    all: Vec<Span>,
    bytes: usize,
    dropped: u64,
}

impl Spans {
    /// Its place; none where there is no room.
    fn begin(
        &mut self,
        of: Traced<'_>,
        parent: Option<usize>,
        name: String,
        start: u64,
        attributes: Vec<KeyValue>,
    ) -> Option<usize> {
        let parent = self.all.get(parent.unwrap_or(0)).map(|span| span.span_id.clone());
        let span = Span {
            trace_id: self.trace.id().to_vec(),
            span_id: self.trace.span(of).to_vec(),
            parent_span_id: parent.unwrap_or_default(),
            name: cut(&name),
            kind: SpanKind::Internal as i32,
            start_time_unix_nano: start,
            end_time_unix_nano: start,
            attributes,
            ..Span::default()
        };
        // What its end adds is not counted: the limit leaves room for it.
        let bytes = self.bytes + span.encoded_len();
        if bytes > MOST_BYTES {
            self.dropped += 1;
            return None;
        }
        self.bytes = bytes;
        self.all.push(span);
        Some(self.all.len() - 1)
    }

    fn end(
        &mut self,
        at: usize,
        end: u64,
        result: &Result,
        attribute: &str,
        message: Option<&str>,
    ) {
        let Some(span) = self.all.get_mut(at) else { return };
        span.end_time_unix_nano = end.max(span.start_time_unix_nano);
        span.attributes.retain(|it| it.key != attribute && it.key != ERROR_TYPE);
        span.attributes.push(text(attribute, result.name));
        span.attributes.extend(maybe(ERROR_TYPE, result.error.as_deref()));
        span.status = result.error.as_ref().map(|error| Status {
            message: cut(message.unwrap_or(&said(error))),
            code: StatusCode::Error as i32,
        });
    }
}

/// A class of errors in words.
fn said(error: &str) -> String {
    match error.parse::<i64>() {
        Ok(code) => format!("exit code {code}"),
        Err(_) => error.to_owned(),
    }
}

/// The record of a run that has ended.
pub(super) fn read(found: &Found) -> std::result::Result<Reported, Unreadable> {
    let run = Run::load(found)?;
    let parent = run.text("traceparent").and_then(TraceParent::parse);
    let trace = Trace::new(&run.id, parent);
    let start = run.started_at().map_or(0, walk::nanos);
    let spans = Spans { trace, all: Vec::new(), bytes: 0, dropped: 0 };
    let id = run.id.clone();
    let mut walk = Walk::new(spans, start, id.as_str());
    walk.run(&format!("RUN {}", run.target()), described(&run));
    match Events::open(&found.folder) {
        Ok(events) => {
            for event in events.take(MOST_EVENTS) {
                walk.event(&event?);
            }
        }
        // A contract that was refused may have none.
        Err(error) if run.get("refused").is_none() => return Err(error),
        Err(_) => {}
    }
    let result = Result::of_run(&run);
    let end = run.text("finished_at").map_or(0, walk::nanos);
    Ok(walk.finish(run, result, end))
}

fn described(run: &Run) -> Vec<KeyValue> {
    let mut all = vec![
        text(PIPELINE, run.target()),
        text("cicd.pipeline.action.name", "RUN"),
        text("cicd.pipeline.run.id", run.id.as_str()),
        text("opal.status", run.state.name()),
    ];
    all.extend(maybe("vcs.ref.head.revision", run.text("commit")));
    all.extend(maybe("opal.plan_hash", run.text("plan_hash")));
    let contract = run.get("contract").and_then(|it| it.get("file_digest"));
    all.extend(maybe("opal.contract", contract.and_then(serde_json::Value::as_str)));
    all.extend(flag("opal.modified", run.get("modified") == Some(&true.into())));
    let code = run.get("code").and_then(serde_json::Value::as_i64);
    all.extend(code.map(|code| number("opal.code", code)));
    all
}

/// What is sent.
pub(super) fn message(reported: Reported) -> ExportTraceServiceRequest {
    let scope_spans = vec![ScopeSpans {
        scope: Some(scope(&reported.run)),
        spans: reported.spans,
        ..ScopeSpans::default()
    }];
    let resource = Some(resource(&reported.run));
    let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }
}

#[cfg(test)]
mod tests;
