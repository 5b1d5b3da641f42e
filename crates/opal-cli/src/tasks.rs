//! The tasks of a file: what `list`, help and completion know about them.

mod finding;

use std::collections::BTreeMap;
use std::ffi::OsString;

use opal_core::{Type, Value};
use opal_plan::unit::{Function, Param};

use crate::arguments;
use crate::builtins;
use crate::path_completion as paths;
use crate::view::diagnostics::visible;

#[cfg(test)]
pub(crate) use finding::all;
pub(crate) use finding::{duplicates, find, is_private_elsewhere, of};

#[derive(Debug)]
pub(crate) struct Task {
    /// With the namespace of its import.
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) docs: String,
    /// The heading that it is under.
    pub(crate) group: Option<String>,
    pub(crate) params: Vec<TaskParam>,
    /// Where its name stands.
    pub(crate) offset: u32,
}

#[derive(Debug)]
pub(crate) struct TaskParam {
    pub(crate) name: String,
    /// What the documentation of the task says about it.
    pub(crate) docs: Option<String>,
    /// What follows the `--`.
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

    /// The index of the parameter whose flag is `--name`; `-` and `_` are equal.
    pub(crate) fn flag(&self, name: &str) -> Option<usize> {
        let own = |is_it: &dyn Fn(&TaskParam) -> bool| {
            self.params.iter().position(|param| !param.rest && is_it(param))
        };
        let loose = name.replace('_', "-");
        let exact = own(&|param| param.flag == name);
        exact.or_else(|| own(&|param| param.flag == loose || param.name == name))
    }

    /// The index of the Bool that `--no-x` sets to false, where no parameter has that name itself.
    pub(crate) fn switched_off(&self, name: &str) -> Option<usize> {
        let loose = name.replace('_', "-");
        let is_it = |param: &TaskParam| [name, &loose].contains(&param.off_switch().as_str());
        self.params.iter().position(|param| param.is_bool && !param.rest && is_it(param))
    }

    /// Whether `--name` is one of its own flags.
    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.flag(name).is_some()
    }

    /// Every flag of its own, with its dashes.
    pub(crate) fn flags(&self) -> impl Iterator<Item = String> {
        let off = |param: &TaskParam| param.is_bool.then(|| format!("--{}", param.off_switch()));
        let own = self.params.iter().filter(|param| !param.rest);
        own.flat_map(move |param| [Some(format!("--{}", param.flag)), off(param)]).flatten()
    }

    /// `opal deploy`, or `opal run check`: what is typed to run it.
    pub(crate) fn command(&self) -> String {
        format!("opal {}{}", if self.is_reserved() { "run " } else { "" }, self.name)
    }

    /// `opal deploy ENV [REPLICAS] [FILES...]`.
    pub(crate) fn usage(&self) -> String {
        let mut usage = self.command();
        for param in &self.params {
            let upper = param.name.to_uppercase();
            usage.push_str(&match (&param.default, param.rest) {
                (_, true) => format!(" [{upper}...]"),
                (Some(_), _) => format!(" [{upper}]"),
                (None, _) => format!(" {upper}"),
            });
        }
        usage
    }

    /// Whether the words behind its name ask opal for JSON, and not the task.
    pub(crate) fn asks_for_json(&self, words: &[OsString]) -> bool {
        !self.has_flag("json") && arguments::asks_for_json(words)
    }

    /// The namespace, or the part of the name before its first `-`, which related tasks share.
    pub(crate) fn prefix(&self) -> &str {
        match &self.namespace {
            Some(namespace) => namespace,
            None => self.name.split('-').next().unwrap_or(&self.name),
        }
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
    fn is_switch(&self) -> bool {
        self.is_bool && !self.rest
    }

    /// Whether completion offers files for it: a text may be the name of one.
    fn may_be_path(&self) -> bool {
        matches!(self.ty, Type::String | Type::Any)
    }

    /// `no-x`.
    pub(crate) fn off_switch(&self) -> String {
        format!("no-{}", self.flag)
    }
}

