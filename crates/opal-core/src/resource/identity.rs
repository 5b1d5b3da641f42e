//! By which names the resources of a plan go: their keys, their ids, and those they depend on.
//!
//! What comes from the world is a placeholder in every name that is shown, and itself in those that
//! are compared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, PathBuf};

use crate::data::Data;
use crate::decorator::{Descriptor, Resource, SETTINGS, Settings};
use crate::placeholder::scalar_text;
use crate::plan::{Arg, Key, Piece, Plan, Step};
use crate::registry::Registry;
use crate::resolver::Probe;
use crate::value::Value;

/// Characters of a key that are shown.
const MAX_KEY: usize = 200;

/// Parameters that name a place among the files, seen from beside the file that names them.
const PLACED: [&str; 6] = ["path", "destination", "target", "file", "source", "backup_dir"];

/// What makes a command a description: nobody could tell or wait for it otherwise.
const DESCRIBES: [&str; 3] = ["check", "depends_on", "id"];

/// The decorator of a step that describes a state.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    pub descriptor: &'static Descriptor,
    pub resource: &'static Resource,
}

/// What a step describes; none where it only does something. A command that has neither a check nor a
/// name nor prerequisites is nothing but a command.
#[must_use]
pub fn described(step: &Step, registry: &Registry) -> Option<Described> {
    let descriptor = registry.get(step.node.path()?)?;
    let resource = descriptor.resource.as_ref()?;
    let is_command =
        step.command().is_some() && DESCRIBES.iter().all(|name| step.arg(name).is_none());
    (!is_command).then_some(Described { descriptor, resource })
}

/// Whether verifying a step runs a command of its source. A quick plan runs none.
#[must_use]
pub fn runs_command(step: &Step) -> bool {
    step.command().is_some() && step.arg("check").is_some()
}

/// The `id` that a step was given, by its value.
#[must_use]
pub fn id<'v>(step: &'v Step, values: &'v BTreeMap<Key, Data>) -> Option<&'v str> {
    text(step.arg("id")?, values)
}

