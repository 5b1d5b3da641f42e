//! Names and values: those of OpenTelemetry's conventions for CI/CD, and opal's own.

use opal_vault::event::{End, Status};
use opal_vault::record::reader::{Run, State};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

pub(super) const PIPELINE: &str = "cicd.pipeline.name";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const TARGET: &str = "opal.target";

/// Bytes of a text.
const MOST_TEXT: usize = 1024;

/// A text, cut where it is long.
pub(super) fn cut(text: &str) -> String {
    const MARK: &str = "…";
    if text.len() <= MOST_TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_TEXT - MARK.len());
    format!("{}{MARK}", &text[..end])
}

fn pair(key: &str, value: Any) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

pub(super) fn text(key: &str, text: &str) -> KeyValue {
    pair(key, Any::StringValue(cut(text)))
}

/// None where there is none.
pub(super) fn maybe(key: &str, value: Option<&str>) -> Option<KeyValue> {
    value.filter(|value| !value.is_empty()).map(|value| text(key, value))
}

pub(super) fn number(key: &str, number: i64) -> KeyValue {
    pair(key, Any::IntValue(number))
}

/// Only where it is so.
pub(super) fn flag(key: &str, holds: bool) -> Option<KeyValue> {
    holds.then(|| pair(key, Any::BoolValue(true)))
}

/// Who says it.
pub(super) fn resource(run: &Run) -> Resource {
    let mut attributes = vec![text("service.name", "opal")];
    attributes.extend(maybe("service.version", run.text("opal")));
    attributes.extend(maybe("host.name", run.text("host")));
    Resource { attributes, ..Resource::default() }
}

pub(super) fn scope(run: &Run) -> InstrumentationScope {
    let version = cut(run.text("opal").unwrap_or_default());
    InstrumentationScope { name: "opal".to_owned(), version, ..InstrumentationScope::default() }
}

/// How something ended, in the words of the conventions, with the class of its error where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Result {
    pub(super) name: &'static str,
    pub(super) error: Option<String>,
}

impl Result {
    const fn good(name: &'static str) -> Self {
        Self { name, error: None }
    }

    fn bad(name: &'static str, error: impl Into<String>) -> Self {
        Self { name, error: Some(error.into()) }
    }

    pub(super) fn of_run(run: &Run) -> Self {
        let code = run.get("code").and_then(serde_json::Value::as_i64).unwrap_or(1);
        match run.state {
            State::Ended(Status::Executed | Status::Drifted) => Self::good("success"),
            State::Ended(Status::Refused) => Self::good("skip"),
            State::Ended(Status::Failed) if code == 124 => Self::bad("timeout", "timeout"),
            State::Ended(Status::Failed) => Self::bad("failure", code.to_string()),
            State::Ended(Status::Interrupted) => Self::bad("cancellation", "interrupted"),
            State::Ended(Status::Crashed) => Self::bad("error", "crashed"),
            State::Running => Self::good("success"),
        }
    }

    /// Of a step; `end` is none where nobody wrote how it ended.
    pub(super) fn of_step(end: Option<&str>, code: i64) -> Self {
        match end {
            Some(end) if end == End::TimedOut.name() => Self::bad("timeout", "timeout"),
            Some(end) if end == End::Failed.name() => Self::bad("failure", code.to_string()),
            Some(end) if end == End::Stopped.name() => Self::bad("cancellation", "stopped"),
            Some(_) => Self::good("success"),
            None => Self::bad("error", "unfinished"),
        }
    }
}
