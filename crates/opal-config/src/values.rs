//! Nodes to values, against the type of a parameter.

use std::collections::BTreeMap;

use opal_core::decorator::Param;
use opal_core::parameter::{self, Mismatch, Origin};
use opal_core::types::TypeRef;
use opal_core::{Code, Diagnostic, Duration, Span, Type, Value};

use super::arguments::{self, arguments};
use super::braces;
use super::document::{Node, NodeKind};
use super::given::{Given, Whole};
use super::report::Report;
use super::shell;
use super::{expressions, keys};
use opal_yaml::fields::Fields;
use opal_yaml::scalar::{Meaning, meaning};

/// The pattern of permissions, for which numbers are a trap.
const OCTAL: &str = "[0-7]{3,4}";

/// What `param`, called `name` here, is given by `node`; says so where it does not fit.
pub(super) fn given(
    param: &'static Param,
    name: &str,
    node: &Node,
    report: &mut Report<'_>,
) -> Option<Given> {
    if braces::refuses(name, param.shell, node, report) {
        return None;
    }
    if param.shell {
        return command(name, node, report);
    }
    if is_open(param, node, report) {
        return open(param, node, report);
    }
    if param.ty == Type::Regex {
        return regex(name, node, report);
    }
    let value = match (&param.ty, param.pattern) {
        (Type::String, Some(OCTAL)) => Value::String(octal(name, node, report)?.into()),
        (Type::Array(_), _) if param.name == "packages" => packages(name, node, report)?,
        (ty, _) => value(ty, name, node, report)?,
    };
    check(param, name, &value, node.head(), report).then_some(Given::Data(value))
}

/// Whether it refers to variables, where the step can use some; else all of it is data.
fn is_open(param: &Param, node: &Node, report: &Report<'_>) -> bool {
    !report.variables.is_empty() && refers(node) && !matches!(param.name, "id" | "depends_on")
}

/// What refers to variables: a text with references in it, or a value that is nothing but a reference.
fn open(param: &'static Param, node: &Node, report: &mut Report<'_>) -> Option<Given> {
    let is_text = matches!(param.ty, Type::String | Type::OneOf(_) | Type::Duration | Type::Any);
    let value = match &node.kind {
        NodeKind::Scalar { text, .. } if is_text || expressions::is_reference(text) => {
            Some(Value::String(text.clone().into()))
        }
        NodeKind::List(_) | NodeKind::Map(_) => any(param.name, node, report),
        NodeKind::Scalar { .. } => {
            let help = "give it only a reference, such as `\"@var.NAME\"`";
            wrong(param.name, &param.ty.with_article(), help, node, report);
            None
        }
    };
    let is_any = |element: &TypeRef| *element.get() == Type::Any;
    let whole = Whole {
        outside: !matches!(param.ty, Type::String | Type::OneOf(_)),
        inside: matches!(&param.ty, Type::Array(it) | Type::Map(it) if is_any(it)),
    };
    let given = Given::Open { value: value?, whole };
    let names = report.variables.clone();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match expressions::parse(&given.to_string(), report.registry, node.head()) {
        Ok(expr) => expressions::check(&expr, &names, report),
        Err(why) => {
            let message = format!("invalid reference in `{}`: {why}", param.name);
            let help = "write `@var.NAME`; for the character itself, write `\\@`";
            report.error(Code::ConfigValue, node.head(), message, help);
        }
    }
    Some(given)
}

/// Whether a reference to a variable is anywhere in it.
fn refers(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Scalar { text, .. } => text.contains(expressions::VARIABLE),
        NodeKind::List(items) => items.iter().any(|item| refers(item)),
        NodeKind::Map(pairs) => pairs.iter().any(|(_, value)| refers(value)),
    }
}