/// The ids of what must be in the desired state before a step is touched, by their values.
#[must_use]
pub fn depends_on<'v>(step: &'v Step, values: &'v BTreeMap<Key, Data>) -> Vec<&'v str> {
    match step.arg("depends_on") {
        Some(Arg::Const(Value::Array(items))) => {
            let text = |item: &'v Value| match item {
                Value::String(text) => Some(text.as_ref()),
                _ => None,
            };
            items.iter().filter_map(text).collect()
        }
        Some(Arg::Array(items)) => items.iter().filter_map(|item| text(item, values)).collect(),
        Some(Arg::Value(key)) => match values.get(key) {
            Some(Data::Array(items)) => items.iter().filter_map(Data::as_text).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn text<'v>(arg: &'v Arg, values: &'v BTreeMap<Key, Data>) -> Option<&'v str> {
    match arg {
        Arg::Const(Value::String(text)) => Some(text),
        Arg::Value(key) => values.get(key)?.as_text(),
        _ => None,
    }
}

/// What a step is called wherever all may see it: its `id`, or its path where it has none or one that
/// is to be hidden.
#[must_use]
pub fn name<'p>(plan: &'p Plan, step: &'p Step) -> &'p str {
    let shown = match step.arg("id") {
        Some(Arg::Const(Value::String(text))) => Some(text),
        Some(Arg::Value(key)) => match plan.values.get(key).and_then(|it| it.public.as_ref()) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    };
    shown.map_or(&*step.path, |text| text.as_ref())
}

/// Whether it describes an object that is not on the machine: its arguments are the object's.
#[must_use]
pub fn is_object(descriptor: &Descriptor) -> bool {
    matches!(descriptor.settings, Settings::Inherited(_))
}

/// What a step is called for people, where it was given a `name` that all may see.
#[must_use]
pub fn title<'p>(plan: &'p Plan, step: &'p Step) -> Option<&'p str> {
    match step.arg("name")? {
        Arg::Const(Value::String(text)) => Some(text.as_ref()),
        Arg::Value(key) => match plan.values.get(key).and_then(|it| it.public.as_ref()) {
            Some(Value::String(text)) => Some(text.as_ref()),
            _ => None,
        },
        _ => None,
    }
}

/// The line that names a step with an `id`: `conf (Web server): template:/etc/app.conf`. None
/// where it has none, and goes by what was written.
#[must_use]
pub fn label(plan: &Plan, step: &Step, described: Described) -> Option<String> {
    let id = Some(name(plan, step)).filter(|name| **name != *step.path)?;
    let title = title(plan, step).map_or_else(String::new, |title| format!(" ({title})"));
    Some(format!("{id}{title}: {}", key(plan, step, described)))
}

/// Which thing a step is about: `template:/etc/app.conf`, in one line and safe to show.
#[must_use]
pub fn key(plan: &Plan, step: &Step, described: Described) -> String {
    let value = |key: &Key| match plan.values.get(key) {
        Some(value) => match &value.public {
            Some(public) => Some(written(&public.into())),
            None => Some(value.placeholder.to_string()),
        },
        None => None,
    };
    let open = |arg: &Arg| match arg {
        Arg::Handle(handle) => format!("@let.{}", handle.name),
        Arg::Deferred(index) => match plan.deferred.get(*index as usize) {
            Some(deferred) => format!("@{}", deferred.key),
            None => "…".to_owned(),
        },
        _ => "…".to_owned(),
    };
    let value = |arg: &Arg| match arg {
        Arg::Value(key) => Some(value(key).unwrap_or_else(|| "…".to_owned())),
        arg => Some(open(arg)),
    };
    let thing = spelled(&parts(step, described, &value, &tidy).unwrap_or_default());
    let cut = match thing.char_indices().nth(MAX_KEY) {
        Some((at, _)) => Cow::Owned(format!("{}…", &thing[..at])),
        None => Cow::Borrowed(&*thing),
    };
    format!("{}:{cut}", described.resource.yaml)
}

/// Parts in one line, of which others make another line: all but the last are quoted where blanks
/// would hide their end. A command says of each part but the first what it is, since any may be left
/// out.
fn spelled(parts: &[(&str, String)]) -> String {
    let one_line = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_command = parts.first().is_some_and(|(name, _)| *name == "cmd");
    let last = parts.len().saturating_sub(1);
    let spelled = parts.iter().enumerate().map(|(index, (name, part))| {
        let plain = one_line(part);
        let is_clear = !part.starts_with('"') && (is_command || plain == *part);
        match index {
            0 if index == last && is_clear => plain,
            0 if is_command => format!("{part:?}"),
            _ if is_command => format!("{name}={part:?}"),
            _ if is_clear && (index == last || !plain.contains(' ')) => plain,
            _ => format!("{part:?}"),
        }
    });
    spelled.collect::<Vec<_>>().join(" ")
}

/// The same by its values, with paths that are whole, to be compared and never shown; none where it is
/// not known yet.
#[must_use]
pub fn thing(
    step: &Step,
    described: Described,
    values: &BTreeMap<Key, Data>,
    probe: &dyn Probe,
) -> Option<Vec<(&'static str, String)>> {
    let value = |arg: &Arg| match arg {
        Arg::Value(key) => values.get(key).map(written),
        _ => None,
    };
    let mut parts = parts(step, described, &value, &|path| placed(path, probe))?;
    // One name in two accounts is two things.
    if let Some(settings) = step.arg(SETTINGS) {
        parts.push((SETTINGS, argument(settings, &value)?));
    }
    Some(parts)
}

/// Whether the parameter of this name is a path that begins beside the file that names it.
#[must_use]
pub fn is_placed(name: &str) -> bool {
    PLACED.contains(&name)
}

/// The one form of all ways to write a path, as the text says it: no link is followed. Where a home
/// would be needed and there is none, what is written.
#[must_use]
pub fn placed(path: &str, probe: &dyn Probe) -> String {
    let Ok(whole) = probe.place(path) else { return tidy(path) };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}

/// The arguments that say which thing it is, by their names. `value` writes what the plan does not
/// hold itself, `path` gives a path the form that is asked for.
fn parts(
    step: &Step,
    described: Described,
    value: &dyn Fn(&Arg) -> Option<String>,
    path: &dyn Fn(&str) -> String,
) -> Option<Vec<(&'static str, String)>> {
    let mut parts = Vec::new();
    for name in described.resource.key {
        let param = described.descriptor.param(name);
        let given = param.and_then(|param| {
            step.arg(param.name).or_else(|| param.alias.and_then(|alias| step.arg(alias)))
        });
        let Some(arg) = given else { continue };
        let part = argument(arg, value)?;
        parts.push(match *name {
            name if is_placed(name) && !is_object(described.descriptor) => (name, path(&part)),
            // Seen from where the step is.
            name @ "workdir" => (name, tidy(&part)),
            // As systemd reads a name: without a suffix it is that of a service.
            name if described.resource.yaml == "service" => match part.strip_suffix(".service") {
                Some(short) if !short.is_empty() => (name, short.to_owned()),
                _ => (name, part),
            },
            name => (name, part),
        });
    }
    Some(parts)
}

fn argument(arg: &Arg, value: &dyn Fn(&Arg) -> Option<String>) -> Option<String> {
    match arg {
        Arg::Const(constant) => Some(written(&constant.into())),
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text.to_string()),
                Piece::Data { arg, .. } | Piece::Raw(arg) => argument(arg, value),
            })
            .collect(),
        Arg::Array(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|item| argument(item, value)).collect();
            Some(items?.join(","))
        }
        Arg::Map(fields) => {
            let fields = fields.iter().map(|(name, arg)| Some(pair(name, &argument(arg, value)?)));
            Some(fields.collect::<Option<Vec<String>>>()?.join(","))
        }
        Arg::Value(_) | Arg::Deferred(_) | Arg::Handle(_) => value(arg),
    }
}

