//! What `opal module` shows. Of inputs only the names: a value may be a secret.

use std::fmt::Write as _;
use std::path::Path;

use opal_core::message::counted;
use opal_core::{Diagnostic, Severity};
use opal_modules::inputs::Outlook;
use opal_modules::keep::State;
use opal_modules::run::Run;
use opal_modules::run::finish::{self, End};
use opal_modules::run::preflight::Check;
use opal_modules::run::{Command, Prepared};
use opal_modules::{ModuleRef, Spec};
use opal_ops::module::Complete;
use serde_json::{Value, json};

use super::check::{document, report};
use super::diagnostics::{self, visible};
use super::ink::Ink;
use super::{error_json, print, print_json, say};
use crate::checked_file::CheckedFile;
use crate::failure::{Exit, Failure};
use crate::tasks::quoted;

/// How much a lint has seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) modules: usize,
    pub(crate) profiles: usize,
    pub(crate) blueprints: usize,
    pub(crate) packs: usize,
}

/// What is wrong with a file, or to be said of it.
pub(crate) fn faults(file: &CheckedFile, ink: Ink, json: bool) -> Result<(), Failure> {
    if json {
        let files = std::slice::from_ref(file);
        let mut document = document(files);
        document["error"] = wrong(files);
        print_json(&document)?;
        return Ok(());
    }
    let mut out = String::new();
    diagnostics::human(&report(file), ink, &mut out);
    if let Some(first) = file.diagnostics.iter().find(|one| one.is_error()) {
        let _ = writeln!(out, "more on a code: `opal explain {}`", first.code.as_str());
    }
    say(&out);
    Ok(())
}

/// What is wrong with files, as a failure; null where nothing is.
fn wrong(files: &[CheckedFile]) -> Value {
    let has_errors = |file: &&CheckedFile| file.count(Severity::Error) > 0;
    let files: Vec<&CheckedFile> = files.iter().filter(has_errors).collect();
    let errors = || files.iter().flat_map(|file| &file.diagnostics).filter(|one| one.is_error());
    let Some(first) = errors().next() else { return Value::Null };
    let count = counted(errors().count(), "error");
    let message = match files[..] {
        [file] => format!("`{}` has {count}", file.name),
        _ => format!("{} have {count}", counted(files.len(), "file")),
    };
    error_json(&message, &[format!("more on a code: `opal explain {}`", first.code.as_str())])
}

