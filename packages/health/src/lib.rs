//! `@health.http` is the state of a service that answers. To apply it is to wait for it.

use opal_package_common::Args;
use opal_plugin::actions::{self, Acted};
use opal_plugin::states::{self, Finding, Status};
use opal_plugin::{Call, Error, ErrorKind, Probe, Request, Response, Stage};

struct Plugin;

/// What an answer means.
enum Answer {
    Healthy,
    /// It answers otherwise.
    Other(String),
    Silent(String),
}

fn request(args: &Args<'_>) -> Request<'static> {
    let headers = vec![opal_package_common::header("User-Agent", "opal-package-health")];
    let (method, url) = ("GET".to_owned(), args.text("url").to_owned());
    Request { method, url, headers, body: Vec::new() }
}

fn judged(args: &Args<'_>, answer: Result<Response, Error>) -> Result<Answer, Error> {
    let url = args.text("url");
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind, ErrorKind::Failed | ErrorKind::TimedOut) => {
            return Ok(Answer::Silent(format!("`{url}` does not answer: {}", error.message)));
        }
        Err(error) => return Err(error),
    };
    let wanted = args.number("status").unwrap_or(200);
    if u64::from(answer.status) != wanted {
        return Ok(Answer::Other(format!("`{url}` answers {}, not {wanted}", answer.status)));
    }
    let (text, body) = (args.text("contains"), String::from_utf8_lossy(&answer.body));
    match body.contains(text) {
        true => Ok(Answer::Healthy),
        false => Ok(Answer::Other(format!("the answer of `{url}` does not contain `{text}`"))),
    }
}

/// `1m30s` in milliseconds.
fn milliseconds(text: &str) -> u32 {
    let mut rest = text;
    let mut all = 0_u64;
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0) {
        let number: u64 = rest[..end].parse().unwrap_or_default();
        rest = &rest[end..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let each = match &rest[..unit] {
            "ms" => 1,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => 1000,
        };
        all = all.saturating_add(number.saturating_mul(each));
        rest = &rest[unit..];
    }
    u32::try_from(all).unwrap_or(u32::MAX)
}

impl states::Guest for Plugin {
    fn verify(call: Call, probe: Probe) -> Result<Finding, Error> {
        let args = Args::of(&call);
        let url = args.text("url").to_owned();
        let (status, message) = match judged(&args, probe.fetch(&request(&args)))? {
            Answer::Healthy => (Status::Satisfied, format!("`{url}` answers as it should")),
            Answer::Other(message) => (Status::Drifted, message),
            Answer::Silent(message) => (Status::Missing, message),
        };
        Ok(Finding { status, message, details: None, identity: Some(url) })
    }
}

impl actions::Guest for Plugin {
    fn act(call: Call, _: Probe, stage: Stage) -> Result<Acted, Error> {
        let args = Args::of(&call);
        let attempts = args.number("attempts").unwrap_or(10).max(1);
        let delay = milliseconds(args.text("delay"));
        let mut last = String::new();
        for attempt in 1..=attempts {
            match judged(&args, stage.send(&request(&args)))? {
                Answer::Healthy => {
                    let identity = Some(args.text("url").to_owned());
                    return Ok(Acted { output: "null".to_owned(), identity, adopted: false });
                }
                Answer::Other(message) | Answer::Silent(message) => last = message,
            }
            if attempt < attempts {
                stage.pause(delay)?;
            }
        }
        let times = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
        let error = Error::new(ErrorKind::Failed, format!("{last} (asked {times})"));
        Err(error.help("check the service, or let it have more time: `attempts` and `delay`"))
    }
}

opal_plugin::states::export_state!(Plugin with_types_in opal_plugin::states);
opal_plugin::actions::export_action!(Plugin with_types_in opal_plugin::actions);
