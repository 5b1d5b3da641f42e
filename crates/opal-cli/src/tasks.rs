//! The tasks of a file: what `list`, help and completion know about them.

use clap::builder::ValueParser;
use opal_core::{LineIndex, Registry};
use opal_runtime::unit::{Function, Param};
use opal_runtime::{Words, lower};
use opal_syntax::Parse;

use crate::builtins;
use crate::view::diagnostics::visible;

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) params: Vec<TaskParam>,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) struct TaskParam {
    pub(crate) name: String,
    /// As it was written, or as the default has it.
    pub(crate) ty: String,
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

    pub(crate) fn hides_builtin(&self) -> bool {
        builtins::NAMES.contains(&self.name.as_str())
    }

    /// The part of the name before its first `-`, which related tasks share.
    pub(crate) fn prefix(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }
}

/// The tasks of `text`, in source order; a name that stands twice counts once.
pub(crate) fn of(text: &str, registry: &Registry) -> Vec<Task> {
    parsed(&opal_syntax::parse(text, &Words(registry)), text)
}

pub(crate) fn parsed(parse: &Parse, text: &str) -> Vec<Task> {
    let unit = lower::outline(parse, text);
    let lines = LineIndex::new(text);
    let mut seen = std::collections::BTreeSet::new();
    let functions = unit.functions.iter().filter(|f| seen.insert(f.name.text.as_str()));
    functions.map(|function| task(function, text, &lines)).collect()
}

fn task(function: &Function, text: &str, lines: &LineIndex) -> Task {
    // A list that cannot work has its error in `check`; what is shown must be possible all the same.
    let mut seen = std::collections::BTreeSet::new();
    let params = function.params.iter().filter(|param| seen.insert(param.name.text.as_str()));
    let mut params: Vec<TaskParam> = params.map(|param| task_param(param, text)).collect();
    if let Some((_, before_last)) = params.split_last_mut() {
        before_last.iter_mut().for_each(|param| param.rest = false);
    }
    Task {
        name: function.name.text.clone(),
        docs: function.docs.clone(),
        params,
        line: lines.line(function.name.span.start),
    }
}

fn task_param(param: &Param, text: &str) -> TaskParam {
    use opal_core::Type;
    use opal_runtime::unit::ExprKind;
    let literal = param.default.as_ref().and_then(|default| match &default.kind {
        ExprKind::Literal(value) => Some(value.type_of()),
        ExprKind::Unary { operand, .. } => match &operand.kind {
            ExprKind::Literal(value) => Some(value.type_of()),
            _ => None,
        },
        ExprKind::Str(_) => Some(Type::String),
        ExprKind::Array(_) => Type::named("Array"),
        ExprKind::Map(_) => Type::named("Map"),
        _ => None,
    });
    let ty = param.ty.as_ref().and_then(|written| written.ty.clone()).or(literal);
    let choices = match &ty {
        Some(Type::OneOf(choices)) => choices.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    TaskParam {
        name: param.name.text.clone(),
        ty: match &ty {
            _ if param.rest => "Array[String]".into(),
            Some(ty) => ty.to_string(),
            // A default that is worked out has its type only in the plan.
            None if param.default.is_some() => "value".into(),
            None => "String".into(),
        },
        choices,
        default: param.default.as_ref().map(|default| text[default.span.range()].to_owned()),
        rest: param.rest,
        is_bool: ty == Some(Type::Bool),
    }
}

/// The task called `name`; `-` and `_` are equal where no task has exactly this name.
pub(crate) fn find<'t>(tasks: &'t [Task], name: &str) -> Option<&'t Task> {
    let loose = |task: &&Task| task.name.replace('-', "_") == name.replace('-', "_");
    tasks.iter().find(|task| task.name == name).or_else(|| tasks.iter().find(loose))
}

/// The command line of a task: parameters without a default are positional, the others flags.
pub(crate) fn command(task: &Task) -> clap::Command {
    let mut command = clap::Command::new(task.name.clone())
        .bin_name(format!("opal {}", task.name))
        .disable_help_subcommand(true);
    if !task.docs.is_empty() {
        let docs: Vec<String> = task.docs.lines().map(visible).collect();
        command = command.about(visible(task.summary())).long_about(docs.join("\n"));
    }
    let takes = |name: &str| task.params.iter().any(|param| param.name == name);
    // A function's flags win over opal's.
    command = command.disable_help_flag(takes("help"));
    for param in &task.params {
        command = command.arg(argument(param));
        let no = format!("no-{}", param.name.trim_start_matches('_').replace('_', "-"));
        if param.is_bool && param.default.is_some() && !takes(&no.replace('-', "_")) {
            let arg = clap::Arg::new(no.clone())
                .long(no)
                .action(clap::ArgAction::SetTrue)
                .help(format!("Sets {} to false", param.name));
            command = command.arg(arg);
        }
    }
    command
}

/// How a value of a type is read from the command line.
fn value_parser(ty: &str) -> Option<ValueParser> {
    match ty {
        "Int" => Some(ValueParser::new(|text: &str| {
            text.parse::<i64>().map_err(|_| "an Int is wanted, as in `3`".to_owned())
        })),
        "Float" => Some(ValueParser::new(|text: &str| {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| "a Float is wanted, as in `1.5`".to_owned())
        })),
        "Bool" => Some(clap::value_parser!(bool)),
        "Duration" => Some(ValueParser::new(|text: &str| {
            let wanted = |e| format!("a Duration is wanted, as in `1m30s`: {e}");
            opal_core::Duration::parse(text).map_err(wanted)
        })),
        _ => None,
    }
}

fn argument(param: &TaskParam) -> clap::Arg {
    let mut arg = clap::Arg::new(param.name.clone());
    let mut about = visible(&param.ty);
    if param.rest {
        return arg.num_args(0..).value_name(param.name.to_uppercase()).help(about);
    }
    if let Some(parser) = value_parser(&param.ty) {
        arg = arg.value_parser(parser).allow_negative_numbers(!param.is_bool);
    }
    if !param.choices.is_empty() {
        let choices = clap::builder::PossibleValuesParser::new(param.choices.clone());
        arg = arg.value_parser(choices).hide_possible_values(true);
    }
    let Some(default) = &param.default else {
        return arg.required(true).value_name(param.name.to_uppercase()).help(about);
    };
    about = format!("{about} [default: {}]", visible(default));
    let long = param.name.trim_start_matches('_').replace('_', "-");
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