pub(crate) fn list(
    listed: &[(String, Option<Spec>)],
    ink: Ink,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let modules = listed.iter().map(|(folder, spec)| match spec {
            Some(spec) => json!({
                "module_ref": spec.module_ref.as_str(),
                "title": spec.title,
                "driver": spec.execution.driver.as_str(),
                "valid": true,
            }),
            None => json!({"module_ref": folder, "title": null, "driver": null, "valid": false}),
        });
        return print_json(&json!({"version": 1, "modules": modules.collect::<Vec<_>>()}));
    }
    if listed.is_empty() {
        return print("No modules here: a module is a directory with a `spec.yml`.\n");
    }
    let (bold, dim, reset) =
        if ink.colour { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let width = listed.iter().map(|(folder, _)| folder.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (folder, spec) in listed {
        let words = match spec {
            Some(spec) => spec.title.clone().unwrap_or_default(),
            None => "has errors; see `opal module lint`".to_owned(),
        };
        let line = format!("{bold}{:width$}{reset}  {dim}{}", visible(folder), visible(&words));
        let _ = writeln!(out, "{}{reset}", line.trim_end());
    }
    print(&out)
}

pub(crate) fn show(spec: &Spec, states: &[State], json: bool) -> Result<Exit, Failure> {
    if json {
        let mut document = module(spec);
        document["states"] = states.iter().map(State::value).collect();
        return print_json(&document);
    }
    let mut out = format!("{}\n", spec.module_ref);
    for words in [&spec.title, &spec.description].into_iter().flatten() {
        for line in words.lines() {
            let _ = writeln!(out, "{}", format!("  {}", visible(line)).trim_end());
        }
    }
    let execution = &spec.execution;
    let mut row = |name: &str, words: String| {
        let words = if words.is_empty() { "none".to_owned() } else { words };
        let _ = writeln!(out, "{name:<13} {}", visible(&words));
    };
    row("driver", execution.driver.to_string());
    row("profile", execution.profile.to_string());
    row("pack", execution.pack.to_string());
    row("credentials", spec.credentials.join(", "));
    row("inputs", joined(spec.defaults.keys()));
    row("presets", joined(spec.presets.keys()));
    let dependencies = spec.dependencies.iter().map(|dependency| {
        let may = if dependency.required { "" } else { " (optional)" };
        format!("{}{may}", dependency.module_ref)
    });
    row("dependencies", dependencies.collect::<Vec<_>>().join(", "));
    row("outputs", spec.publish.join(", "));
    for state in states {
        let instance = state.instance.as_ref().map(|it| format!(" ({})", it.as_str()));
        let (status, run, at) = (state.status.name(), &state.run_id, &state.updated_at);
        row("state", format!("{status}{}: {run}, {at}", instance.unwrap_or_default()));
        for (name, value) in &state.outputs {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            row("", format!("{name} = {text}"));
        }
    }
    print(&out)
}

fn joined<'k>(keys: impl Iterator<Item = &'k String>) -> String {
    keys.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn module(spec: &Spec) -> Value {
    let execution = &spec.execution;
    let dependencies = spec.dependencies.iter().map(|dependency| {
        json!({
            "module_ref": dependency.module_ref.as_str(),
            "required": dependency.required,
            "imports": dependency.imports,
        })
    });
    json!({
        "version": 1,
        "module_ref": spec.module_ref.as_str(),
        "module_id": spec.module_ref.id(),
        "title": spec.title,
        "description": spec.description,
        "driver": execution.driver.as_str(),
        "profile": execution.profile.as_str(),
        "pack": execution.pack.as_str(),
        "hooks": execution.hooks.iter().map(|hook| &hook.name).collect::<Vec<_>>(),
        "credentials": spec.credentials,
        "inputs": spec.defaults.keys().collect::<Vec<_>>(),
        "presets": spec.presets.keys().collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
        "outputs": spec.publish,
    })
}

pub(crate) fn valid(complete: &Complete, inputs: &Outlook, json: bool) -> Result<Exit, Failure> {
    let Complete { spec, stack, warnings, .. } = complete;
    if json {
        let mut document = module(spec);
        document["valid"] = true.into();
        document["warnings"] = json!(warnings);
        document["stack"] = stack.display().to_string().into();
        document["inputs"] = json!(inputs.keys);
        document["open"] = json!(inputs.open);
        return print_json(&document);
    }
    let keys = counted(inputs.keys.len(), "input");
    let mut out = format!("{} is valid: spec, profile, pack and {keys}\n", spec.module_ref);
    if !inputs.open.is_empty() {
        let _ = writeln!(out, "still to be filled in: {}", visible(&inputs.open.join(", ")));
    }
    print(&out)
}

pub(crate) fn lint(
    files: &[CheckedFile],
    counts: &Counts,
    ink: Ink,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let mut document = document(files);
        document["summary"]["modules"] = counts.modules.into();
        document["summary"]["profiles"] = counts.profiles.into();
        document["summary"]["blueprints"] = counts.blueprints.into();
        document["summary"]["packs"] = counts.packs.into();
        document["error"] = wrong(files);
        return print_json(&document);
    }
    let mut out = String::new();
    for file in files {
        diagnostics::human(&report(file), ink, &mut out);
    }
    let seen = [
        counted(counts.modules, "module"),
        counted(counts.profiles, "profile"),
        counted(counts.blueprints, "blueprint"),
        counted(counts.packs, "pack"),
    ];
    let count = |severity| files.iter().map(|file| file.count(severity)).sum::<usize>();
    let found: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning")]
        .into_iter()
        .filter(|(severity, _)| count(*severity) > 0)
        .map(|(severity, what)| counted(count(severity), what))
        .collect();
    let verdict = if found.is_empty() { "no problems found".to_owned() } else { found.join(", ") };
    let _ = writeln!(out, "{}: {verdict}", seen.join(", "));
    let first = files
        .iter()
        .flat_map(|file| &file.diagnostics)
        .min_by_key(|one: &&Diagnostic| one.severity());
    if let Some(first) = first {
        let _ = writeln!(out, "more on a code: `opal explain {}`", first.code.as_str());
    }
    print(&out)
}

/// The last word on a run.
pub(crate) fn last(document: Option<&Value>, text: &str, json: bool) -> Result<Exit, Failure> {
    match document {
        Some(document) if json => return print_json(document),
        _ if json => {}
        _ => say(text),
    }
    Ok(Exit::Done)
}

/// What is not as it should be, and stops nothing.
pub(crate) fn warnings(warnings: &[String]) {
    let lines = warnings.iter().map(|warning| format!("warning: {}\n", visible(warning)));
    say(&lines.collect::<String>());
}

/// What is about to happen, and where it can be read up.
pub(crate) fn begun(run: &Run, evidence: &Path) {
    let Prepared { spec, command, instance, .. } = &run.prepared;
    warnings(&run.prepared.warnings);
    let mut out = String::new();
    let instance = instance.as_ref().map(|it| format!(" ({})", it.as_str())).unwrap_or_default();
    let _ = writeln!(out, "{command} {}{instance}  {}", spec.module_ref, run.id);
    let _ = writeln!(out, "evidence: {}", evidence.display());
    say(&out);
}

