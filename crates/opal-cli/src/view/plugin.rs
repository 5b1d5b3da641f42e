//! What `opal plugin` shows.

use std::fmt::Write as _;
use std::path::Path;

use opal_core::hash::Digest;
use opal_core::protocol::MEMORY_MIB;
use opal_plugins::accept::Acceptances;
use opal_plugins::adapt::native;
use opal_plugins::capability::Capability;
use opal_plugins::installed::Installed;
use opal_plugins::provider::wanted::WantedProvider;
use serde_json::{Value, json};

use super::diagnostics::visible;
use super::ink::Ink;
use super::{print, print_json, say};
use crate::failure::{Exit, Failure};

/// Capabilities with the most powerful first.
fn sorted(one: &Installed) -> Vec<Capability> {
    let mut all: Vec<Capability> = one.granted().into_iter().collect();
    all.sort_by_key(|capability| *capability != Capability::Shell);
    all
}

fn state(one: &Installed, accepted: &Acceptances) -> &'static str {
    if accepted.accepts(one.name(), &one.checksum, &one.granted()) {
        "accepted"
    } else if one.is_local() && accepted.trusts(&one.directory) {
        "trusted directory"
    } else if accepted.of(one.name()).next().is_some() {
        "changed since it was accepted"
    } else {
        "not accepted"
    }
}

/// All there is to know before somebody accepts a package. What can do everything comes first.
fn about(one: &Installed) -> String {
    let mut out = String::new();
    let description = &one.manifest.description;
    let _ = writeln!(out, "{} {}", one.name(), one.version());
    if let Some(summary) = &description.summary {
        let _ = writeln!(out, "  {}", visible(summary));
    }
    let _ = writeln!(out, "Source: {}", one.source());
    let publisher = match &one.signed_by {
        Some(publisher) => publisher.as_str(),
        None if one.is_local() => "none (a local package is not signed)",
        None => "none (it is not signed)",
    };
    let _ = writeln!(out, "Publisher: {publisher}");
    let _ = writeln!(out, "Verification: {}", one.verification);
    let _ = writeln!(out, "Checksum: sha256:{}", one.checksum.hex());
    let is_native = one.engine() == "native";
    match one.engine() {
        "native" => {
            out.push_str("Engine: native code, which the kernel confines and opal does not see\n");
        }
        "wasm" => out.push_str("Engine: WebAssembly, in the sandbox of opal\n"),
        _ => {}
    }
    if one.manifest.memory_mib > MEMORY_MIB {
        let _ = writeln!(out, "Memory: up to {} MiB for each call", one.manifest.memory_mib);
    }
    let all = sorted(one);
    if all.is_empty() {
        let _ = writeln!(out, "Capabilities: none");
    } else {
        let _ = writeln!(out, "Capabilities:");
    }
    for capability in all {
        let sentence =
            if is_native { native::sentence(&capability) } else { capability.sentence() };
        let _ = writeln!(out, "  {capability}: {sentence}");
        if capability == Capability::Shell {
            for line in &one.manifest.shell_lines {
                let file = one.shown.join(&line.file);
                let _ =
                    writeln!(out, "    {}:{}: {}", file.display(), line.line, visible(&line.text));
            }
        }
    }
    let receivers = one.sends_secrets_to();
    if !receivers.is_empty() {
        let _ = writeln!(out, "  can send secrets to {}", receivers.join(", "));
    }
    let _ = writeln!(out, "Decorators:");
    for declared in one.manifest.decorators.iter().filter(|it| it.is_exported) {
        let _ = writeln!(
            out,
            "  @{}  {}",
            one.path(&declared.path),
            visible(declared.descriptor.summary)
        );
    }
    out
}

fn document(one: &Installed) -> Value {
    let exported = one.manifest.decorators.iter().filter(|it| it.is_exported);
    let decorators: Vec<Value> = exported
        .map(|it| json!({"path": one.path(&it.path), "summary": it.descriptor.summary}))
        .collect();
    let lines: Vec<Value> = one
        .manifest
        .shell_lines
        .iter()
        .map(|it| json!({"file": one.shown.join(&it.file).display().to_string(), "line": it.line, "text": it.text}))
        .collect();
    json!({
        "name": one.name(),
        "version": one.version().to_string(),
        "key": one.wanted.key,
        "source": one.source(),
        "signed_by": one.signed_by,
        "verification": one.verification,
        "checksum": format!("sha256:{}", one.checksum.hex()),
        "engine": one.engine(),
        "memory_mib": one.manifest.has_code().then_some(one.manifest.memory_mib),
        "capabilities": sorted(one).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "sends_secrets_to": one.sends_secrets_to(),
        "shell_lines": lines,
        "decorators": decorators,
    })
}