fn written(data: &Data) -> String {
    match data {
        Data::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(","),
        Data::Map(fields) => {
            let fields = fields.iter().map(|(name, field)| pair(name, &written(field)));
            fields.collect::<Vec<_>>().join(",")
        }
        data => scalar_text(data).to_string(),
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// A path without what means nothing in it: `./a//b/` is `a/b`.
fn tidy(path: &str) -> String {
    let is_whole = path.starts_with('/');
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match (is_whole, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => path.to_owned(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_parts_make_another_key_and_ordinary_ones_are_written_plainly() {
        let line = |file: &str, line: &str| {
            spelled(&[("file", file.to_owned()), ("line", line.to_owned())])
        };
        assert_eq!(line("/etc/apt/list", "deb http://x ./"), "/etc/apt/list deb http://x ./");
        assert_eq!(line("a", "b c"), "a b c");
        assert_eq!(line("a b", "c"), "\"a b\" c");
        assert_eq!(line("\"a b\"", "c"), "\"\\\"a b\\\"\" c");
        assert_eq!(line("a", "  b\tc"), "a \"  b\\tc\"");
        assert_eq!(spelled(&[("path", "/a b".to_owned())]), "/a b");
        assert_eq!(spelled(&[("path", "/a  b".to_owned())]), "\"/a  b\"");
        let command = |parts: &[(&'static str, &str)]| {
            let parts = parts.iter().map(|(name, part)| (*name, (*part).to_owned()));
            spelled(&parts.collect::<Vec<_>>())
        };
        assert_eq!(command(&[("cmd", "make\n  all")]), "make all");
        assert_eq!(command(&[("cmd", "a"), ("check", "b")]), "\"a\" check=\"b\"");
        assert_eq!(command(&[("cmd", "a"), ("workdir", "b")]), "\"a\" workdir=\"b\"");
        assert_ne!(command(&[("cmd", "a b")]), command(&[("cmd", "a"), ("check", "b")]));
    }

    #[test]
    fn one_path_has_one_form() {
        for (path, expected) in [
            ("/etc/app.conf", "/etc/app.conf"),
            ("./a//b/", "a/b"),
            ("a/./b", "a/b"),
            ("/", "/"),
            (".", "."),
            ("~/x", "~/x"),
            ("../x", "../x"),
        ] {
            assert_eq!(tidy(path), expected, "{path}");
        }
    }
}
