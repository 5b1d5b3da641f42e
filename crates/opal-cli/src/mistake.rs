//! What is wrong with the options, out of the context that clap's errors carry.
//!
//! The text that clap renders is for people: nothing here reads it.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// A mistake on the command line, and the ways out of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) help: Vec<String>,
}

impl Mistake {
    pub(crate) fn of(error: &Error) -> Self {
        Self { message: message(error), help: help(error) }
    }
}

fn message(error: &Error) -> String {
    let text = |kind| error.get(kind).map(words).unwrap_or_default();
    let (arg, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::UnknownArgument => format!("unexpected argument `{arg}`"),
        ErrorKind::ArgumentConflict if text(ContextKind::PriorArg) == arg => {
            format!("`{arg}` is given more than once")
        }
        ErrorKind::ArgumentConflict => {
            let prior = text(ContextKind::PriorArg);
            format!("`{arg}` cannot be used with `{prior}`")
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("`{arg}` needs a value"),
        ErrorKind::InvalidValue => format!("invalid value `{value}` for `{arg}`"),
        ErrorKind::ValueValidation => match error.source() {
            Some(source) => format!("invalid value `{value}` for `{arg}`: {source}"),
            None => format!("invalid value `{value}` for `{arg}`"),
        },
        ErrorKind::NoEquals => format!("`{arg}` needs `=` before its value"),
        ErrorKind::TooManyValues => format!("unexpected value `{value}` for `{arg}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("`{arg}` has the wrong number of values")
        }
        ErrorKind::MissingRequiredArgument => format!("missing argument: {arg}"),
        ErrorKind::InvalidSubcommand => {
            format!("unknown command `{}`", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingSubcommand => {
            format!("`{}` needs a command", text(ContextKind::InvalidSubcommand))
        }
        kind => kind.as_str().unwrap_or("the command line cannot be read").to_owned(),
    }
}

fn help(error: &Error) -> Vec<String> {
    let found = ways_out(error);
    if found.is_empty() { vec!["`--help` lists the options".to_owned()] } else { found }
}

fn ways_out(error: &Error) -> Vec<String> {
    let named = |kind, name: &str| {
        let value = error.get(kind).map(words).filter(|value| !value.is_empty())?;
        Some(format!("{name}{value}"))
    };
    let quoted = |kind, name: &str| {
        let value = error.get(kind).map(words).filter(|value| !value.is_empty())?;
        Some(format!("there is a similar {name}: `{value}`"))
    };
    let tips = match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => {
            tips.iter().map(|tip| line(&tip.to_string())).collect()
        }
        _ => Vec::new(),
    };
    [
        named(ContextKind::ValidValue, "expected one of: "),
        named(ContextKind::ValidSubcommand, "expected one of: "),
        quoted(ContextKind::SuggestedSubcommand, "command"),
        quoted(ContextKind::SuggestedArg, "argument"),
        quoted(ContextKind::SuggestedValue, "value"),
    ]
    .into_iter()
    .flatten()
    .chain(tips)
    .chain(usage(error))
    .collect()
}

/// How the command is called.
fn usage(error: &Error) -> Option<String> {
    let usage = error.get(ContextKind::Usage).map(words)?;
    let line = usage.trim_start_matches("Usage:").trim();
    (!line.is_empty()).then(|| format!("usage: `{line}`; `--help` says more"))
}

/// A value of the context in one line.
fn words(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(values) => values.join(", "),
        ContextValue::StyledStrs(values) => {
            values.iter().map(|value| line(&value.to_string())).collect::<Vec<_>>().join(", ")
        }
        ContextValue::String(value) => value.clone(),
        ContextValue::StyledStr(value) => line(&value.to_string()),
        ContextValue::Number(value) => value.to_string(),
        ContextValue::Bool(value) => value.to_string(),
        _ => String::new(),
    }
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    fn command() -> Command {
        Command::new("opal")
            .arg(Arg::new("format").long("format").value_parser(["json", "text"]))
            .arg(Arg::new("jobs").long("jobs").value_parser(clap::value_parser!(u8)))
            .arg(Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).conflicts_with("loud"))
            .arg(Arg::new("loud").long("loud").action(ArgAction::SetTrue))
            .arg(Arg::new("file").long("file").required(true))
    }

    #[test]
    fn every_mistake_names_the_option_and_a_way_out() {
        for (words, message, help) in [
            (&["--fromat=x"][..], "unexpected argument `--fromat`", "`--format`"),
            (&["--format=yaml"], "invalid value `yaml` for `--format <format>`", "json, text"),
            (&["--format"], "`--format <format>` needs a value", "json, text"),
            (&["--jobs=300"], "invalid value `300` for `--jobs <jobs>`: 300 is not in", "--help"),
            (&["--jobs=1", "--jobs=2"], "`--jobs <jobs>` is given more than once", "usage: `opal"),
            (&["--quiet", "--loud"], "`--quiet` cannot be used with `--loud`", "usage: `opal"),
            (&[], "missing argument: --file <file>", "usage: `opal"),
        ] {
            let words = ["opal"].iter().chain(words);
            let error = command().try_get_matches_from(words.clone()).unwrap_err();
            let found = Mistake::of(&error);
            assert!(found.message.contains(message), "{words:?}: {found:?}");
            let all = found.help.join("\n");
            assert!(all.contains(help), "{words:?}: {found:?}");
        }
    }
}
