//! What is left of a run: its outputs, its result, its state.

mod outputs;

use std::path::Path;

use opal_core::Data;
use opal_runtime::vault::Vault;
use serde_json::{Map, Value, json};

use super::Command;
use super::decorators::Run;
use super::driver::Outputs;
use super::prepare::Prepared;
use super::secrets::in_documents_of;
use crate::module::keep::{
    Evidence, HIDDEN, Instance, State, Status, Told, ToolEnd, Unkept, file, is_secret_key, parts,
    told,
};

/// What is published is part of a state, which others read at every step.
const MOST_PUBLISHED: usize = 512 << 10;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Ok,
    /// A tool that was only to look has found a difference.
    Differs,
    Failed,
    /// Somebody stopped it.
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
    pub warnings: Vec<String>,
    pub error: Option<String>,
    /// Whether the tools have put out anything, which may have told what is secret.
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

/// Reads what the tools have put out, and says how the run ended. What is secret is learnt from it
/// however that was; it is published only where a run has brought about what it was for.
pub fn result(run: &Run, end: End, error: Option<String>, vault: &Vault) -> Result {
    let prepared = &run.prepared;
    let mut warnings = prepared.warnings.clone();
    let mut result =
        Result { end, outputs: Map::new(), warnings: Vec::new(), error, has_put_out: false };
    let publishes = end == End::Ok && matches!(prepared.command, Command::Apply | Command::Deploy);
    let work = &prepared.work;
    let read = outputs::read(run, work.outputs.as_ref());
    // Nobody has asked for these but the runtime: where they make no sense, there is nothing to hide.
    let (mut earlier, _) = outputs::read(run, work.earlier_outputs.as_ref()).unwrap_or_default();
    if let Ok((outputs, _)) = &read {
        // What has stayed as it was is as secret as it is now said to be.
        earlier.values.retain(|name, value| outputs.values.get(name) != Some(value));
    }
    result.has_put_out = conceal_outputs(&earlier, vault);
    match read {
        Ok((outputs, lost)) => {
            result.has_put_out |= conceal_outputs(&outputs, vault);
            match lost {
                _ if !publishes => {}
                None => result.outputs = published(prepared, &outputs, vault, &mut warnings),
                Some(why) => result.fail(format!("the outputs cannot be kept: {why}")),
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
        self.error = Some(reason);
    }
}

/// Hides what is secret in outputs from now on, and says whether there are any.
fn conceal_outputs(outputs: &Outputs, vault: &Vault) -> bool {
    for (name, value) in &outputs.values {
        conceal(value, is_secret(outputs, name), vault);
        conceal_told(name, value, vault);
    }
    !outputs.values.is_empty()
}

/// Whether the tool calls an output secret, or its name does.
fn is_secret(outputs: &Outputs, name: &str) -> bool {
    outputs.sensitive.iter().any(|one| one == name) || is_secret_key(name)
}

/// Those that the spec publishes, without what is secret.
fn published(
    prepared: &Prepared,
    outputs: &Outputs,
    vault: &Vault,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    let mut published = Map::new();
    for name in &prepared.spec.publish {
        let Some(value) = outputs.values.get(name) else {
            warnings.push(format!("the output `{name}` is to be published, and there is none"));
            continue;
        };
        let shown = if is_secret(outputs, name) { HIDDEN.into() } else { shown(value, vault) };
        if shown == HIDDEN {
            warnings.push(format!("the output `{name}` is secret, and so it is not published"));
        } else if shown != *value {
            warnings.push(format!("a part of the output `{name}` is secret, and not published"));
        }
        published.insert(name.clone(), shown);
    }
    published
}

/// Hides what is secret in a value from now on.
fn conceal(value: &Value, is_secret: bool, vault: &Vault) {
    match value {
        _ if is_secret => {
            let within = in_documents_of(value).into_iter();
            within.chain([data(value)]).for_each(|it| vault.register(&it, HIDDEN, true));
        }
        Value::Array(items) => items.iter().for_each(|item| conceal(item, false, vault)),
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| conceal(value, is_secret_key(key), vault));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The same for what evidence hides by what stands around it: it may be printed without that.
fn conceal_told(name: &str, value: &Value, vault: &Vault) {
    for (_, Told { value, is_whole }) in told("", name, value) {
        let whole = is_whole.then(|| data(value));
        let parts = parts(value.as_str().unwrap_or_default()).into_iter().map(Data::text);
        whole.into_iter().chain(parts).for_each(|secret| vault.register(&secret, HIDDEN, true));
    }
}

/// What the tools have printed is scrubbed once more: an output may have told since what is secret.
pub fn scrub_again(
    evidence: &Evidence<'_>,
    tools: &[ToolEnd],
    vault: &Vault,
) -> std::result::Result<(), Unkept> {
    let mut scrubbed = Ok(());
    for tool in tools {
        for stream in ["stdout", "stderr"] {
            let path = evidence.folder().join(format!("{}.{stream}.txt", tool.label));
            // What cannot be read is not there, and told of elsewhere.
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

/// A value without the texts that hold a secret. What is left of such a text would look like a value
/// to whoever imports it.
fn shown(value: &Value, vault: &Vault) -> Value {
    match value {
        Value::String(text) if vault.scrub(text).bytes() != text.as_bytes() => HIDDEN.into(),
        Value::Array(items) => items.iter().map(|item| shown(item, vault)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), shown(value, vault))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn data(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => super::lower::number(number),
        Value::String(text) => Data::text(text.clone()),
        Value::Array(items) => Data::Array(items.iter().map(data).collect()),
        Value::Object(map) => {
            Data::Map(map.iter().map(|(key, value)| (key.clone(), data(value))).collect())
        }
    }
}

/// The state that a run leaves behind.
#[must_use]
pub fn ended(mut state: State, run: &Run, result: &Result, now: &str) -> State {
    state.status = match (result.end, run.prepared.command) {
        (End::Ok, Command::Destroy) => Status::Destroyed,
        (End::Ok | End::Differs, _) => Status::Ok,
        (End::Failed | End::Cancelled, _) => Status::Error,
    };
    match state.status {
        Status::Ok => {
            let shown = result.outputs.iter().filter(|(_, value)| *value != HIDDEN);
            state.outputs = shown.map(|(name, value)| (name.clone(), value.clone())).collect();
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
        "execution": execution(prepared),
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
    let told = [
        "/dependencies/warnings",
        "/execution/hooks/*/*",
        "/preflight/reason",
        "/preflight/checks/*/detail",
        "/preflight/checks/*/help",
    ];
    evidence.document("meta.json", &meta, &told)?;
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
    let told = ["/error", "/normalized_outputs/*", "/warnings"];
    evidence.document("driver_result.json", &ended, &told)?;
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

pub(super) fn execution(prepared: &Prepared) -> Value {
    let execution = &prepared.spec.execution;
    let hooks: Map<String, Value> = execution
        .hooks
        .iter()
        .map(|hook| (hook.name.clone(), Value::Object(hook.settings.clone())))
        .collect();
    json!({
        "driver": execution.driver.as_str(),
        "hooks": hooks,
        "pack_id": execution.pack.as_str(),
        "profile": execution.profile.as_str(),
    })
}
