//! What is checked after the tools of a run: the constraints on outputs, then the probes of the spec.
//!
//! Both are steps of the plan with evidence of their own. They get a [`Probe`], and so can only read.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use opal_core::Data;
use opal_core::message;
use opal_core::resolver::{Port, Probe, Request, Trouble, TroubleKind};
use serde_json::{Map, Value};

use super::{Command, Tool};
use crate::constraint::{self};
use crate::probe::{Part, ProbeKind, host_and_port};
use crate::{Spec, probe};

/// The label of the step that checks outputs.
pub(super) const OUTPUTS: &str = "check_outputs";

/// What begins the label of every probe.
const LABEL: &str = "probe_";

/// What a check ends with that was made, and does not hold.
pub const UNMET: i32 = 1;
/// What a check ends with that could not be made.
pub(super) const UNASKED: i32 = 3;

/// As much of a file or a page is searched for a text.
const MOST_BYTES: u64 = 8 << 20;

/// Why a probe does not pass, and the code that its step ends with.
#[derive(Debug)]
pub(super) struct Unmet {
    pub(super) code: i32,
    pub(super) trouble: Trouble,
}

/// A probe of the spec, with the inputs of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeStep {
    pub name: String,
    pub kind: ProbeKind,
    /// Texts and outputs.
    target: Vec<Part>,
    pub contains: Option<String>,
    pub attempts: u32,
    pub delay_s: u32,
    pub timeout_s: u32,
}

impl ProbeStep {
    #[must_use]
    pub fn label(&self) -> String {
        format!("{LABEL}{}", self.name)
    }

    /// What is probed, with outputs by their names.
    #[must_use]
    pub fn shown(&self) -> String {
        self.target.iter().map(ToString::to_string).collect()
    }

    pub(super) fn tool(&self) -> Tool {
        Tool::new(self.label(), &[self.kind.name(), &self.shown()])
    }

    /// Whether it passes now.
    pub(super) fn ask(&self, outputs: &Map<String, Value>, probe: &dyn Probe) -> Result<(), Unmet> {
        let target = self.filled(outputs).map_err(|trouble| Unmet { code: UNASKED, trouble })?;
        let timeout = Duration::from_secs(self.timeout_s.into());
        let asked = match self.kind {
            ProbeKind::Http => self.http(&target, timeout, probe),
            ProbeKind::Tcp => tcp(&target, timeout, probe),
            ProbeKind::File => self.file(&target, probe),
        };
        asked.map_err(|trouble| {
            let code = if trouble.kind == TroubleKind::Invalid { UNASKED } else { UNMET };
            Unmet { code, trouble: self.failed(trouble) }
        })
    }

    /// The target with what was put out. Part of it that is a secret would be in logs of others.
    fn filled(&self, outputs: &Map<String, Value>) -> Result<String, Trouble> {
        let mut filled = String::new();
        for part in &self.target {
            match part {
                // An input is a text since the plan was made.
                Part::Text(text) | Part::Input(text) => filled.push_str(text),
                Part::Output(name) => match outputs.get(name).and_then(word) {
                    Some(text) => filled.push_str(&text),
                    None => return Err(self.failed(no_output(name))),
                },
            }
        }
        Ok(filled)
    }

    fn failed(&self, trouble: Trouble) -> Trouble {
        let message = message!("the probe `", self.name, "` failed: ", trouble.message);
        Trouble { message, ..trouble }
    }

    fn http(&self, url: &str, timeout: Duration, probe: &dyn Probe) -> Result<(), Trouble> {
        let body = match probe.get(&Request { url, headers: &BTreeMap::new(), timeout }) {
            // Its text is only asked for where someone looks for one.
            Err(trouble) if trouble.kind == TroubleKind::NotText && self.contains.is_none() => {
                return Ok(());
            }
            answer => answer?,
        };
        self.holds("the response", body.expose())
    }

