//! The tasks of a file: what `list`, help and completion know about them.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::builder::{BoolValueParser, PossibleValuesParser, TypedValueParser as _, ValueParser};
use opal_core::{Type, Value};
use opal_runtime::check::literal_type;
use opal_runtime::unit::{Function, Param, Unit};

use crate::arguments;
use crate::builtins;
use crate::task_arguments::read;
use crate::view::diagnostics::visible;

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) params: Vec<TaskParam>,
    /// Where its name stands.
    pub(crate) offset: u32,
}

#[derive(Debug)]
pub(crate) struct TaskParam {
    pub(crate) name: String,
    /// What stands behind the `--`, where it has a default.
    flag: String,
    /// As it was written, or as the default has it. Of a rest, the type of one word.
    pub(crate) ty: Type,
    /// The members of a closed set.
    pub(crate) choices: Vec<String>,
    /// As it was written.
    pub(crate) default: Option<String>,
    pub(crate) rest: bool,
    pub(crate) is_bool: bool,
}

impl Task {
    /// The first line of the documentation.
    pub(crate) fn summary(&self) -> &str {
        self.docs.lines().next().unwrap_or_default()
    }

    pub(crate) fn is_private(&self) -> bool {
        self.name.starts_with('_')
    }

    /// Whether `opal NAME` means opal, and only `opal run NAME` the task.
    pub(crate) fn is_reserved(&self) -> bool {
        builtins::is_reserved(&self.name)
    }

    /// Whether `--name` is one of its own flags.
    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.default.is_some() && param.flag == name)
    }

    /// Whether the words behind its name ask opal for JSON, and not the task.
    pub(crate) fn asks_for_json(&self, words: &[OsString]) -> bool {
        !self.has_flag("json") && arguments::asks_for_json(words)
    }

    /// The part of the name before its first `-`, which related tasks share.
    pub(crate) fn prefix(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }
}

impl TaskParam {
    /// The type for people.
    pub(crate) fn type_name(&self) -> String {
        match &self.ty {
            ty if self.rest => format!("Array[{ty}]"),
            Type::Any => "value".into(),
            ty => ty.to_string(),
        }
    }

    /// Whether it is `--x` and `--no-x`, without a value.
    pub(crate) fn is_switch(&self) -> bool {
        self.is_bool && self.default.is_some()
    }

    /// `no-x`.
    pub(crate) fn off_switch(&self) -> String {
        format!("no-{}", self.flag)
    }
}

/// The tasks of a file, in source order; a name that stands twice counts once.
pub(crate) fn all(unit: &Unit, text: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for function in &unit.functions {
        match known.get(function.name.text.as_str()) {
            // Neither of the two can be called.
            Some(&first) => {
                tasks[first].docs = "defined twice: see `opal check`".to_owned();
                tasks[first].params.clear();
            }
            None => {
                known.insert(&function.name.text, tasks.len());
                tasks.push(task(function, text));
            }
        }
    }
    tasks
}

/// What the command line knows of a function.
pub(crate) fn task(function: &Function, text: &str) -> Task {
    // A list that cannot work has its error in `check`; what is shown must be possible all the same.
    let mut seen = std::collections::BTreeSet::new();
    let params = function.params.iter().filter(|param| seen.insert(param.name.text.as_str()));
    let mut params: Vec<TaskParam> = params.map(|param| task_param(param, text)).collect();
    if let Some((_, before_last)) = params.split_last_mut() {
        before_last.iter_mut().for_each(|param| param.rest = false);
    }
    mark_apart(&mut params);
    Task {
        name: function.name.text.clone(),
        docs: function.docs.clone(),
        params,
        offset: function.name.span.start,
    }
}

/// Gives a parameter its whole name as a flag where, without the `_` at the start, it would be one
/// that another has.
fn mark_apart(params: &mut [TaskParam]) {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for param in params.iter() {
        let switch = param.is_switch().then(|| param.off_switch());
        for flag in switch.into_iter().chain([param.flag.clone()]) {
            *taken.entry(flag).or_default() += 1;
        }
    }
    let is_shared = |flag: &String| flag.is_empty() || taken.get(flag).is_some_and(|n| *n > 1);
    let hidden = params.iter_mut().filter(|param| param.name.starts_with('_'));
    for param in hidden.filter(|param| is_shared(&param.flag)) {
        param.flag.clone_from(&param.name);
    }
}