/// What a person reads before the question.
pub(crate) fn question(one: &Installed, accepted: &Acceptances, _: Ink) {
    let mut text = about(one);
    if accepted.of(one.name()).next().is_some() {
        text.push_str("It has changed since it was accepted on this machine.\n");
        let before: std::collections::BTreeSet<_> =
            accepted.of(one.name()).flat_map(|it| it.capabilities.iter().cloned()).collect();
        for more in one.granted().difference(&before) {
            let _ = writeln!(text, "New capability: {more}");
        }
    }
    say(&text);
}

/// What a person should know about a provider before it is accepted.
/// `covers`: keys of the user can be kept from it.
pub(crate) fn provider(about: &str, digest: &Digest, covers: bool) {
    let keys = if covers { "" } else { "  can read opal's keys and `~/.ssh`\n" };
    say(&format!(
        "{}\n  sha256:{}\n  native code, NOT confined: can use your files, network and credentials\n{keys}",
        visible(about),
        digest.hex(),
    ));
}

/// What a person should know about the sources of packages.
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        say(&format!("Note: {}\n", visible(note)));
    }
}

pub(crate) fn added(one: &Installed, notes: &[String], json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&json!({"version": 1, "added": document(one), "notes": notes}));
    }
    print(&format!("added {} {}: opal.mod and opal.lock are written\n", one.name(), one.version()))
}

/// A provider that was added.
pub(crate) fn added_provider(
    one: &WantedProvider,
    version: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let WantedProvider { key, segment, .. } = one;
    if json {
        let added = json!({"name": key, "version": version, "segment": segment});
        return print_json(&json!({"version": 1, "added": added}));
    }
    print(&format!(
        "added {key} {version}: opal.mod and opal.lock are written; its decorators begin with `@{segment}`\n"
    ))
}

pub(crate) fn removed(key: &str, json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&json!({"version": 1, "removed": key}));
    }
    print(&format!("removed {key}: opal.mod and opal.lock are written\n"))
}

pub(crate) fn installed(
    all: &[&Installed],
    written: Option<&str>,
    notes: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let all: Vec<Value> = all.iter().map(|one| document(one)).collect();
        let document = json!({"version": 1, "plugins": all, "written": written, "notes": notes});
        return print_json(&document);
    }
    let mut out = String::new();
    for one in all {
        let _ = writeln!(out, "{} {} is accepted on this machine", one.name(), one.version());
    }
    if let Some(written) = written {
        let _ = writeln!(out, "wrote {written}");
    }
    if out.is_empty() {
        out.push_str("this project has no packages\n");
    }
    print(&out)
}

/// A provider in a list.
#[derive(Debug)]
pub(crate) struct ProviderRow {
    pub(crate) name: String,
    /// Empty where none is locked.
    pub(crate) version: String,
    pub(crate) source: String,
    pub(crate) state: &'static str,
}

pub(crate) fn list(
    all: &[Installed],
    providers: &[ProviderRow],
    accepted: &Acceptances,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let one = |one: &Installed| {
            let mut node = document(one);
            node["state"] = state(one, accepted).into();
            node
        };
        let all: Vec<Value> = all.iter().map(one).collect();
        let row = |it: &ProviderRow| {
            let ProviderRow { name, version, source, state } = it;
            json!({"name": name, "version": version, "source": source, "state": state})
        };
        let providers: Vec<Value> = providers.iter().map(row).collect();
        return print_json(&json!({"version": 1, "plugins": all, "providers": providers}));
    }
    if all.is_empty() && providers.is_empty() {
        return print("This project has no packages. `opal plugin add ./DIR` adds one.\n");
    }
    let names = all.iter().map(Installed::name).chain(providers.iter().map(|it| &*it.name));
    let width = names.map(str::len).max().unwrap_or(0);
    let mut out = String::new();
    for one in all {
        let (name, version) = (one.name(), one.version());
        let _ =
            writeln!(out, "{name:width$}  {version}  {}  {}", one.source(), state(one, accepted));
    }
    for ProviderRow { name, version, source, state } in providers {
        let version = if version.is_empty() { "-" } else { version };
        let _ = writeln!(out, "{name:width$}  {version}  {source}  {state}");
    }
    print(&out)
}