    fn file(&self, path: &str, probe: &dyn Probe) -> Result<(), Trouble> {
        if !path.starts_with('/') && !path.starts_with("~/") {
            let help = "use an absolute path in the probe";
            return Err(Trouble::new(TroubleKind::Invalid, "the path is not absolute", help));
        }
        let place = probe.place(path)?;
        if probe.stat(&place)?.is_none() {
            let help = format!("check the path in the probe: `ls -ld {path}`");
            return Err(Trouble::new(TroubleKind::Missing, "the file does not exist", help));
        }
        if self.contains.is_none() {
            return Ok(());
        }
        let text = read(&place, probe)?;
        self.holds("the file", &text)
    }

    fn holds(&self, what: &str, text: &str) -> Result<(), Trouble> {
        match &self.contains {
            Some(wanted) if !text.contains(wanted.as_str()) => {
                let message = format!("{what} does not contain `{wanted}`");
                Err(Trouble::new(TroubleKind::Failed, message, "see `contains` of the probe"))
            }
            _ => Ok(()),
        }
    }
}

fn read(path: &Path, probe: &dyn Probe) -> Result<String, Trouble> {
    let file = probe.read(path, opal_core::resolver::Links::Followed)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| {
        let message = format!("the file cannot be read: {error}");
        Trouble::new(TroubleKind::Failed, message, "check its permissions")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn tcp(target: &str, timeout: Duration, probe: &dyn Probe) -> Result<(), Trouble> {
    match host_and_port(target) {
        Some((host, port)) => probe.connect(&Port { host, port, timeout }),
        None => {
            let message = "the target is not a host and a port";
            Err(Trouble::new(TroubleKind::Invalid, message, "write `host:port`"))
        }
    }
}

fn no_output(name: &str) -> Trouble {
    let message = format!("no output `{name}` that is a public text or number");
    Trouble::new(TroubleKind::Invalid, message, "apply the module, which publishes its outputs")
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The probes of a run; else why one of them cannot be asked.
pub(super) fn steps(
    command: Command,
    spec: &Spec,
    inputs: &Map<String, Value>,
    secrets: &BTreeMap<String, Data>,
) -> Result<Vec<ProbeStep>, String> {
    if !matches!(command.of_tools(), Command::Apply | Command::Verify) {
        return Ok(Vec::new());
    }
    let attempts = |own: &probe::Probe| match command {
        // A difference is what a check may find, and another check would find it again.
        Command::Verify => 1,
        _ => own.attempts,
    };
    let step = |own: &probe::Probe| {
        let part = |part: &Part| match part {
            Part::Input(path) => input(path, inputs, secrets)
                .map(Part::Text)
                .map_err(|why| format!("the probe `{}` needs `{path}`, which {why}", own.name)),
            other => Ok(other.clone()),
        };
        Ok(ProbeStep {
            name: own.name.clone(),
            kind: own.kind,
            target: own.target.iter().map(part).collect::<Result<_, String>>()?,
            contains: own.contains.clone(),
            attempts: attempts(own),
            delay_s: own.delay_s,
            timeout_s: own.timeout_s,
        })
    };
    spec.probes.iter().map(step).collect()
}

fn input(
    path: &str,
    inputs: &Map<String, Value>,
    secrets: &BTreeMap<String, Data>,
) -> Result<String, &'static str> {
    let pointer: String = path.split('.').map(|key| format!("/{key}")).collect();
    let is_within = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if secrets.keys().any(|at| is_within(&pointer, at) || is_within(at, &pointer)) {
        return Err("is secret, but a probe is part of the plan");
    }
    let found = constraint::at(inputs, path).filter(|it| constraint::is_set(Some(it)));
    found.and_then(word).ok_or("is not a text or a number")
}

#[cfg(test)]
mod tests {
    use opal_testing::MemoryWorld;
    use serde_json::json;

    use super::*;

    const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
inputs: {defaults: {host: db, port: 5432, pin: '', none: ''}}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1.0, pack_ref: {id: net@v1.0}}
outputs: {publish: [url, path]}
";

    fn steps_of(probe: &str, secrets: &[&str]) -> Result<Vec<ProbeStep>, String> {
        let checked = Spec::read(&format!("{SPEC}probes: [{{name: a, {probe}}}]\n"));
        let spec = checked.found.unwrap_or_else(|| panic!("{probe}: {:?}", checked.diagnostics));
        let secrets = secrets.iter().map(|at| ((*at).to_owned(), Data::text("canary"))).collect();
        steps(Command::Apply, &spec, &spec.defaults, &secrets)
    }

    fn asked(probe: &str, outputs: &Value, world: &MemoryWorld) -> Result<(), (i32, String)> {
        let steps = steps_of(probe, &[]).unwrap();
        let asked = steps[0].ask(outputs.as_object().unwrap(), world);
        asked.map_err(|unmet| (unmet.code, unmet.trouble.message.into()))
    }

    #[test]
    fn a_probe_passes_fails_or_cannot_be_asked() {
        let world = MemoryWorld::default()
            .port("db:5432")
            .page("http://db/health", "all is ok")
            .file("/etc/motd", "welcome");
        let outputs = json!({"url": "http://db/health", "path": "/etc/motd", "list": []});
        for (probe, expected) in [
            ("tcp: '{inputs.host}:{inputs.port}'", None),
            ("tcp: 'db:1'", Some((UNMET, ""))),
            ("tcp: '{outputs.path}'", Some((UNASKED, "not a host and a port"))),
            ("http: '{outputs.url}'", None),
            ("http: '{outputs.url}', contains: ok", None),
            ("http: '{outputs.url}', contains: fine", Some((UNMET, "does not contain `fine`"))),
            ("http: 'http://db/other'", Some((UNMET, ""))),
            ("file: '{outputs.path}'", None),
            ("file: /etc/motd, contains: come", None),
            ("file: /etc/motd, contains: gone", Some((UNMET, "does not contain `gone`"))),
            ("file: /etc/other", Some((UNMET, "does not exist"))),
            ("file: '{outputs.url}'", Some((UNASKED, "not absolute"))),
        ] {
            let found = asked(probe, &outputs, &world);
            match expected {
                None => assert_eq!(found, Ok(()), "{probe}"),
                Some((code, words)) => {
                    let (is, message) = found.unwrap_err();
                    assert_eq!(is, code, "{probe}: {message}");
                    let reported = message.starts_with("the probe `a` failed: ");
                    assert!(reported && message.contains(words), "{probe}: {message}");
                }
            }
        }
        let (code, message) = asked("http: '{outputs.url}'", &json!({}), &world).unwrap_err();
        assert_eq!(code, UNASKED, "{message}");
    }

    #[test]
    fn what_is_probed_holds_no_secret_and_nothing_empty() {
        let refused = |path: &str, secret: &str| {
            steps_of(&format!("http: 'http://{{inputs.{path}}}'"), &[secret]).unwrap_err()
        };
        assert!(refused("pin", "/pin").contains("is secret"));
        assert!(refused("none", "/pin").contains("is not a text or a number"));
    }

    #[test]
    fn only_apply_and_verify_probe_and_verify_asks_once() {
        let text = format!("{SPEC}probes: [{{name: a, tcp: 'a:1', attempts: 9}}]\n");
        let spec = Spec::read(&text).found.unwrap();
        for (command, attempts) in [
            (Command::Apply, Some(9)),
            (Command::Deploy, Some(9)),
            (Command::Verify, Some(1)),
            (Command::Plan, None),
            (Command::Validate, None),
            (Command::Destroy, None),
        ] {
            let steps = steps(command, &spec, &spec.defaults, &BTreeMap::new()).unwrap();
            assert_eq!(steps.first().map(|it| it.attempts), attempts, "{command}");
        }
    }
}
