//! Texts of `define` in a recipe.
//!
//! make expands a line of a recipe, and then runs each line of the result by itself. The marks `@`, `-`
//! and `+` in front of the reference hold for all of them, and each may have more of its own.

use std::collections::BTreeSet;

use super::expand::{Context, inner};
use super::functions;
use super::lines::Line;
use super::reader::{Reader, Rule};
use crate::form::{Cond, Expr, Task};

/// `define NAME` … `endef`.
#[derive(Debug)]
pub(super) struct Define {
    pub(super) name: String,
    /// Expanded where it is used, and not where it is defined (`:=`).
    pub(super) is_late: bool,
    pub(super) text: String,
    /// The line after it.
    pub(super) next: usize,
}

/// Reads the text that begins after the line `index`. make joins lines that end in `\` here, too.
pub(super) fn define(all: &[Line], index: usize, head: &str) -> Define {
    let mut words = head.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (name, operator) = match words.next() {
        Some(operator) => (name, operator),
        // `NAME=`.
        None => {
            let end = name.find([':', '=', '?', '+', '!']).unwrap_or(name.len());
            name.split_at(end)
        }
    };
    let mut depth = 0_usize;
    let end = all[index + 1..].iter().position(|line| {
        let word = line.text.split_whitespace().next().filter(|_| !line.is_recipe);
        depth += usize::from(word == Some("define"));
        let is_end = word == Some("endef");
        depth -= usize::from(is_end && depth > 0);
        is_end && depth == 0
    });
    let end = end.map_or(all.len(), |end| index + 1 + end);
    let lines: Vec<String> = all[index + 1..end].iter().map(|line| joined(&line.text)).collect();
    let is_late = matches!(operator, "" | "=");
    Define { name: name.to_owned(), is_late, text: lines.join("\n"), next: end + 1 }
}

fn joined(text: &str) -> String {
    let parts: Vec<&str> = text.split("\\\n").collect();
    let last = parts.len() - 1;
    let part = |(index, part): (usize, &&str)| match index {
        0 => part.trim_end_matches(|c| index < last && matches!(c, ' ' | '\t')).to_owned(),
        _ if index < last => part.trim().to_owned(),
        _ => part.trim_start().to_owned(),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(" ")
}

/// The texts that are values, too: of a variable, an argument, or the environment of the steps.
pub(super) fn used(file: &Reader<'_>, tasks: &[Task]) -> BTreeSet<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = file.exported.iter().cloned().collect();
    let look = |open: &mut Vec<String>, value: &Expr| {
        if let Expr::Name(name) = value {
            open.push(name.clone());
        }
    };
    tasks.iter().for_each(|task| task.visit(&mut |value| look(&mut open, value)));
    file.checks.iter().for_each(|it| it.value.visit(&mut |value| look(&mut open, value)));
    let others = file.variables.iter().filter(|(name, _)| !file.canned.contains(*name));
    others.for_each(|(_, value)| value.visit(&mut |value| look(&mut open, value)));
    while let Some(name) = open.pop() {
        if let Some(value) = file.variables.get(&name)
            && used.insert(name)
        {
            value.visit(&mut |value| look(&mut open, value));
        }
    }
    used
}

/// Bytes of a line with all texts in it.
const MAX_BYTES: usize = 64 * 1024;

/// The lines of a recipe, each a command of its own.
pub(super) fn recipe<'r>(rule: &'r Rule, context: &Context<'_>) -> Vec<(&'r [Cond], String)> {
    let mut all = Vec::new();
    for (conditions, line) in &rule.recipe {
        // One shell for all lines reads them as they are.
        let commands = match context.one_shell {
            true => vec![line.clone()],
            false => commands(line, context),
        };
        all.extend(commands.into_iter().map(|command| (conditions.as_slice(), command)));
    }
    all
}

/// The commands of a line; the line itself where no text of several lines, or with marks of its own,
/// is in it.
fn commands(line: &str, context: &Context<'_>) -> Vec<String> {
    let line = line.trim_start();
    let text = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
    let marks = &line[..line.len() - text.len()];
    match pasted(text, context) {
        Some(text) => separate(&text)
            .map(str::trim_start)
            .filter(|command| !command.trim().is_empty())
            .map(|command| format!("{marks}{command}"))
            .collect(),
        None => vec![line.to_owned()],
    }
}

