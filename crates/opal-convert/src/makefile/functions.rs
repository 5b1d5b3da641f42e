//! Functions of make. Those of constants are computed here.

use super::expand::{Context, pieces, value};
use crate::form::{Cond, Expr, MAIN};

const NAMES: [&str; 31] = [
    "abspath",
    "addprefix",
    "addsuffix",
    "and",
    "basename",
    "call",
    "dir",
    "error",
    "eval",
    "filter",
    "filter-out",
    "findstring",
    "firstword",
    "foreach",
    "if",
    "info",
    "join",
    "lastword",
    "notdir",
    "or",
    "origin",
    "patsubst",
    "realpath",
    "shell",
    "sort",
    "strip",
    "subst",
    "suffix",
    "warning",
    "wildcard",
    "word",
];

pub(super) fn is_function(name: &str) -> bool {
    NAMES.contains(&name) || matches!(name, "words" | "wordlist" | "value" | "file" | "flavor")
}

/// Separated by commas outside brackets.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut args = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                args.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = args.last_mut() {
            last.push(c);
        }
    }
    args
}

pub(super) fn call(name: &str, args: &str, context: &Context<'_>) -> Expr {
    if name == "shell" {
        return Expr::Output(pieces(args.trim(), context));
    }
    if name == "error" {
        // A comma is part of the message.
        return Expr::Fail(Box::new(value(args.trim(), context)));
    }
    // Make removes blanks before the first argument only: `$(subst ., ,X)` makes blanks of dots.
    let keeps_blanks = name == "subst";
    let argument = |arg: &String| value(if keeps_blanks { arg } else { arg.trim() }, context);
    let values: Vec<Expr> = arguments(args).iter().map(argument).collect();
    let texts: Option<Vec<String>> = values.iter().map(|it| known(it, context)).collect();
    let texts = texts.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
    if let Some(found) = texts.and_then(|texts| constant(name, &texts)) {
        return Expr::Text(found);
    }
    computed(name, &values).unwrap_or_else(|| Expr::Unsupported(format!("`$({name} …)`")))
}

/// A value that is the same wherever the file is read.
pub(super) fn known(value: &Expr, context: &Context<'_>) -> Option<String> {
    match value {
        Expr::Text(text) => Some(text.clone()),
        Expr::Name(name) => context.known.get(name).cloned(),
        Expr::Concat(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(|it| known(it, context)).collect();
            parts.map(|parts| parts.concat()).filter(|it| it.len() <= 64 * 1024)
        }
        _ => None,
    }
}

/// A function of values that are not known yet.
fn computed(name: &str, values: &[Expr]) -> Option<Expr> {
    Some(match (name, values) {
        ("wildcard", [path @ Expr::Text(text)]) if !text.contains([' ', '*', '?', '[']) => {
            Expr::choice(Cond::Exists(path.clone()), path.clone(), Expr::text(""))
        }
        ("wildcard", [patterns @ Expr::Text(_)]) => patterns.clone(),
        ("firstword" | "lastword" | "abspath" | "realpath", [Expr::Name(name)]) if name == MAIN => {
            Expr::Name(name.clone())
        }
        ("strip", [text]) => Expr::Apply("trim", vec![text.clone()]),
        ("notdir", [path]) => Expr::Apply("basename", vec![path.clone()]),
        ("dir", [path]) => {
            Expr::concat(vec![Expr::Apply("dirname", vec![path.clone()]), Expr::text("/")])
        }
        // `$(patsubst %/,%,$(dir …))`: the directory without its slash.
        ("patsubst", [Expr::Text(from), Expr::Text(to), Expr::Concat(parts)])
            if from == "%/"
                && to == "%"
                && matches!(parts.as_slice(), [Expr::Apply("dirname", _), Expr::Text(slash)] if slash == "/") =>
        {
            parts[0].clone()
        }
        ("subst", [from @ Expr::Text(text), to, value]) if !text.is_empty() => {
            Expr::Apply("replace", vec![value.clone(), from.clone(), to.clone()])
        }
        ("abspath" | "realpath", [path]) => match path {
            Expr::Text(text) if text.starts_with('/') => path.clone(),
            _ => Expr::concat(vec![Expr::here(), Expr::text("/"), path.clone()]),
        },
        ("if", [condition, then, rest @ ..]) => {
            let given = Cond::NotEqual(condition.clone(), Expr::text(""));
            Expr::choice(given, then.clone(), rest.first().cloned().unwrap_or(Expr::text("")))
        }
        ("or", [first, second]) => {
            let given = Cond::NotEqual(first.clone(), Expr::text(""));
            Expr::choice(given, first.clone(), second.clone())
        }
        ("info" | "warning", _) => Expr::text(""),
        ("firstword", [text]) => Expr::FirstWord(Box::new(text.clone())),
        ("word", [Expr::Text(index), text]) if index == "1" => {
            Expr::FirstWord(Box::new(text.clone()))
        }
        _ => return None,
    })
}