pub(crate) fn info(one: &Installed, accepted: &Acceptances, json: bool) -> Result<Exit, Failure> {
    if json {
        let mut node = document(one);
        node["version"] = 1.into();
        node["package_version"] = one.version().to_string().into();
        node["state"] = state(one, accepted).into();
        return print_json(&node);
    }
    print(&format!("{}State: {}\n", about(one), state(one, accepted)))
}

/// The packages that a search found.
pub(crate) fn found(found: &Value, json: bool) -> Result<Exit, Failure> {
    let all = found.get("packages").and_then(Value::as_array).cloned().unwrap_or_default();
    if json {
        return print_json(&json!({"version": 1, "packages": all}));
    }
    let mut out = String::new();
    for one in &all {
        let text = |key: &str| visible(one.get(key).and_then(Value::as_str).unwrap_or("-"));
        let _ = writeln!(out, "{} {}  {}", text("name"), text("version"), text("summary"));
    }
    if out.is_empty() {
        out.push_str("no package found\n");
    }
    print(&out)
}

/// The versions of a package that the project does not have.
pub(crate) fn versions(found: &Value, json: bool) -> Result<Exit, Failure> {
    let text = |node: &Value, key: &str| node.get(key).and_then(Value::as_str).map(visible);
    let all = found.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
    if json {
        let (name, registry) = (text(found, "name"), text(found, "registry"));
        let document = json!({"version": 1, "name": name, "registry": registry, "versions": all});
        return print_json(&document);
    }
    let word = |key: &str| text(found, key).unwrap_or_default();
    let mut out = format!("{}\nRegistry: {}\nVersions:\n", word("name"), word("registry"));
    for one in &all {
        let version = text(one, "version").unwrap_or_default();
        let _ = match text(one, "yanked") {
            Some(reason) => writeln!(out, "  {version}  yanked: {reason}"),
            None => writeln!(out, "  {version}"),
        };
    }
    let _ = writeln!(out, "add it with `opal plugin add {}`", word("name"));
    print(&out)
}

pub(crate) fn accepted(found: &Acceptances, json: bool) -> Result<Exit, Failure> {
    if json {
        let one = |it: &opal_plugins::accept::Accepted| {
            json!({
                "name": it.name,
                "version": it.version,
                "checksum": format!("sha256:{}", it.checksum.hex()),
                "capabilities": it.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        };
        let all: Vec<Value> = found.accepted.iter().map(one).collect();
        return print_json(&json!({"version": 1, "accepted": all}));
    }
    print(&found.write())
}

pub(crate) fn trusted(directory: &Path, json: bool) -> Result<Exit, Failure> {
    let shown = directory.display().to_string();
    if json {
        return print_json(&json!({"version": 1, "trusted": shown}));
    }
    print(&format!(
        "packages below {} may change without a question on this machine\n",
        visible(&shown)
    ))
}

/// What an author does after `opal plugin init`.
pub(crate) enum Next<'s> {
    /// The first segment of its decorators.
    Use(&'s str),
    Build,
}

pub(crate) fn begun(
    directory: &Path,
    files: &[&str],
    next: Next<'_>,
    json: bool,
) -> Result<Exit, Failure> {
    let shown = directory.strip_prefix(".").unwrap_or(directory).display().to_string();
    if json {
        return print_json(&json!({"version": 1, "directory": shown, "files": files}));
    }
    let key = if directory.is_absolute() { shown.clone() } else { format!("./{shown}") };
    let mut out = String::new();
    for file in files {
        let _ = writeln!(out, "wrote {shown}/{file}");
    }
    let _ = match next {
        Next::Use(segment) => {
            writeln!(out, "add it with `opal plugin add {key}`, then use `@{segment}.hello()`")
        }
        Next::Build => writeln!(
            out,
            "build it with `sh build.sh` in {shown}, test it with `opal plugin verify {shown}`"
        ),
    };
    print(&out)
}
