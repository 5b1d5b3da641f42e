//! What `opal plugin` shows.

use std::fmt::Write as _;
use std::path::Path;

use opal_plugins::accept::Acceptances;
use opal_plugins::capability::Capability;
use opal_plugins::installed::Installed;
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
    } else if accepted.trusts(&one.directory) {
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
    let _ = writeln!(out, "Publisher: none (a local package is not signed)");
    let _ = writeln!(out, "Verification: none");
    let _ = writeln!(out, "Checksum: sha256:{}", one.checksum.hex());
    let all = sorted(one);
    if all.is_empty() {
        let _ = writeln!(out, "Capabilities: none");
    } else {
        let _ = writeln!(out, "Capabilities:");
    }
    for capability in all {
        let _ = writeln!(out, "  {capability}: {}", capability.sentence());
        if capability == Capability::Shell {
            for line in &one.manifest.shell_lines {
                let file = one.shown.join(&line.file);
                let _ =
                    writeln!(out, "    {}:{}: {}", file.display(), line.line, visible(&line.text));
            }
        }
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
        "verification": "none",
        "checksum": format!("sha256:{}", one.checksum.hex()),
        "engine": one.engine(),
        "capabilities": sorted(one).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "shell_lines": lines,
        "decorators": decorators,
    })
}

/// What a person reads before the question.
pub(crate) fn question(one: &Installed, accepted: &Acceptances, notes: &[String], _: Ink) {
    let mut text = about(one);
    if accepted.of(one.name()).next().is_some() {
        text.push_str("It has changed since it was accepted on this machine.\n");
        let before: std::collections::BTreeSet<_> =
            accepted.of(one.name()).flat_map(|it| it.capabilities.iter().cloned()).collect();
        for more in one.granted().difference(&before) {
            let _ = writeln!(text, "New capability: {more}");
        }
    }
    for note in notes {
        let _ = writeln!(text, "Note: {note}");
    }
    say(&text);
}

pub(crate) fn added(one: &Installed, json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&json!({"version": 1, "added": document(one)}));
    }
    print(&format!("added {} {}: opal.mod and opal.lock are written\n", one.name(), one.version()))
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
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let all: Vec<Value> = all.iter().map(|one| document(one)).collect();
        return print_json(&json!({"version": 1, "plugins": all, "written": written}));
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

pub(crate) fn list(all: &[Installed], accepted: &Acceptances, json: bool) -> Result<Exit, Failure> {
    if json {
        let one = |one: &Installed| {
            let mut node = document(one);
            node["state"] = state(one, accepted).into();
            node
        };
        let all: Vec<Value> = all.iter().map(one).collect();
        return print_json(&json!({"version": 1, "plugins": all}));
    }
    if all.is_empty() {
        return print("This project has no packages. `opal plugin add ./DIR` adds one.\n");
    }
    let width = all.iter().map(|one| one.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for one in all {
        let (name, version) = (one.name(), one.version());
        let _ =
            writeln!(out, "{name:width$}  {version}  {}  {}", one.source(), state(one, accepted));
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

pub(crate) fn begun(
    directory: &Path,
    files: &[&str],
    segment: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let shown = directory.display().to_string();
    if json {
        return print_json(&json!({"version": 1, "directory": shown, "files": files}));
    }
    let key = if directory.is_absolute() { shown.clone() } else { format!("./{shown}") };
    let mut out = String::new();
    for file in files {
        let _ = writeln!(out, "wrote {shown}/{file}");
    }
    let _ = writeln!(out, "add it with `opal plugin add {key}`, then use `@{segment}.hello()`");
    print(&out)
}
