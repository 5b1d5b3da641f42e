//! What is left of a run: its outputs, its result, its state.

mod conceal;
mod missing_outputs;
mod outputs;

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Secret;
use opal_vault::Vault;
use serde_json::{Map, Value, json};

use super::Command;
use super::active::{Reported, ReportedOutputs, Run};
use super::driver::Outputs;
use super::prepared::Prepared;
use crate::keep::{
    Evidence, HIDDEN, Instance, State, Status, ToolEnd, Unkept, file, is_secret_key,
};
use conceal::conceal_outputs;
use opal_core::gather::Gather as _;

/// What is published is part of a state, which others read at every step.
const MOST_PUBLISHED: usize = 512 << 10;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Ok,
    /// A tool that was only to look has found a difference.
    Differs,
    Failed,
    /// The user stopped it.
    Cancelled,
}

impl End {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Differs => "drifted",
            Self::Failed => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a run has come to.
#[derive(Clone, Debug)]
pub struct Result {
    pub end: End,
    /// Without anything secret.
    pub outputs: Map<String, Value>,
    /// Those of the outputs that are hidden as a whole.
    pub(crate) concealed: BTreeSet<String>,
    pub warnings: Vec<String>,
    pub error: Option<String>,
    /// Whether the tools have produced any outputs, which may contain secrets.
    pub has_put_out: bool,
}

/// The state of a module while a run of it goes on: what it has published stays. What it rests on is
/// for who has the key to that.
#[must_use]
pub fn begun(run: &Run, now: &str, pid: u32, earlier: Option<&State>, evidence: &Path) -> State {
    let prepared = &run.prepared;
    let execution = &prepared.spec.execution;
    State {
        module_ref: prepared.spec.module_ref.clone(),
        instance: prepared.instance.clone(),
        status: Status::Running,
        command: prepared.command.name().to_owned(),
        run_id: run.id.to_string(),
        started_at: now.to_owned(),
        updated_at: now.to_owned(),
        pid,
        driver: execution.driver.as_str().to_owned(),
        profile: execution.profile.as_str().to_owned(),
        pack: execution.pack.as_str().to_owned(),
        outputs: earlier.map(|state| state.outputs.clone()).unwrap_or_default(),
        error: None,
        evidence: evidence.to_owned(),
        inputs_digest: Some(prepared.inputs_digest()),
        basis_digest: None,
    }
}

/// What was put out before the run, read once. What is secret in it is hidden from then on.
pub(super) fn earlier(run: &Run) -> &Reported {
    run.earlier.get_or_init(|| {
        let reported = outputs::read(run, run.prepared.work.earlier_outputs.as_ref());
        reported.iter().for_each(|reported| conceal_outputs(&reported.outputs, &run.vault));
        reported
    })
}

/// What the tools have put out so far, for checks. What is secret in it is hidden from then on, and the
/// file stays for hooks.
pub(super) fn put_out(run: &Run) -> std::result::Result<Map<String, Value>, String> {
    let ReportedOutputs { outputs, lost } = outputs::peek(run, run.prepared.work.outputs.as_ref())?;
    conceal_outputs(&outputs, &run.vault);
    lost.map_or(Ok(outputs.values), |why| Err(format!("the outputs cannot be stored: {why}")))
}

/// What a tool has left for the driver to read; nothing where it has left nothing.
pub fn report(run: &Run) -> std::result::Result<Option<Secret>, String> {
    outputs::report(run, run.prepared.work.report.as_ref())
}

/// Reads what the tools have put out, and says how the run ended. What is secret is captured from
/// it however that was; it is published only where a run has applied what it was for.
pub fn result(run: &Run, end: End, error: Option<String>, tools: &[ToolEnd]) -> Result {
    let Run { prepared, vault, .. } = run;
    let mut warnings = prepared.warnings.clone();
    let mut result = Result {
        end,
        outputs: Map::new(),
        concealed: BTreeSet::new(),
        warnings: Vec::new(),
        error,
        has_put_out: false,
    };
    let publishes = end == End::Ok && matches!(prepared.command, Command::Apply | Command::Deploy);
    let work = &prepared.work;
    let read = outputs::read(run, work.outputs.as_ref());
    let before = earlier(run);
    for (file, reported) in [(&work.earlier_outputs, before), (&work.outputs, &read)] {
        warnings.extend(missing_outputs::warning(work, file.as_ref(), reported, tools));
    }
    // Nobody but the runtime has asked for these, and a run that cannot have them goes on.
    let before = before.as_ref().map(|reported| &reported.outputs);
    result.has_put_out = before.is_ok_and(|outputs| !outputs.values.is_empty());
    match read {
        Ok(ReportedOutputs { outputs, lost }) => {
            conceal_outputs(&outputs, vault);
            result.has_put_out |= !outputs.values.is_empty();
            match lost {
                _ if !publishes => {}
                None => published(run, &outputs, before.ok(), &mut warnings, &mut result),
                Some(why) => result.fail(format!("the outputs cannot be stored: {why}")),
            }
        }
        Err(reason) if publishes => result.fail(reason),
        Err(_) => {}
    }
    if Value::Object(result.outputs.clone()).to_string().len() > MOST_PUBLISHED {
        let kilobytes = MOST_PUBLISHED >> 10;
        result.fail(format!("the published outputs are larger than {kilobytes} KiB"));
    }
    warnings.extend(run.in_clear.end());
    result.warnings = warnings;
    result
}

impl Result {
    /// Ends it badly after all.
    fn fail(&mut self, reason: String) {
        self.end = End::Failed;
        self.outputs.clear();
        self.concealed.clear();
        self.error = Some(reason);
    }
}

/// Whether the tool calls an output secret, or its name does.
fn is_secret(outputs: &Outputs, name: &str) -> bool {
    outputs.sensitive.iter().any(|one| one == name) || is_secret_key(name)
}

/// Those that the spec publishes, without what is secret.
fn published(
    Run { prepared, vault, .. }: &Run,
    outputs: &Outputs,
    before: Option<&Outputs>,
    warnings: &mut Vec<String>,
    result: &mut Result,
) {
    let was_secret = |name: &str| before.is_some_and(|before| is_secret(before, name));
    for name in &prepared.spec.publish {
        let Some(value) = outputs.values.get(name) else {
            warnings.push(format!("the output `{name}` should be published, but does not exist"));
            continue;
        };
        let is_secret = is_secret(outputs, name);
        let (shown, hiding) = match is_secret {
            true => (HIDDEN.into(), Hiding::Whole),
            false => shown(value, vault),
        };
        if hiding == Hiding::Whole && !is_secret && was_secret(name) {
            warnings.push(format!(
                "the output `{name}` was secret when the run began: the next run publishes it"
            ));
        } else if hiding == Hiding::Whole {
            warnings.push(format!("the output `{name}` is secret, so it is not published"));
        } else if hiding == Hiding::Part {
            warnings
                .push(format!("a part of the output `{name}` is secret, so it is not published"));
        }
        if hiding == Hiding::Whole {
            result.concealed.insert(name.clone());
        }
        result.outputs.insert(name.clone(), shown);
    }
}

/// What the tools have printed is scrubbed once more: an output may have revealed new secrets
/// since.
pub fn scrub_again(
    evidence: &Evidence<'_>,
    tools: &[ToolEnd],
    vault: &Vault,
) -> std::result::Result<(), Unkept> {
    let mut scrubbed = Ok(());
    for tool in tools {
        for stream in ["stdout", "stderr"] {
            let path = evidence.folder().join(format!("{}.{stream}.txt", tool.label));
            // What cannot be read is missing here, and reported elsewhere.
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let shown = vault.scrub_bytes(&bytes);
            if shown.bytes() != bytes {
                let over = || file::write_over(&path, &shown);
                let written = file::write(&path, &shown);
                scrubbed = scrubbed.and(written.or_else(|unkept| over().map_err(|_| unkept)));
            }
        }
    }
    scrubbed
}

/// How much of a value is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hiding {
    None,
    Part,
    Whole,
}

