//! The tasks of a file: what `list`, help and completion know about them.

mod finding;
mod words;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use opal_core::Type;
use opal_plan::unit::{Function, Param};

use crate::arguments;
use crate::builtins;
use crate::path_completion as paths;
use crate::view::diagnostics::visible;

#[cfg(test)]
pub(crate) use finding::all;
pub(crate) use finding::{duplicates, find, is_private_elsewhere, of};
pub(crate) use words::{flag_word, option, path_word, quoted, word, words, words_with};

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

    /// The same, by the name to call it from elsewhere, and under its project.
    pub(crate) fn of_project(self, folder: &Path) -> Self {
        let folder = folder.display();
        Self {
            name: format!("{folder}:{}", self.name),
            group: Some(match &self.group {
                Some(group) => format!("{folder}: {group}"),
                None => folder.to_string(),
            }),
            ..self
        }
    }

    pub(crate) fn is_private(&self) -> bool {
        self.name.rsplit(':').next().is_some_and(|name| name.starts_with('_'))
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

    /// `opal deploy`, or `opal -f FILE run check`: what is typed to run it. `opal` are the first words
    /// of a command for a task of its source.
    pub(crate) fn command(&self, opal: &str) -> String {
        format!("{opal} {}{}", if self.is_reserved() { "run " } else { "" }, self.name)
    }

    /// `opal deploy ENV [--replicas=3] [FILES...]`.
    pub(crate) fn usage(&self, opal: &str) -> String {
        self.command(opal) + &self.signature()
    }

    /// ` ENV [--replicas=3] [FILES...]`.
    pub(crate) fn signature(&self) -> String {
        self.params.iter().map(|param| format!(" {}", param.form())).collect()
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
    /// How it is given: `ENV`, `[--replicas=3]`, `[FILES...]`.
    fn form(&self) -> String {
        let (upper, flag) = (self.name.to_uppercase(), &self.flag);
        match &self.default {
            _ if self.rest => format!("[{upper}...]"),
            None => upper,
            Some(default) if self.is_bool && default == "true" => {
                format!("[--{}]", self.off_switch())
            }
            Some(_) if self.is_bool => format!("[--{flag}]"),
            Some(default) if default.chars().count() <= 20 && !default.contains('\n') => {
                format!("[--{flag}={}]", visible(default))
            }
            Some(_) => format!("[--{flag}=…]"),
        }
    }

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
pub(crate) fn command(task: &Task, opal: &str) -> clap::Command {
    let mut command = clap::Command::new(task.name.clone())
        .bin_name(task.command(opal))
        .override_usage(format!("{} [OPTIONS]", task.usage(opal)))
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
            // A heading of its own puts it after the parameters.
            .help_heading("Options")
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