fn value(ty: &Type, name: &str, node: &Node, report: &mut Report<'_>) -> Option<Value> {
    match ty {
        Type::String => Some(Value::String(text(name, node, report)?.into())),
        Type::OneOf(_) => {
            let text = text(name, node, report)?;
            let value = Value::String(text.into());
            let checked = parameter::accepts(ty, &value);
            checked
                .map_err(|mismatch| refused(&mismatch, name, &value, node.head(), report))
                .ok()?;
            Some(value)
        }
        Type::Duration => duration(name, node, report).map(Value::Duration),
        Type::Array(element) => {
            let NodeKind::List(items) = &node.kind else {
                wrong(name, "a list", "write `[a, b]`, or a line `- a` for each", node, report);
                return None;
            };
            let items = items.iter().map(|item| value(element.get(), name, item, report));
            // All of them are checked, so that each gets its message.
            let items: Vec<Option<Value>> = items.collect();
            items.into_iter().collect::<Option<_>>().map(Value::Array)
        }
        Type::Map(element) => map(element.get(), name, node, report),
        Type::Bool | Type::Int | Type::Float => scalar(ty, name, node, report),
        Type::Any | Type::Null | Type::Object(_) | Type::Regex => any(name, node, report),
    }
}

fn map(element: &Type, name: &str, node: &Node, report: &mut Report<'_>) -> Option<Value> {
    let NodeKind::Map(pairs) = &node.kind else {
        wrong(name, "a mapping", "write `key: value`, one on each line", node, report);
        return None;
    };
    let mut fields = BTreeMap::new();
    let mut places: BTreeMap<&str, Span> = BTreeMap::new();
    let mut complete = true;
    for (key, item) in pairs {
        let NodeKind::Scalar { text, .. } = &key.kind else {
            report.error(
                Code::ConfigValue,
                key.head(),
                "a key must be a single word",
                "write a name",
            );
            complete = false;
            continue;
        };
        if let Some(first) = places.insert(text, key.span) {
            let message = format!("`{text}` is given twice");
            let error = Diagnostic::new(Code::ConfigRepeatedKey, key.span, message);
            report.push(error.also(first, "first here").help("remove one of them"));
        }
        match value(element, text, item, report) {
            Some(value) => {
                fields.insert(text.clone(), value);
            }
            None => complete = false,
        }
    }
    complete.then_some(Value::Map(fields))
}

fn scalar(ty: &Type, name: &str, node: &Node, report: &mut Report<'_>) -> Option<Value> {
    let found = match &node.kind {
        NodeKind::Scalar { text, plain: true } => meaning(text),
        _ => Meaning::Text,
    };
    let (wanted, help) = match (ty, found) {
        (Type::Bool, Meaning::Bool(value)) => return Some(Value::Bool(value)),
        (Type::Int, Meaning::Int(value)) => return Some(Value::Int(value)),
        (Type::Float, Meaning::Float(value)) => return Some(Value::Float(value)),
        (Type::Bool, _) => ("`true` or `false`", "write one of them, without quotes"),
        (Type::Int, _) => ("a whole number", "write decimal digits, without quotes"),
        _ => ("a number with a point", "write it as `1.0`, without quotes"),
    };
    wrong(name, wanted, help, node, report);
    None
}

/// Where anything may appear: what YAML means by it.
pub(super) fn any(name: &str, node: &Node, report: &mut Report<'_>) -> Option<Value> {
    match &node.kind {
        NodeKind::List(_) => {
            value(&Type::Array(opal_core::types::TypeRef::Static(&Type::Any)), name, node, report)
        }
        NodeKind::Map(_) => map(&Type::Any, name, node, report),
        NodeKind::Scalar { text, plain: false } => Some(Value::String(text.clone().into())),
        NodeKind::Scalar { text, plain: true } => match meaning(text) {
            Meaning::Null => Some(Value::Null),
            Meaning::Bool(value) => Some(Value::Bool(value)),
            Meaning::Int(value) => Some(Value::Int(value)),
            Meaning::Float(value) => Some(Value::Float(value)),
            Meaning::Text => Some(Value::String(text.clone().into())),
            Meaning::OddNumber => {
                let message = format!("the number `{text}` would not keep its spelling");
                let help =
                    format!("write `\"{text}\"` for the text, or the number in its plain form");
                report.error(Code::ConfigValue, node.span, message, help);
                None
            }
        },
    }
}