/// A value without the texts that hold a secret. What is left of such a text would look like a value
/// to whoever imports it.
pub(super) fn shown(value: &Value, vault: &Vault) -> (Value, Hiding) {
    let mut hiding = Hiding::None;
    let mut inner = |value: &Value| {
        let (value, inner) = shown(value, vault);
        if inner != Hiding::None {
            hiding = Hiding::Part;
        }
        value
    };
    let value = match value {
        Value::String(text) if vault.scrub(text).bytes() != text.as_bytes() => {
            return (HIDDEN.into(), Hiding::Whole);
        }
        Value::Array(items) => items.iter().map(inner).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), inner(value))).gathered())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    };
    (value, hiding)
}

/// The state that a run leaves.
#[must_use]
pub fn ended(mut state: State, run: &Run, result: &Result, now: &str) -> State {
    state.status = match (result.end, run.prepared.command) {
        (End::Ok, Command::Destroy) => Status::Destroyed,
        (End::Ok | End::Differs, _) => Status::Ok,
        (End::Failed | End::Cancelled, _) => Status::Error,
    };
    match state.status {
        Status::Ok => {
            let shown = result.outputs.iter();
            let shown = shown.filter(|(name, _)| !result.concealed.contains(*name));
            state.outputs = shown.map(|(name, value)| (name.clone(), value.clone())).gathered();
        }
        Status::Destroyed => state.outputs.clear(),
        Status::Running | Status::Error => {}
    }
    state.error.clone_from(&result.error);
    now.clone_into(&mut state.updated_at);
    state
}

