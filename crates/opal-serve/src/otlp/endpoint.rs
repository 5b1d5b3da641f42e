//! Where telemetry goes: `OTEL_EXPORTER_OTLP_*`, as the specification of OTLP exporters reads them.

use std::fmt;
use std::time::Duration;

use opal_core::Secret;
use opal_core::pages::AUTHORITIES;
use opal_core::percent;

use super::{Error, Variables};

/// For each request, whatever the variables say: a run must not wait for longer.
pub(super) const MOST_TIME: Duration = Duration::from_secs(2);

const PREFIX: &str = "OTEL_EXPORTER_OTLP_";
const USUAL: &str = "http://localhost:4318";

/// Headers that are sent.
const MOST_HEADERS: usize = 64;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    /// In the names of variables.
    const fn name(self) -> &'static str {
        match self {
            Self::Traces => "TRACES_",
            Self::Metrics => "METRICS_",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Traces => "v1/traces",
            Self::Metrics => "v1/metrics",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
        })
    }
}

/// Where one signal goes, and how.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) signal: Signal,
    pub(super) url: Secret,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) timeout: Duration,
    /// A file with the authorities that count.
    pub(super) authorities: Option<Secret>,
}

/// A variable that is set to something: that of the signal before the general one.
fn setting<'v>(
    signal: Signal,
    name: &str,
    variables: &'v Variables,
) -> Option<(String, &'v str, bool)> {
    [(signal.name(), true), ("", false)].into_iter().find_map(|(of, is_own)| {
        let name = format!("{PREFIX}{of}{name}");
        let value = variables.get(&name)?.expose().trim();
        (!value.is_empty()).then_some((name, value, is_own))
    })
}

impl Endpoint {
    pub(super) fn of(signal: Signal, variables: &Variables) -> Result<Self, Error> {
        let get = |name| setting(signal, name, variables);
        if let Some((name, value, _)) = get("PROTOCOL")
            && value != "http/protobuf"
        {
            return Err(Error::Protocol(name));
        }
        let url = match get("ENDPOINT") {
            // As it is.
            Some((name, url, true)) => checked(name, url)?.to_owned(),
            Some((name, url, false)) => {
                format!("{}/{}", checked(name, url)?.trim_end_matches('/'), signal.path())
            }
            None => format!("{USUAL}/{}", signal.path()),
        };
        let headers = get("HEADERS").map(|(name, value, _)| headers(name, value)).transpose()?;
        let timeout = get("TIMEOUT").and_then(|(_, value, _)| value.parse().ok());
        let timeout = timeout.map_or(MOST_TIME, Duration::from_millis).min(MOST_TIME);
        // Zero would be no limit.
        let timeout = if timeout.is_zero() { MOST_TIME } else { timeout };
        let own = variables.get(AUTHORITIES).map(Secret::expose);
        let authorities = get("CERTIFICATE").map(|(_, file, _)| file).or(own).map(Secret::new);
        let mut all = vec![("content-type".to_owned(), Secret::new("application/x-protobuf"))];
        all.extend(headers.unwrap_or_default());
        Ok(Self { signal, url: Secret::new(url), headers: all, timeout, authorities })
    }
}

fn checked(name: String, url: &str) -> Result<&str, Error> {
    match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(url),
        false => Err(Error::Variable {
            name,
            form: "write it like `http://localhost:4318` or `https://otlp.example.com`",
        }),
    }
}