fn constant(name: &str, texts: &[&str]) -> Option<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let each = |text: &str, change: &dyn Fn(&str) -> String| {
        text.split_whitespace().map(change).collect::<Vec<_>>().join(" ")
    };
    Some(match (name, texts) {
        ("strip", [text]) => words(text).join(" "),
        ("subst", [from, to, text]) if !from.is_empty() => text.replace(from, to),
        ("patsubst", [from, to, text]) => each(text, &|word| patsubst(word, from, to)),
        ("addprefix", [prefix, text]) => each(text, &|word| format!("{prefix}{word}")),
        ("addsuffix", [suffix, text]) => each(text, &|word| format!("{word}{suffix}")),
        ("notdir", [text]) => each(text, &|word| part_of(word, 'F')),
        ("dir", [text]) => each(text, &|word| format!("{}/", part_of(word, 'D'))),
        ("basename", [text]) => each(text, &|word| {
            let cut = word.rfind('.').filter(|at| word.rfind('/').is_none_or(|slash| *at > slash));
            word[..cut.unwrap_or(word.len())].to_owned()
        }),
        ("filter", [patterns, text]) => {
            let is_kept = |word: &String| words(patterns).iter().any(|it| matches(word, it));
            words(text).into_iter().filter(is_kept).collect::<Vec<_>>().join(" ")
        }
        ("filter-out", [patterns, text]) => {
            let is_kept = |word: &String| !words(patterns).iter().any(|it| matches(word, it));
            words(text).into_iter().filter(is_kept).collect::<Vec<_>>().join(" ")
        }
        ("findstring", [part, text]) => {
            if text.contains(part) {
                (*part).to_owned()
            } else {
                String::new()
            }
        }
        ("sort", [text]) => {
            let mut words = words(text);
            words.sort();
            words.dedup();
            words.join(" ")
        }
        ("word", [index, text]) => {
            let index: usize = index.parse().ok()?;
            words(text).get(index.checked_sub(1)?).cloned().unwrap_or_default()
        }
        ("words", [text]) => words(text).len().to_string(),
        ("firstword", [text]) => words(text).first().cloned().unwrap_or_default(),
        ("lastword", [text]) => words(text).last().cloned().unwrap_or_default(),
        ("if", [condition, then, rest @ ..]) => match condition.is_empty() {
            true => rest.first().copied().unwrap_or_default().to_owned(),
            false => (*then).to_owned(),
        },
        ("info" | "warning", _) => String::new(),
        _ => return None,
    })
}

/// `$(NAME:.c=.o)` of a list that is known.
pub(super) fn replaced_ends(list: &str, from: &str, to: &str) -> Expr {
    let (from, to) = match from.contains('%') {
        true => (from.to_owned(), to.to_owned()),
        false => (format!("%{from}"), format!("%{to}")),
    };
    Expr::Text(constant("patsubst", &[&from, &to, list]).unwrap_or_default())
}

fn matches(word: &str, pattern: &str) -> bool {
    match pattern.split_once('%') {
        Some((before, after)) => {
            word.len() >= before.len() + after.len()
                && word.starts_with(before)
                && word.ends_with(after)
        }
        None => word == pattern,
    }
}

fn patsubst(word: &str, from: &str, to: &str) -> String {
    if !matches(word, from) {
        return word.to_owned();
    }
    match from.split_once('%') {
        Some((before, after)) => to.replacen('%', &word[before.len()..word.len() - after.len()], 1),
        None => to.to_owned(),
    }
}

/// The directory (`D`) or the file (`F`) of a path.
pub(super) fn part_of(path: &str, part: char) -> String {
    match (path.rsplit_once('/'), part) {
        (Some(("", _)), 'D') => "/".to_owned(),
        (Some((directory, _)), 'D') => directory.to_owned(),
        (Some((_, file)), _) => file.to_owned(),
        (None, 'D') => ".".to_owned(),
        (None, _) => path.to_owned(),
    }
}