fn task_param(param: &Param, text: &str) -> TaskParam {
    let written = param.ty.as_ref().and_then(|written| written.ty.clone());
    let ty = match (written, &param.default) {
        _ if param.rest => Type::String,
        (Some(written), _) => written,
        (None, Some(default)) => literal_type(default),
        (None, None) => Type::String,
    };
    let choices = match &ty {
        Type::OneOf(choices) => choices.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    TaskParam {
        name: param.name.text.clone(),
        flag: param.name.text.trim_start_matches('_').replace('_', "-"),
        is_bool: ty == Type::Bool,
        ty,
        choices,
        default: param.default.as_ref().map(|default| text[default.span.range()].to_owned()),
        rest: param.rest,
    }
}

/// The command line of a task: parameters without a default are positional, the others flags.
pub(crate) fn command(task: &Task) -> clap::Command {
    let mut command = clap::Command::new(task.name.clone())
        .bin_name(format!("opal {}{}", if task.is_reserved() { "run " } else { "" }, task.name))
        .disable_help_subcommand(true);
    if !task.docs.is_empty() {
        let docs: Vec<String> = task.docs.lines().map(visible).collect();
        command = command.about(visible(task.summary())).long_about(docs.join("\n"));
    }
    // A function's flags win over opal's.
    command = command.disable_help_flag(task.has_flag("help"));
    for param in &task.params {
        command = command.arg(argument(param));
        let no = param.off_switch();
        if param.is_switch() && !task.has_flag(&no) {
            let arg = clap::Arg::new(no.clone())
                .long(no)
                .action(clap::ArgAction::SetTrue)
                .overrides_with(param.name.clone())
                .help(format!("Sets {} to false", param.name));
            command = command.arg(arg);
        }
    }
    command
}

/// What is typed to give a task these arguments, its name first.
pub(crate) fn words(task: &Task, arguments: &BTreeMap<String, Value>) -> Vec<String> {
    let mut words = vec![task.name.clone()];
    let mut rest = Vec::new();
    for param in &task.params {
        match (arguments.get(&param.name), &param.default) {
            (None, _) => {}
            (Some(Value::Array(items)), _) if param.rest => rest.extend(items.iter().map(word)),
            (Some(Value::Bool(true)), Some(_)) => words.push(format!("--{}", param.flag)),
            (Some(Value::Bool(false)), Some(_)) => words.push(format!("--{}", param.off_switch())),
            (Some(value), Some(_)) => words.push(format!("--{}={}", param.flag, word(value))),
            (Some(value), None) => rest.push(word(value)),
        }
    }
    if rest.iter().any(|word| word.starts_with('-')) {
        words.push("--".into());
    }
    words.extend(rest);
    words
}

/// A value as a word of the command line, quoted where the shell needs it.
pub(crate) fn word(value: &Value) -> String {
    let escaped =
        |value: &Value| plain(value).replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
    let text = match value {
        Value::Array(items) => items.iter().map(escaped).collect::<Vec<_>>().join(","),
        Value::Map(items) => {
            let key = |key: &String| escaped(&Value::String(key.clone().into()));
            let items = items.iter().map(|(name, item)| format!("{}={}", key(name), escaped(item)));
            items.collect::<Vec<_>>().join(",")
        }
        scalar => plain(scalar),
    };
    quoted(&text)
}

/// A word of the command line, quoted where the shell needs it.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// How a word of the command line is read.
fn value_parser(param: &TaskParam) -> ValueParser {
    if param.is_bool {
        return BoolValueParser::new().map(Value::Bool).into();
    }
    if !param.choices.is_empty() {
        let choices = PossibleValuesParser::new(param.choices.clone());
        return choices.map(|choice| Value::String(choice.into())).into();
    }
    let ty = param.ty.clone();
    ValueParser::new(move |word: &str| read(&ty, word))
}

fn argument(param: &TaskParam) -> clap::Arg {
    let mut arg = clap::Arg::new(param.name.clone());
    let mut about = visible(&param.type_name());
    arg = arg.value_parser(value_parser(param));
    if param.rest {
        return arg.num_args(0..).value_name(param.name.to_uppercase()).help(about);
    }
    let is_number = matches!(param.ty, Type::Int | Type::Float | Type::Duration);
    arg = arg.allow_negative_numbers(is_number).hide_possible_values(!param.is_bool);
    let Some(default) = &param.default else {
        return arg.required(true).value_name(param.name.to_uppercase()).help(about);
    };
    about = format!("{about} [default: {}]", visible(default));
    let long = param.flag.clone();
    if long != param.name && !param.name.starts_with('_') {
        arg = arg.alias(param.name.clone());
    }
    arg = arg.long(long).help(about);
    if param.is_bool {
        // `--x` and `--no-x` take no value.
        return arg.value_parser(clap::value_parser!(bool)).action(clap::ArgAction::SetTrue);
    }
    arg.value_name(param.name.to_uppercase())
}
