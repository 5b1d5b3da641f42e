//! What `opal plugin pack`, `publish`, `yank` and `mirror` show.

use std::path::Path;

use opal_core::message::counted;

use serde_json::{Value, json};

use super::{print, print_json};
use crate::failure::{Exit, Failure};

fn text<'v>(head: &'v Value, key: &str) -> &'v str {
    head.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A version and its bytes, as every document has it.
fn release(head: &Value) -> Value {
    json!({
        "name": text(head, "name"),
        "version": text(head, "version"),
        "checksum": text(head, "checksum"),
        "archive": text(head, "archive"),
        "size": head.get("size"),
    })
}

pub(crate) fn packed(head: &Value, file: &Path, json: bool) -> Result<Exit, Failure> {
    if json {
        let file = file.display().to_string();
        return print_json(&json!({"version": 1, "packed": release(head), "file": file}));
    }
    let (name, version) = (text(head, "name"), text(head, "version"));
    print(&format!(
        "packed {name} {version}: {}\nArchive: {}\nChecksum: {}\n",
        file.display(),
        text(head, "archive"),
        text(head, "checksum"),
    ))
}

pub(crate) fn published(
    head: &Value,
    to: &str,
    publishers: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    let was_finished = head.get("finished").and_then(Value::as_bool) == Some(true);
    if json {
        return print_json(&json!({
            "version": 1,
            "published": release(head),
            "registry": to,
            "publisher": publishers.first(),
            "index": head.get("index"),
            "finished": was_finished,
        }));
    }
    let publishers: String = match publishers.is_empty() {
        true => "Publisher: none (it is not signed)\n".to_owned(),
        false => publishers.iter().map(|it| format!("Publisher: {it}\n")).collect(),
    };
    let what = if was_finished { "finished publishing" } else { "published" };
    print(&format!(
        "{what} {} {} to {to}\nChecksum: {}\n{publishers}",
        text(head, "name"),
        text(head, "version"),
        text(head, "checksum"),
    ))
}

pub(crate) fn attested(head: &Value, what: &str, to: &str, json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&json!({"version": 1, "attested": release(head), "registry": to}));
    }
    let (name, version) = (text(head, "name"), text(head, "version"));
    print(&format!("added {what} about {name} {version} to {to}\n"))
}

pub(crate) fn refreshed(head: &Value, to: &str, json: bool) -> Result<Exit, Failure> {
    let number = head.get("index").and_then(Value::as_u64).unwrap_or_default();
    if json {
        return print_json(&json!({"version": 1, "index": number, "registry": to}));
    }
    print(&format!("wrote index {number} of {to}\n"))
}

/// What became of a version.
pub(crate) struct Yanked<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) to: &'a str,
    pub(crate) is_undone: bool,
    pub(crate) is_changed: bool,
}

pub(crate) fn yanked(what: &Yanked<'_>, json: bool) -> Result<Exit, Failure> {
    let Yanked { name, version, to, is_undone, is_changed } = *what;
    if json {
        return print_json(&json!({
            "version": 1,
            "name": name,
            "package_version": version,
            "registry": to,
            "yanked": !is_undone,
            "changed": is_changed,
        }));
    }
    print(&match (is_changed, is_undone) {
        (true, false) => {
            format!(
                "yanked {name} {version} in {to}: only projects that have locked it can use it\n"
            )
        }
        (true, true) => format!("{name} {version} can be used again from {to}\n"),
        (false, false) => format!("{name} {version} was yanked already in {to}\n"),
        (false, true) => format!("{name} {version} was not yanked in {to}\n"),
    })
}

pub(crate) fn mirrored(
    head: &Value,
    directory: &Path,
    count: usize,
    providers: &[MirroredProvider],
    json: bool,
) -> Result<Exit, Failure> {
    let added = head.get("added").and_then(Value::as_array).cloned().unwrap_or_default();
    if json {
        let added: Vec<Value> = added.iter().map(release).collect();
        let directory = directory.display().to_string();
        let provider = |it: &MirroredProvider| {
            let MirroredProvider { name, version, platform, file } = it;
            json!({"name": name, "version": version, "platform": platform, "file": file})
        };
        let providers: Vec<Value> = providers.iter().map(provider).collect();
        return print_json(&json!({
            "version": 1,
            "added": added,
            "packages": count,
            "providers": providers,
            "directory": directory,
        }));
    }
    let mut out = String::new();
    for one in &added {
        out += &format!("added {} {}\n", text(one, "name"), text(one, "version"));
    }
    for it in providers {
        out += &format!("{} {} for {}: {}\n", it.name, it.version, it.platform, it.file);
    }
    let providers = match providers.len() {
        0 => String::new(),
        many => format!(" and {} of providers", counted(many, "archive")),
    };
    out += &format!("{} has {count} locked packages{providers}\n", directory.display());
    print(&out)
}

/// An archive of a provider in a mirror.
#[derive(Debug)]
pub(crate) struct MirroredProvider {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) platform: String,
    /// From the directory of the mirror.
    pub(crate) file: String,
}