/// `name=value,name=value`, with `%20` for a blank.
fn headers(variable: String, text: &str) -> Result<Vec<(String, Secret)>, Error> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let header = part.split_once('=').and_then(|(name, value)| {
            let (name, value) = (name.trim(), percent::decoded(value.trim()));
            let is_token =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte);
            let is_text = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
            let is_fine = !name.is_empty()
                && name.bytes().all(is_token)
                && value.bytes().all(is_text)
                && all.len() < MOST_HEADERS;
            is_fine.then(|| (name.to_ascii_lowercase(), Secret::new(value)))
        });
        let Some(header) = header else {
            return Err(Error::Variable {
                name: variable,
                form: "write it as `name=value,name=value`, with `%20` for a blank in a value",
            });
        };
        // Ours is what the body is.
        if header.0 != "content-type" {
            all.push(header);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(signal: Signal, set: &[(&str, &str)]) -> Result<Endpoint, Error> {
        let variables =
            set.iter().map(|(name, value)| (format!("{PREFIX}{name}"), Secret::new(*value)));
        Endpoint::of(signal, &variables.collect())
    }

    fn url(signal: Signal, set: &[(&str, &str)]) -> String {
        of(signal, set).unwrap().url.expose().to_owned()
    }

    #[test]
    fn the_address_of_a_signal_is_used_as_it_is_and_the_general_one_gets_a_path() {
        assert_eq!(url(Signal::Traces, &[]), "http://localhost:4318/v1/traces");
        let general = [("ENDPOINT", "https://otlp.example/api/")];
        assert_eq!(url(Signal::Metrics, &general), "https://otlp.example/api/v1/metrics");
        let both =
            [general[0], ("TRACES_ENDPOINT", "http://t.example/in/"), ("METRICS_ENDPOINT", " ")];
        assert_eq!(url(Signal::Traces, &both), "http://t.example/in/");
        assert_eq!(url(Signal::Metrics, &both), "https://otlp.example/api/v1/metrics");
    }

    #[test]
    fn the_time_limit_is_never_longer_than_two_seconds() {
        for (text, millis) in [("500", 500), ("10000", 2_000), ("0", 2_000), ("soon", 2_000)] {
            let found = of(Signal::Traces, &[("TIMEOUT", text)]).unwrap();
            assert_eq!(found.timeout.as_millis(), millis, "{text}");
        }
        let own = [("TIMEOUT", "100"), ("METRICS_TIMEOUT", "200")];
        assert_eq!(of(Signal::Metrics, &own).unwrap().timeout.as_millis(), 200);
    }

    #[test]
    fn headers_are_read_and_never_shown() {
        let set = [(
            "HEADERS",
            "Authorization=Bearer%20canary-1, x-tenant = a=b,,content-type=text/html",
        )];
        let found = of(Signal::Traces, &set).unwrap();
        let all: Vec<_> =
            found.headers.iter().map(|(name, it)| (name.as_str(), it.expose())).collect();
        let expected = [
            ("content-type", "application/x-protobuf"),
            ("authorization", "Bearer canary-1"),
            ("x-tenant", "a=b"),
        ];
        assert_eq!(all, expected);
        assert!(!format!("{found:?}").contains("canary"));
        for wrong in
            ["canary-1", "=canary-1", "a b=canary-1", "a=canary-1%0d%0ab", "a=b,canary-1\u{e9}=x"]
        {
            let error = of(Signal::Metrics, &[("METRICS_HEADERS", wrong)]).unwrap_err();
            let said = format!("{error} {} {error:?}", error.help());
            assert!(said.contains("OTEL_EXPORTER_OTLP_METRICS_HEADERS"), "{said}");
            assert!(!said.contains("canary"), "{said}");
        }
        let many = vec!["a=b"; MOST_HEADERS + 1].join(",");
        assert!(of(Signal::Traces, &[("HEADERS", &many)]).is_err());
    }

    #[test]
    fn another_protocol_or_address_is_named() {
        let error = of(Signal::Traces, &[("PROTOCOL", "grpc")]).unwrap_err();
        assert!(error.to_string().contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{error}");
        let own = [("PROTOCOL", "grpc"), ("TRACES_PROTOCOL", "http/protobuf")];
        assert!(of(Signal::Traces, &own).is_ok() && of(Signal::Metrics, &own).is_err());
        for wrong in ["localhost:4318", "unix:/run/otlp", "ftp://canary.example"] {
            let error = of(Signal::Traces, &[("ENDPOINT", wrong)]).unwrap_err();
            assert!(!format!("{error} {}", error.help()).contains("canary"), "{error}");
        }
    }
}