/// A text as it was written: a number is its digits, and what is not there is no text.
fn text(name: &str, node: &Node, report: &mut Report<'_>) -> Option<String> {
    match &node.kind {
        NodeKind::Scalar { text, plain: false } => Some(text.clone()),
        NodeKind::Scalar { text, plain: true } => match meaning(text) {
            Meaning::Null => {
                let help = "write it after the colon, or remove the key";
                report.error(Code::ConfigValue, node.span, format!("`{name}` has no value"), help);
                None
            }
            Meaning::Bool(_) => {
                wrong(name, "a text", &format!("write `\"{text}\"` for the text"), node, report);
                None
            }
            _ => Some(text.clone()),
        },
        _ => {
            wrong(name, "a text", "write a single value", node, report);
            None
        }
    }
}

fn duration(name: &str, node: &Node, report: &mut Report<'_>) -> Option<Duration> {
    let found = match &node.kind {
        NodeKind::Scalar { text, plain } => match meaning(text) {
            // Of longer times nobody has seen the end.
            Meaning::Int(seconds @ 1..=1_000_000_000) if *plain => Ok(Duration::from_secs(seconds)),
            Meaning::Int(_) if *plain => {
                Err("it must be between 1 and 1,000,000,000 seconds".to_owned())
            }
            _ => Duration::parse(text).map_err(|error| error.to_string()),
        },
        _ => Err("it must be a single value".to_owned()),
    };
    match found {
        Ok(duration) if duration.as_nanos() > 0 => return Some(duration),
        Ok(_) => wrong(name, "a duration", "it must be longer than zero", node, report),
        Err(why) => {
            let help = format!("write `30s`, `1m30s` or a number of seconds; {why}");
            wrong(name, "a duration", &help, node, report);
        }
    }
    None
}

/// Permissions. A number without a leading zero may be octal digits or, from a program, decimal.
fn octal(name: &str, node: &Node, report: &mut Report<'_>) -> Option<String> {
    let written = text(name, node, report)?;
    let plain = matches!(node.kind, NodeKind::Scalar { plain: true, .. });
    if plain && let Meaning::Int(number) = meaning(&written) {
        let message = format!("`{name}` is the decimal number {number}, but permissions are octal");
        let error = Diagnostic::new(Code::ConfigValue, node.span, message);
        let digits = parameter::matches(OCTAL, &written);
        let digits = digits.then(|| format!("write `\"{written}\"` for these digits"));
        // What a program makes of `0644`; of a larger number nobody means the bits.
        let bits = (0o100..=0o777).contains(&number);
        let bits = bits.then(|| format!("write `\"{number:04o}\"` for this number"));
        report.push(error.maybe_help(digits).maybe_help(bits).help("the usual form is `0644`"));
        return None;
    }
    Some(written.strip_prefix("0o").map_or(written.clone(), |digits| format!("0{digits}")))
}

/// `nginx`, `nginx=1.26` or `{name: nginx, version: "1.26"}`, each.
fn packages(name: &str, node: &Node, report: &mut Report<'_>) -> Option<Value> {
    let NodeKind::List(items) = &node.kind else {
        wrong(
            name,
            "a list",
            "write `[nginx, certbot]`, or a line `- nginx` for each",
            node,
            report,
        );
        return None;
    };
    let package = |item: &Node, report: &mut Report<'_>| {
        if !matches!(item.kind, NodeKind::Map(_)) {
            return text(name, item, report);
        }
        let mut fields = Fields::of(item, "a package", report)?;
        let given = arguments(&mut fields, keys::PACKAGE.iter(), None, report);
        fields.finish(keys::PACKAGE.iter().map(|param| param.name), report);
        let package = arguments::text(&given, "name")?;
        Some(match arguments::text(&given, "version") {
            Some(version) => format!("{package}={version}"),
            None => package,
        })
    };
    let items: Vec<Option<String>> = items.iter().map(|item| package(item, report)).collect();
    let items = items.into_iter().map(|item| item.map(|text| Value::String(text.into())));
    items.collect::<Option<_>>().map(Value::Array)
}

