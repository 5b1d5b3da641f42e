//! One POST for each signal, at the same time. Nothing is followed, and nothing is tried again.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::pages::AUTHORITIES;
use opal_http::Exchanger;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message as _;

use super::endpoint::{Endpoint, MOST_TIME, Signal};
use super::{Error, Variables};

/// What the client needs to say itself that it was too slow.
const SLACK: Duration = Duration::from_millis(500);

/// What was accepted.
pub(super) struct Signals {
    /// The server of the traces.
    pub(super) to: String,
    /// False where the server has no place for metrics.
    pub(super) takes_metrics: bool,
}

pub(super) fn send(both: [(Endpoint, Vec<u8>); 2], variables: Variables) -> Result<Signals, Error> {
    let (done, answers) = mpsc::channel();
    let until = Instant::now() + MOST_TIME + SLACK;
    let to = server(both[0].0.url.expose()).to_owned();
    for (endpoint, body) in both {
        let (done, variables) = (done.clone(), variables.clone());
        // Nobody waits for one that is late: it ends with this process.
        thread::spawn(move || {
            let signal = endpoint.signal;
            let _ = done.send((signal, post(&endpoint, &body, &variables)));
        });
    }
    let (mut first, mut takes_metrics) = (None, true);
    for _ in 0..2 {
        let left = until.saturating_duration_since(Instant::now());
        let (signal, answer) = answers.recv_timeout(left).map_err(|_| Error::TooSlow)?;
        match answer {
            Ok(()) => {}
            // Servers for traces only are common.
            Err(Error::Status { signal: Signal::Metrics, status: 404, .. }) => {
                takes_metrics = false;
            }
            Err(error) if signal == Signal::Traces || first.is_none() => first = Some(error),
            Err(_) => {}
        }
    }
    first.map_or(Ok(Signals { to, takes_metrics }), Err)
}

fn post(endpoint: &Endpoint, body: &[u8], variables: &Variables) -> Result<(), Error> {
    let signal = endpoint.signal;
    let variable = |name: &str| match name {
        AUTHORITIES => endpoint.authorities.as_ref().map(Secret::expose),
        name => variables.get(name).map(Secret::expose),
    };
    let answer = Exchanger::default()
        .post(&endpoint.url, &endpoint.headers, body, endpoint.timeout, &variable)
        .map_err(|trouble| Error::Server(signal, trouble))?;
    let server = || server(endpoint.url.expose()).to_owned();
    if !(200..300).contains(&answer.status) {
        return Err(Error::Status { signal, server: server(), status: answer.status });
    }
    match rejected(signal, &answer.body) {
        0 => Ok(()),
        count => Err(Error::Rejected { signal, server: server(), count }),
    }
}

/// How many spans or data points the server has not taken. Its words about it stay unread, and so does a body of
/// another form: the status counts.
fn rejected(signal: Signal, body: &[u8]) -> i64 {
    match signal {
        Signal::Traces => {
            let answer = ExportTraceServiceResponse::decode(body).unwrap_or_default();
            answer.partial_success.map_or(0, |partial| partial.rejected_spans)
        }
        Signal::Metrics => {
            let answer = ExportMetricsServiceResponse::decode(body).unwrap_or_default();
            answer.partial_success.map_or(0, |partial| partial.rejected_data_points)
        }
    }
}

/// The server and its port, without a user and a password, and without the path.
fn server(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_without_who_asks_it() {
        for (url, name) in [
            ("http://localhost:4318/v1/traces", "localhost:4318"),
            ("https://user:canary@otlp.example/v1?token=canary", "otlp.example"),
            ("https://a@b@[::1]:4318", "[::1]:4318"),
        ] {
            assert_eq!(server(url), name);
        }
    }
}
