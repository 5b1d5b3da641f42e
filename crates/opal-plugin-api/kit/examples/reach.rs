//! A guest of opal's own tests: it says where blocks run, well and badly.

use opal_plugin::actions::Acted;
use opal_plugin::boundaries::{Program, Ssh, Target, Transport};
use opal_plugin::states::{Finding, Status};
use opal_plugin::wrappers::Opened;
use opal_plugin::{
    Call, Error, ErrorKind, Outcome, Probe, Request, Stage, actions, boundaries, states, wrappers,
};

struct Plugin;

unsafe extern "C" {
    fn getentropy(bytes: *mut u8, count: usize) -> i32;
}

fn random() -> u128 {
    let mut bytes = [0_u8; 16];
    // SAFETY: it fills so many bytes.
    unsafe { getentropy(bytes.as_mut_ptr(), bytes.len()) };
    u128::from_le_bytes(bytes)
}

/// A text among the arguments. The tests give none with quotes.
fn argument(call: &Call, name: &str) -> Option<String> {
    let (_, rest) = call.args.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next().map(str::to_owned)
}

fn program(words: &str) -> Program {
    let mut words = words.split(' ').map(str::to_owned);
    Program { name: words.next().unwrap_or_default(), args: words.collect() }
}

/// `NAME ssh HOST PORT USER` or `NAME program WORDS…`.
fn target(call: &Call, line: &str) -> Result<Target, Error> {
    let mut words = line.splitn(3, ' ');
    let (name, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let rest = words.next().unwrap_or_default();
    let transport = match kind {
        "ssh" => {
            let mut words = rest.split(' ').map(str::to_owned);
            let host = words.next().unwrap_or_default();
            let port = words.next().and_then(|port| port.parse().ok());
            Transport::Ssh(Ssh { host, port, user: words.next() })
        }
        "program" => Transport::Program(program(rest)),
        _ => return Err(Error::new(ErrorKind::Invalid, "unknown kind of transport")),
    };
    Ok(Target {
        name: name.to_owned(),
        transport,
        interpreter: argument(call, "interpreter").map(|words| program(&words)),
        ready: argument(call, "ready").map(|words| program(&words)),
        ready_within: argument(call, "within").and_then(|it| it.parse().ok()).unwrap_or(0),
    })
}

/// The targets are in a file: one in a line.
impl boundaries::Guest for Plugin {
    fn targets(call: Call, probe: Probe) -> Result<Vec<Target>, Error> {
        let path = argument(&call, "from").unwrap_or_default();
        let text = String::from_utf8_lossy(&probe.read(&path)?).into_owned();
        text.lines().map(|line| target(&call, line)).collect()
    }
}

/// An object is a file.
impl states::Guest for Plugin {
    fn verify(call: Call, probe: Probe) -> Result<Finding, Error> {
        let path = argument(&call, "object").unwrap_or_default();
        let (status, message) = match probe.read(&path) {
            Ok(bytes) if bytes == b"foreign" => (Status::Drifted, "is of somebody else"),
            Ok(_) => (Status::Satisfied, "is there"),
            Err(error) if error.kind == ErrorKind::Missing => (Status::Missing, "is not there"),
            Err(error) => return Err(error),
        };
        let identity = Some(format!("object {path}"));
        Ok(Finding { status, message: message.to_owned(), details: None, identity })
    }
}

impl actions::Guest for Plugin {
    fn act(call: Call, probe: Probe, stage: Stage) -> Result<Acted, Error> {
        if call.decorator == "reach.give" {
            let output = call.text.unwrap_or_default();
            return Ok(Acted { output, identity: None, adopted: false });
        }
        if call.decorator == "reach.send" {
            let url = argument(&call, "from").unwrap_or_default();
            let (method, headers, body) = ("POST".to_owned(), Vec::new(), Vec::new());
            let answer = stage.send(&Request { method, url, headers, body })?;
            let output = format!("{{\"items\": [{{\"size\": {}}}]}}", answer.status);
            return Ok(Acted { output, identity: None, adopted: false });
        }
        if call.decorator == "reach.random" {
            let output = format!("{{\"items\": [{{\"name\": \"{:x}\"}}]}}", random());
            return Ok(Acted { output, identity: None, adopted: false });
        }
        let path = argument(&call, "object").unwrap_or_default();
        let adopted = probe.read(&path).is_ok();
        if !adopted {
            stage.write(&path, b"own", None)?;
        }
        let identity = Some(format!("object {path}"));
        Ok(Acted { output: "null".to_owned(), identity, adopted })
    }
}

impl wrappers::Guest for Plugin {
    fn begin(call: Call, probe: Probe, stage: Stage) -> Result<Opened, Error> {
        let token = argument(&call, "object").unwrap_or_default();
        stage.keep(&token)?;
        // Other targets than those of the plan.
        if let (Some(other), Some(from)) = (argument(&call, "then"), argument(&call, "from")) {
            let bytes = probe.read(&other)?;
            stage.write(&from, &bytes, None)?;
        }
        Ok(Opened { token, env: vec![("REACHED".to_owned(), "yes".to_owned())] })
    }

    fn end(_: Call, token: String, _: Outcome, stage: Stage) -> Result<(), Error> {
        stage.remove(&token)
    }
}

opal_plugin::actions::export_action!(Plugin with_types_in opal_plugin::actions);
opal_plugin::boundaries::export_boundary!(Plugin with_types_in opal_plugin::boundaries);
opal_plugin::states::export_state!(Plugin with_types_in opal_plugin::states);
opal_plugin::wrappers::export_wrapper!(Plugin with_types_in opal_plugin::wrappers);
