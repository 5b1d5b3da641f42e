//! Values of variables: under conditions, from the environment, as they are assigned.

use super::lines::find_outside;
use crate::form::{Cond, Expr};

/// The value where all conditions hold, and the old one elsewhere. Branches of one `if` meet in one
/// choice.
pub(super) fn chosen(conditions: &[Cond], value: Expr, old: Expr) -> Expr {
    let Some((first, rest)) = conditions.split_first() else { return value };
    match old {
        Expr::Choice(condition, then, otherwise) if *condition == *first => {
            Expr::Choice(condition, Box::new(chosen(rest, value, *then)), otherwise)
        }
        Expr::Choice(condition, then, otherwise) if Cond::Not(condition.clone()) == *first => {
            Expr::Choice(condition, then, Box::new(chosen(rest, value, *otherwise)))
        }
        old if rest.is_empty() => Expr::choice(first.clone(), value, old),
        old => Expr::choice(Cond::All(conditions.to_vec()), value, old),
    }
}

/// Whether a value is nothing, or stops make.
pub(super) fn is_check(value: &Expr) -> bool {
    match value {
        Expr::Text(text) => text.trim().is_empty(),
        Expr::Fail(_) => value.unsupported().is_none(),
        Expr::Choice(_, then, otherwise) => {
            value.unsupported().is_none() && is_check(then) && is_check(otherwise)
        }
        _ => false,
    }
}

/// Whether a condition holds, where that is known: opal does not run on Windows.
pub(super) fn folded(condition: &Cond) -> Option<bool> {
    let text = |it: &Expr| match it {
        Expr::Text(text) => Some(text.clone()),
        Expr::Name(name) if name == "OS" => Some(String::new()),
        _ => None,
    };
    match condition {
        Cond::Equal(left, right) => Some(text(left)? == text(right)?),
        Cond::NotEqual(left, right) => Some(text(left)? != text(right)?),
        Cond::Not(inner) => folded(inner).map(|it| !it),
        _ => None,
    }
}

/// A variable that the file does not define.
pub(super) fn outside(name: &str) -> Expr {
    let default = match name {
        "CC" => "cc",
        "CXX" => "g++",
        "AR" => "ar",
        "AS" => "as",
        "RM" => "rm -f",
        // make does not read this one from the environment.
        "SHELL" => return Expr::text("/bin/sh"),
        _ => "",
    };
    environment(name, Expr::text(default))
}

pub(super) fn environment(name: &str, default: Expr) -> Expr {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => Expr::Env(name.to_owned(), Some(Box::new(default))),
        false => default,
    }
}

/// `NAME = value` with one of make's operators.
pub(super) fn assignment(code: &str) -> Option<(&str, &str, &str)> {
    let at = find_outside(code, |it| it.starts_with('='))?;
    let operators = [":::=", "::=", ":=", "?=", "+=", "!="];
    let before = &code[..at + 1];
    let operator = operators.into_iter().find(|it| before.ends_with(it)).unwrap_or("=");
    let name = before[..before.len() - operator.len()].trim();
    let is_one = !name.is_empty() && !name.contains([' ', '\t', ':']);
    is_one.then_some((name, operator, &code[at + 1..]))
}