/// What the command line knows of a function.
pub(crate) fn task(function: &Function, text: &str) -> Task {
    // A list that cannot work has its error in `check`; what is shown must be possible all the same.
    let mut seen = std::collections::BTreeSet::new();
    let documentation = function.documentation();
    let params = function.params.iter().zip(documentation.params);
    let params = params.filter(|(param, _)| seen.insert(param.name.text.as_str()));
    let mut params: Vec<TaskParam> =
        params.map(|(param, docs)| task_param(param, docs, text)).collect();
    if let Some((_, before_last)) = params.split_last_mut() {
        before_last.iter_mut().for_each(|param| param.rest = false);
    }
    mark_apart(&mut params);
    Task {
        name: function.name.text.clone(),
        namespace: None,
        docs: documentation.text,
        group: function.group.clone(),
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

fn task_param(param: &Param, docs: Option<&str>, text: &str) -> TaskParam {
    // A word is a String where nothing says otherwise.
    let ty = match (&param.ty, &param.default) {
        _ if param.rest => Type::String,
        (None, None) => Type::String,
        _ => param.declared_type(),
    };
    let choices = match &ty {
        Type::OneOf(choices) => choices.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    TaskParam {
        name: param.name.text.clone(),
        docs: docs.map(str::to_owned),
        flag: param.name.text.trim_start_matches('_').replace('_', "-"),
        is_bool: ty == Type::Bool,
        ty,
        choices,
        default: param.default.as_ref().map(|default| text[default.span.range()].to_owned()),
        rest: param.rest,
    }
}

/// The command line of a task, for help and completion; the words themselves are sorted by
/// [`crate::task_words`].
pub(crate) fn command(task: &Task) -> clap::Command {
    let mut command = clap::Command::new(task.name.clone())
        .bin_name(task.command())
        .override_usage(format!("{} [OPTIONS]", task.usage()))
        .disable_help_subcommand(true);
    if !task.docs.is_empty() {
        let docs: Vec<String> = task.docs.lines().map(visible).collect();
        command = command.about(visible(task.summary())).long_about(docs.join("\n"));
    }
    // A function's flags win over opal's.
    command = command.disable_help_flag(true);
    for (index, param) in task.params.iter().enumerate() {
        command = command.args(arguments(param, index));
        let no = param.off_switch();
        if param.is_switch() && !task.has_flag(&no) {
            let arg = clap::Arg::new(no.clone())
                .long(no)
                .action(clap::ArgAction::SetTrue)
                .help_heading(PARAMETERS)
                .help(format!("Set `{}` to false", param.name));
            command = command.arg(arg);
        }
    }
    // Completion offers what comes first here first: the task's own.
    if !task.has_flag("help") {
        let help = clap::Arg::new("help")
            .short('h')
            .long("help")
            .action(clap::ArgAction::Help)
            .help("-h: the parameters of the task; --help: all options");
        command = command.arg(help);
    }
    command
}

const PARAMETERS: &str = "Parameters, by position or as flags";

/// A parameter as a flag, and by position.
fn arguments(param: &TaskParam, index: usize) -> Vec<clap::Arg> {
    let about = match &param.default {
        Some(default) => {
            format!("{} [default: {}]", visible(&param.type_name()), visible(default))
        }
        None if param.rest => format!("{}: all remaining arguments", visible(&param.type_name())),
        None => format!("{} [required]", visible(&param.type_name())),
    };
    let about = match &param.docs {
        Some(docs) => format!("{}. {about}", visible(docs.trim_end_matches('.'))),
        None => about,
    };
    let upper = param.name.to_uppercase();
    let choices = || clap::builder::PossibleValuesParser::new(param.choices.clone());
    let position = clap::Arg::new(format!("position:{}", param.name))
        .index(index + 1)
        .value_name(upper.clone())
        .hide_possible_values(true);
    let position = match param.choices.is_empty() {
        true if param.may_be_path() => position.add(paths::any()),
        true => position,
        false => position.value_parser(choices()),
    };
    if param.rest {
        return vec![position.num_args(0..).help(about).help_heading(PARAMETERS)];
    }
    let flag = clap::Arg::new(param.name.clone())
        .long(param.flag.clone())
        .help(about)
        .help_heading(PARAMETERS);
    let flag = if param.is_bool {
        flag.action(clap::ArgAction::SetTrue)
    } else if param.choices.is_empty() {
        let flag = flag.value_name(upper);
        if param.may_be_path() { flag.add(paths::any()) } else { flag }
    } else {
        flag.value_name(upper).value_parser(choices()).hide_possible_values(true)
    };
    vec![flag, position.hide(true)]
}

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