/// Writes what a run is known by before its tools run.
pub fn introduce(
    run: &Run,
    evidence: &Evidence<'_>,
    preflight: Value,
) -> std::result::Result<(), Unkept> {
    let prepared = &run.prepared;
    let spec = &prepared.spec;
    let dependencies: Vec<Value> = spec
        .dependencies
        .iter()
        .map(|it| {
            let (module, required) = (it.module_ref.as_str(), it.required);
            json!({"module_ref": module, "required": required, "imports": it.imports})
        })
        .collect();
    let meta = json!({
        "command": prepared.command.name(),
        "dependencies": {"items": dependencies, "warnings": prepared.warnings},
        "execution": prepared.execution(),
        "module_ref": spec.module_ref.as_str(),
        "outputs": {"publish": spec.publish},
        "paths": {
            "evidence_dir": evidence.folder().to_string_lossy(),
            "runtime_root": prepared.root.path().to_string_lossy(),
            "state": prepared.state().to_string_lossy(),
        },
        "preflight": preflight,
        "requirements": {"credentials": spec.credentials},
        "run_id": run.id.to_string(),
        "state_instance": prepared.instance.as_ref().map(Instance::as_str),
    });
    let reported = [
        "/dependencies/warnings",
        "/execution/hooks/*/*",
        "/preflight/reason",
        "/preflight/checks/*/detail",
        "/preflight/checks/*/help",
    ];
    evidence.document("meta.json", &meta, &reported)?;
    let inputs = json!({
        "inputs": prepared.shown_inputs(),
        "module_ref": spec.module_ref.as_str(),
        "state_instance": prepared.instance.as_ref().map(Instance::as_str),
    });
    evidence.document("inputs_resolved.json", &inputs, &["/inputs"])?;
    let driver = json!({
        "command": prepared.command.name(),
        "driver": driver(prepared),
        "facts": prepared.work.facts,
        "module_ref": spec.module_ref.as_str(),
        "pack": {
            "digest": format!("blake3:{}", prepared.pack.digest.hex()),
            "pack_id": spec.execution.pack.as_str(),
            "stack_dir": prepared.pack.stack.to_string_lossy(),
        },
        "paths": {
            "stack": run.stack().to_string_lossy(),
            "workdir": run.work.to_string_lossy(),
        },
        "profile": {
            "path": prepared.profile_path.to_string_lossy(),
            "profile_ref": spec.execution.profile.as_str(),
        },
        "requirements": {
            "available_credentials": prepared.credentials.files.keys().collect::<Vec<_>>(),
            "credentials": spec.credentials,
        },
        "tools": prepared.tools().map(|tool| tool.label).collect::<Vec<_>>(),
    });
    evidence.document("driver_meta.json", &driver, &["/facts/*"])
}

/// Writes how a run ended.
pub fn conclude(
    run: &Run,
    evidence: &Evidence<'_>,
    result: &Result,
    state: Option<&State>,
) -> std::result::Result<(), Unkept> {
    let prepared = &run.prepared;
    let ended = json!({
        "command": prepared.command.name(),
        "driver": driver(prepared),
        "error": result.error,
        "normalized_outputs": result.outputs,
        "run_id": run.id.to_string(),
        "status": result.end.name(),
        "warnings": result.warnings,
    });
    let reported = ["/error", "/normalized_outputs/*", "/warnings"];
    evidence.document("driver_result.json", &ended, &reported)?;
    let kept = json!({
        "path": prepared.state().to_string_lossy(),
        "published_outputs": state.map(|state| state.outputs.keys().collect::<Vec<_>>()),
        "run_id": run.id.to_string(),
        "status": state.map_or("unchanged", |state| state.status.name()),
    });
    evidence.document("module_state.json", &kept, &[])
}

fn driver(prepared: &Prepared) -> Value {
    let execution = &prepared.spec.execution;
    json!({
        "pack_id": execution.pack.as_str(),
        "profile": execution.profile.as_str(),
        "ref": execution.driver.as_str(),
    })
}
