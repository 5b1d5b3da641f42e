//! Arguments of a task as words of the command line.

use std::collections::BTreeMap;

use opal_core::Value;

use super::{Task, TaskParam};

/// `--version=1.2`, as it is typed.
pub(crate) fn flag_word(param: &TaskParam, value: &str) -> String {
    match (param.is_switch(), value) {
        (true, "false") => format!("--{}", param.off_switch()),
        (true, _) => format!("--{}", param.flag),
        (false, value) => format!("--{}={}", param.flag, quoted(value)),
    }
}

/// What is typed to give a task these arguments, its name first.
pub(crate) fn words(task: &Task, arguments: &BTreeMap<String, Value>) -> Vec<String> {
    words_with(task, arguments, &quoted)
}

/// The same, with another way to quote a word.
pub(crate) fn words_with(
    task: &Task,
    arguments: &BTreeMap<String, Value>,
    quote: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let mut words = vec![task.name.clone()];
    let mut rest = Vec::new();
    let mut is_next = true;
    for param in &task.params {
        match (arguments.get(&param.name), &param.default) {
            // A word would go to this one, so what follows is given by name.
            (None, _) => is_next = false,
            (Some(Value::Array(items)), _) if param.rest => rest.extend(items.iter().map(argument)),
            (Some(Value::Bool(true)), _) => words.push(format!("--{}", param.flag)),
            (Some(Value::Bool(false)), _) => words.push(format!("--{}", param.off_switch())),
            (Some(value), default) if default.is_some() || !is_next => {
                words.push(format!("--{}={}", param.flag, quote(&argument(value))));
            }
            (Some(value), _) => rest.push(argument(value)),
        }
    }
    // Quoting does not keep a dash from being taken for that of an option.
    if rest.iter().any(|word| word.starts_with('-')) {
        words.push("--".into());
    }
    words.extend(rest.iter().map(|text| quote(text)));
    words
}

/// A value as a word of the command line, quoted where the shell needs it.
pub(crate) fn word(value: &Value) -> String {
    quoted(&argument(value))
}

/// A value as an argument of a task.
fn argument(value: &Value) -> String {
    let escaped =
        |value: &Value| plain(value).replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
    match value {
        Value::Array(items) => items.iter().map(escaped).collect::<Vec<_>>().join(","),
        Value::Map(items) => {
            let key = |key: &String| escaped(&Value::String(key.clone().into()));
            let items = items.iter().map(|(name, item)| format!("{}={}", key(name), escaped(item)));
            items.collect::<Vec<_>>().join(",")
        }
        scalar => plain(scalar),
    }
}

/// A word of the command line, quoted where the shell needs it.
pub(crate) fn quoted(text: &str) -> String {
    opal_core::view::shell_word(text)
}

/// An option and its value, as they are typed. A value that begins with a dash would be taken for an
/// option by itself.
pub(crate) fn option(name: &str, value: &str) -> Vec<String> {
    match value.starts_with('-') {
        true => vec![format!("{name}={}", quoted(value))],
        false => vec![name.to_owned(), quoted(value)],
    }
}

/// A path that is not taken for an option, whatever it begins with.
pub(crate) fn path_word(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}
