//! Telemetry: a run as a trace and metrics, sent once by OTLP (`http/protobuf`).
//!
//! ```text
//! record ──read──▶ spans, errors ──▶ two Protobuf messages ──▶ one POST each, at the same time, 2 s
//! ```
//!
//! | what | where |
//! |---|---|
//! | which events become which spans | [`spans`] |
//! | durations and errors | [`metrics`] |
//! | names and values of attributes | [`attributes`] |
//! | where it goes, as `OTEL_EXPORTER_OTLP_*` say it | [`endpoint`] |
//! | sending | [`sending`] |
//!
//! Ids and bytes derive from the record, so what is sent twice is the same. Nothing here is tried again, and
//! no queue is kept: a run must not wait, and its record can be sent later.
//!
//! Deliberately not here: output of steps, and what is a secret. Records were scrubbed when they were written.

mod attributes;
mod endpoint;
mod metrics;
mod sending;
mod spans;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use opal_core::Secret;
use opal_core::resolver::Trouble;
use opal_helper::{Asking, Parcel};
use opal_vault::record::reader::{Found, Unreadable};
use prost::Message as _;
use serde_json::{Value, json};

use endpoint::{Endpoint, Signal};
use sending::Signals;

/// The part's name.
pub(crate) const PART: &str = "otlp";

/// The environment of opal, as far as it says where telemetry goes.
type Variables = BTreeMap<String, Secret>;

/// Sends what opal asks for.
pub(crate) fn serve() -> ExitCode {
    opal_helper::serve(answer)
}

/// `{"record", "variables"}`, with the values of the variables as parts.
fn answer(request: &Parcel, _: &mut Asking<'_>) -> Parcel {
    match send(request) {
        Ok(sent) => Parcel::new(sent),
        Err(error) => Parcel::new(json!({"error": error.to_string(), "help": error.help()})),
    }
}

fn send(request: &Parcel) -> Result<Value, Error> {
    let folder = request.head["record"].as_str().ok_or(Error::Request)?;
    let names = request.head["variables"].as_array().ok_or(Error::Request)?;
    let mut variables = Variables::new();
    for (index, name) in names.iter().enumerate() {
        let (Some(name), Some(value)) = (name.as_str(), request.text(index)) else {
            return Err(Error::Request);
        };
        variables.insert(name.to_owned(), Secret::new(value));
    }
    let traces = Endpoint::of(Signal::Traces, &variables)?;
    let metrics = Endpoint::of(Signal::Metrics, &variables)?;
    let name = Path::new(folder).file_name().and_then(|name| name.to_str());
    let id = name.and_then(|name| name.parse().ok()).ok_or(Error::Request)?;
    let found = Found { id, folder: folder.into() };
    let reported = spans::read(&found).map_err(Error::Record)?;
    let (points, measured) = metrics::of(&reported);
    let spans = reported.spans.len();
    let both =
        [(traces, spans::message(reported).encode_to_vec()), (metrics, measured.encode_to_vec())];
    let Signals { to, takes_metrics } = sending::send(both, variables)?;
    let points = if takes_metrics { points } else { 0 };
    Ok(json!({"spans": spans, "points": points, "to": to}))
}

/// Why something was not sent: all messages of this part. None of them has a value of a variable, nor text
/// of a server.
#[derive(Debug)]
pub(crate) enum Error {
    /// opal asked for something that is unknown here.
    Request,
    Record(Unreadable),
    /// A variable has another form.
    Variable {
        name: String,
        form: &'static str,
    },
    /// Another encoding is asked for.
    Protocol(String),
    Server(Signal, Trouble),
    Status {
        signal: Signal,
        server: String,
        status: u16,
    },
    /// The server has taken a part only.
    Rejected {
        signal: Signal,
        server: String,
        count: i64,
    },
    TooSlow,
}

impl Error {
    fn help(&self) -> String {
        match self {
            Self::Request => "try again; if it happens again, it is a bug of opal".to_owned(),
            Self::Record(_) => "see `opal runs show`".to_owned(),
            Self::Variable { form, .. } => (*form).to_owned(),
            Self::Protocol(name) => format!(
                "set `{name}=http/protobuf`; most collectors take it on port 4318, and gRPC on 4317"
            ),
            Self::Server(_, trouble) => {
                let all = trouble.help.iter().map(ToString::to_string);
                all.collect::<Vec<_>>().join("; ")
            }
            Self::Status { status: 401 | 403, .. } => {
                "name the headers that it needs in `OTEL_EXPORTER_OTLP_HEADERS`".to_owned()
            }
            Self::Status { status: 404 | 405, .. } => {
                "check `OTEL_EXPORTER_OTLP_ENDPOINT`: `/v1/traces` and `/v1/metrics` are added to it"
                    .to_owned()
            }
            Self::Status { status: 300..=399, .. } => {
                "redirections are not followed: name the last address in \
                 `OTEL_EXPORTER_OTLP_ENDPOINT`"
                    .to_owned()
            }
            Self::Status { .. } | Self::Rejected { .. } => {
                "read the log of the collector".to_owned()
            }
            Self::TooSlow => "check `OTEL_EXPORTER_OTLP_ENDPOINT` and the network".to_owned(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("the request cannot be read"),
            Self::Record(error) => error.fmt(f),
            Self::Variable { name, .. } => write!(f, "invalid `{name}`"),
            Self::Protocol(name) => {
                write!(f, "`{name}` is not `http/protobuf`, the protocol that opal sends")
            }
            Self::Server(signal, trouble) => write!(f, "{signal}: {}", trouble.message),
            Self::Status { signal, server, status } => {
                write!(f, "{signal}: `{server}` answered with status {status}")
            }
            Self::Rejected { signal, server, count } => {
                write!(f, "{signal}: `{server}` rejected {count} of them")
            }
            Self::TooSlow => {
                write!(f, "no answer within {} s", endpoint::MOST_TIME.as_secs())
            }
        }
    }
}