/// What a run has come to, in words.
pub(crate) fn ended(run: &Run, result: &finish::Result, evidence: &Path, ink: Ink) -> String {
    let Prepared { spec, command, warnings: known, .. } = &run.prepared;
    let mut out = String::new();
    for warning in result.warnings.iter().filter(|warning| !known.contains(warning)) {
        let _ = writeln!(out, "warning: {}", visible(warning));
    }
    let (state, paint) = match result.end {
        End::Ok => ("ok", "\x1b[32m"),
        End::Differs => ("not in the desired state", "\x1b[33m"),
        End::Failed => ("failed", "\x1b[31m"),
        End::Cancelled => ("cancelled", "\x1b[31m"),
    };
    let state = if ink.colour { format!("{paint}{state}\x1b[0m") } else { state.to_owned() };
    let _ = write!(out, "{command} {}: {state}", spec.module_ref);
    if let Some(error) = &result.error {
        let _ = write!(out, ": {}", visible(error));
    }
    out.push('\n');
    for (name, value) in &result.outputs {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "  {} = {}", visible(name), visible(&text));
    }
    if result.end != End::Ok {
        let _ = writeln!(out, "evidence: {}", evidence.display());
    }
    out
}

/// A new module, and how it is run; `root` where that must be named.
pub(crate) fn made(
    module: &ModuleRef,
    files: &[String],
    root: Option<&str>,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        return print_json(&json!({"version": 1, "module_ref": module.as_str(), "files": files}));
    }
    let mut out = String::new();
    for file in files {
        let _ = writeln!(out, "created {}", visible(file));
    }
    let root = root.map(|root| format!(" --module-root {}", quoted(root))).unwrap_or_default();
    let _ = writeln!(out, "next: opal module apply {module}{root}");
    print(&out)
}

/// A run with those before it, as one document. Nothing where nothing has run.
pub(crate) fn with_deps(
    module: &ModuleRef,
    command: Command,
    runs: Vec<Value>,
    exit: Exit,
) -> Result<Exit, Failure> {
    if runs.is_empty() {
        return Ok(Exit::Done);
    }
    print_json(&with_deps_json(module, command, runs, exit))
}

/// A run of a module and those of what it builds on, as one document.
pub(crate) fn with_deps_json(
    module: &ModuleRef,
    command: Command,
    mut runs: Vec<Value>,
    exit: Exit,
) -> Value {
    let mut document = match runs.pop_if(|run| run["module_ref"] == module.as_str()) {
        Some(own) => own,
        None => json!({
            "version": 1,
            "module_ref": module.as_str(),
            "command": command.name(),
            "status": End::Failed.name(),
            "exit_code": exit.code(),
            "error": failed_before(runs.last()),
        }),
    };
    document["dependencies"] = runs.into();
    document
}

/// That something has failed which a module builds on: the last that has run.
fn failed_before(last: Option<&Value>) -> Value {
    let text = |key: &str| last.and_then(|run| run[key].as_str()).unwrap_or_default();
    let message = format!("it depends on `{}`, which has failed", text("module_ref"));
    error_json(&message, &[format!("the evidence is in `{}`", text("evidence_dir"))])
}

/// What becomes of something that a module builds on.
pub(crate) fn dependency(module: &ModuleRef, status: &str) {
    say(&format!("dependency={module} status={status}\n"));
}

pub(crate) fn preflight(
    prepared: &Prepared,
    checks: &[Check],
    json: bool,
) -> Result<Exit, Failure> {
    let Prepared { warnings: told, spec: Spec { module_ref: module, .. }, .. } = prepared;
    let ok = checks.iter().all(|check| check.fault.is_none());
    if json {
        let faults: (Vec<&str>, Vec<String>) = checks
            .iter()
            .filter_map(|check| check.fault.as_ref())
            .map(|(message, help)| (message.as_str(), help.clone()))
            .unzip();
        return print_json(&json!({
            "version": 1,
            "module_ref": module.as_str(),
            "ok": ok,
            "checks": checks.iter().map(Check::json).collect::<Vec<_>>(),
            "warnings": told,
            "error": (!ok).then(|| error_json(&faults.0.join("; "), &faults.1)),
        }));
    }
    warnings(told);
    let mut out = String::new();
    for check in checks {
        match &check.fault {
            None => drop(writeln!(out, "ok       {}", check.kind)),
            Some((message, help)) => {
                let _ = writeln!(out, "missing  {}  {message}", check.kind);
                let _ = writeln!(out, "         {help}");
            }
        }
    }
    let _ = writeln!(out, "{module} {}", if ok { "can be run" } else { "cannot be run" });
    print(&out)
}