fn regex(name: &str, node: &Node, report: &mut Report<'_>) -> Option<Given> {
    let pattern = text(name, node, report)?;
    let problem = match regex::Regex::new(&pattern) {
        Ok(_) if !pattern.chars().any(char::is_control) => {
            return Some(Given::Regex(shell::regex_literal(&pattern)));
        }
        Ok(_) => "it is matched against single lines".to_owned(),
        Err(error) => error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
    };
    let message = format!("invalid regular expression in `{name}`");
    let error = Diagnostic::new(Code::ConfigValue, node.head(), message).label(problem);
    report.push(error.help("in single quotes, a backslash is literal: `'^port\\s*='`"));
    None
}

fn command(name: &str, node: &Node, report: &mut Report<'_>) -> Option<Given> {
    let written = text(name, node, report)?;
    let text = written.trim_end_matches('\n');
    if text.trim().is_empty() {
        wrong(name, "a command", "write what the shell should run", node, report);
        return None;
    }
    let refers = |it: &String| text.contains(&format!("{}{it}", expressions::VARIABLE));
    if let Some(variable) = report.variables.iter().find(|it| refers(it)).cloned() {
        let message = format!("`{name}` is shell text, where `@var.{variable}` is not replaced");
        let shouted = variable.to_uppercase();
        let help = format!(
            "pass it in the environment: `env: {{{shouted}: \"@var.{variable}\"}}`, and write \
             `${shouted}`"
        );
        report.error(Code::ConfigValue, node.head(), message, help);
        return None;
    }
    let plain = shell::reads_back(text, report.registry);
    Some(Given::Command { text: text.to_owned(), plain })
}

/// Whether a value is within the bounds of its parameter.
fn check(param: &Param, name: &str, value: &Value, span: Span, report: &mut Report<'_>) -> bool {
    if let Err(mismatch) = parameter::check(param, value) {
        refused(&mismatch, name, value, span, report);
        return false;
    }
    let help = match value {
        _ if keys::may_be_empty(param) => return true,
        Value::String(text) if text.is_empty() => "name a file or a directory",
        Value::Array(items) if items.is_empty() => "name at least one, or remove the step",
        _ => return true,
    };
    report.error(Code::ConfigValue, span, format!("`{name}` is empty"), help);
    false
}

fn refused(mismatch: &Mismatch, name: &str, value: &Value, span: Span, report: &mut Report<'_>) {
    let text = match value {
        Value::String(text) => text.escape_debug().to_string(),
        value => value.to_string(),
    };
    let error = mismatch.diagnostic(name, Origin::Literal(&text), span);
    report.push(Diagnostic { code: Code::ConfigValue, ..error });
}

fn wrong(name: &str, wanted: &str, help: &str, node: &Node, report: &mut Report<'_>) {
    let found = match &node.kind {
        NodeKind::List(_) => "a list",
        NodeKind::Map(_) => "a mapping",
        NodeKind::Scalar { plain: false, .. } => "a text",
        NodeKind::Scalar { text, plain: true } => match meaning(text) {
            Meaning::Null => "nothing",
            Meaning::Bool(_) => "a truth",
            Meaning::Int(_) | Meaning::Float(_) | Meaning::OddNumber => "a number",
            Meaning::Text => "a text",
        },
    };
    let message = format!("`{name}` expects {wanted}, got {found}");
    report.error(Code::ConfigValue, node.head(), message, help);
}