/// The text with the texts that it refers to; none where there is nothing to paste.
fn pasted(text: &str, context: &Context<'_>) -> Option<String> {
    let (mut out, mut rest, mut is_found) = (String::new(), text, false);
    while let Some(start) = rest.find('$') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let reference = after.starts_with(['(', '{']).then(|| inner(after)).flatten();
        let Some(inside) = reference else {
            // `$$`, `$@`, or a bracket without end.
            let length = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[start..start + 1 + length]);
            rest = &after[length..];
            continue;
        };
        let whole = &rest[start..start + inside.len() + 3];
        let is_first = out.trim().is_empty();
        match referred(inside, context).filter(|text| is_canned(text, is_first)) {
            Some(text) => {
                is_found = true;
                let deeper = context.deeper()?;
                out.push_str(&pasted(&text, &deeper).unwrap_or(text));
            }
            None => out.push_str(whole),
        }
        if out.len() > MAX_BYTES {
            return None;
        }
        rest = &after[inside.len() + 2..];
    }
    out.push_str(rest);
    is_found.then_some(out)
}

/// Whether the text is more than a part of a command.
fn is_canned(text: &str, is_first: bool) -> bool {
    text.trim_end_matches('\n').contains('\n')
        || is_first && text.trim_start().starts_with(['@', '-', '+'])
}

/// The text of a variable, with the arguments of `call` in it.
fn referred(inside: &str, context: &Context<'_>) -> Option<String> {
    match inside.split_once([' ', '\t']) {
        Some(("call", args)) => {
            let args = functions::arguments(args);
            let name = args.first()?.trim();
            Some(with_arguments(canned(name, context)?, &args))
        }
        Some(_) => None,
        None => canned(inside, context).cloned(),
    }
}

fn canned<'c>(name: &str, context: &Context<'c>) -> Option<&'c String> {
    context.texts.get(name).filter(|_| context.canned.contains(name))
}

/// The text of a function of the file with its parameters replaced. `$$1` is not a parameter: it is
/// `$1` for the shell.
pub(super) fn with_arguments(text: &str, args: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('$') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let (name, length) = match after.chars().next() {
            Some('(' | '{') => match inner(after) {
                Some(name) => (name, name.len() + 2),
                None => ("", 0),
            },
            Some(c) => (&after[..c.len_utf8()], c.len_utf8()),
            None => ("", 0),
        };
        match name.parse::<usize>() {
            // A parameter that gets nothing is empty.
            Ok(number) if number > 0 => {
                out.push_str(args.get(number).map_or("", String::as_str));
                rest = &after[length..];
            }
            // Parameters may be inside the brackets.
            _ if after.starts_with(['(', '{']) => {
                out.push_str(&rest[start..start + 2]);
                rest = &after[1..];
            }
            _ => {
                out.push_str(&rest[start..start + 1 + length]);
                rest = &after[length..];
            }
        }
    }
    out + rest
}

/// Lines; one that ends in an odd number of `\` goes on.
fn separate(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let is_end = |at: usize| {
            let before = &text[..at];
            (before.len() - before.trim_end_matches('\\').len()) % 2 == 0
        };
        match text.match_indices('\n').map(|(at, _)| at).find(|at| is_end(*at)) {
            Some(at) => {
                rest = Some(&text[at + 1..]);
                Some(&text[..at])
            }
            None => Some(text),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_and_dollars_of_the_shell_are_not() {
        let args = ["f", "a", "b c"].map(str::to_owned);
        for (text, expected) in [
            ("x $(1) ${2} $1", "x a b c a"),
            ("awk '{print $$1}' $(1)", "awk '{print $$1}' a"),
            ("$(if $(1),$(2),no) $(3)|", "$(if a,b c,no) |"),
            ("$$$(1) $@ $", "$$a $@ $"),
            ("$(V)", "$(V)"),
        ] {
            assert_eq!(with_arguments(text, &args), expected, "{text}");
        }
    }

    #[test]
    fn a_line_ends_where_nothing_escapes_its_end() {
        let lines: Vec<&str> = separate("a\nb \\\nc\nd\\\\\ne").collect();
        assert_eq!(lines, ["a", "b \\\nc", "d\\\\", "e"]);
    }
}
