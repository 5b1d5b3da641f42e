//! Templates in the Go spelling, turned into Jinja tag by tag: lines stay where they are, and tags
//! that are Jinja already stay as they are.
//!
//! Understood are `{{.name}}`, `if`, `else if`, `else`, `range`, `end`, comments, trim marks, and the
//! functions that compare. Anything else of that spelling is a fault that names it: a template that is
//! half understood would render to something that nobody wrote.

mod expression;
mod tags;

use std::borrow::Cow;

use super::engine::Fault;
use expression::{Names, expression, quoted};
use tags::{Kind, Tag, is_go};

/// The filter behind `range`.
pub(super) const PAIRS: &str = "_go_pairs";

/// The filter behind every value: Go writes `true` where Jinja writes `True`.
pub(super) const SHOWN: &str = "_go_shown";

/// What `.` is within a `range`, and the position or key beside it; a number follows.
const ITEM: &str = "_go_item";
const KEY: &str = "_go_key";

/// Blocks within blocks.
const MAX_NESTING: usize = 64;

pub(super) fn to_jinja(source: &str) -> Result<Cow<'_, str>, Fault> {
    let mut translation = Translation::default();
    let mut out = String::new();
    let mut copied = 0;
    for tag in tags::tags(source) {
        let is_ours = tag.kind == Kind::Value && is_go(tag.inner, translation.is_going());
        let line = || 1 + newlines(&source[..tag.start]);
        if let Some(name) = tags::dollar(&tag, is_ours) {
            return Err(dollar(line(), name));
        }
        if !is_ours {
            continue;
        }
        let line = line();
        out.push_str(&source[copied..tag.start]);
        out.push_str(&translation.tag(&tag, line)?);
        copied = tag.end;
    }
    if let Some(open) = translation.open.last() {
        return Err(Fault::at(open.line, format!("`{}` has no `end`", open.word())));
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(source));
    }
    out.push_str(&source[copied..]);
    Ok(Cow::Owned(out))
}

/// What the engine says, with the names that the template has.
pub(super) fn spoken(text: &str) -> String {
    let text = text.replace(&format!("|{SHOWN}"), "");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(ITEM) {
        out.push_str(before);
        let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit());
        if !behind.starts_with('.') {
            out.push('.');
        }
        rest = behind;
    }
    out + rest
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[derive(Default)]
struct Translation {
    open: Vec<Open>,
    /// How many `range`s there were, so that each has names of its own.
    ranges: usize,
    is_go: bool,
}

/// A block that waits for its `end`.
struct Open {
    line: usize,
    range: Option<Range>,
    /// Behind an `else` that nothing may follow.
    is_last: bool,
}

struct Range {
    number: usize,
    /// `$key` and `$item`, as the template calls them.
    key: Option<String>,
    item: Option<String>,
}

impl Open {
    fn word(&self) -> &'static str {
        if self.range.is_some() { "range" } else { "if" }
    }
}

impl Translation {
    /// Whether `end` and `else` have a meaning here.
    fn is_going(&self) -> bool {
        self.is_go
    }

    fn tag(&mut self, tag: &Tag<'_>, line: usize) -> Result<String, Fault> {
        self.is_go = true;
        let (left, body, right) = trims(tag.inner);
        let (open, body, close) = if body.starts_with("/*") {
            ("{#", String::new(), "#}")
        } else if let Some(statement) = self.statement(body, line)? {
            ("{%", statement, "%}")
        } else {
            ("{{", format!("{}|{SHOWN}", expression(body, self, line)?), "}}")
        };
        let kept = "\n".repeat(newlines(tag.inner));
        Ok(format!("{open}{left} {body} {kept}{right}{close}"))
    }

    fn statement(&mut self, body: &str, line: usize) -> Result<Option<String>, Fault> {
        let (word, rest) = split_word(body);
        Ok(Some(match word {
            "if" => {
                let condition = expression(rest, self, line)?;
                self.push(Open { line, range: None, is_last: false })?;
                format!("if {condition}")
            }
            "range" => self.range(rest, line)?,
            "else" => self.otherwise(rest, line)?,
            "end" if rest.is_empty() => match self.open.pop() {
                Some(open) if open.range.is_some() => "endfor".to_owned(),
                Some(_) => "endif".to_owned(),
                None => return Err(Fault::at(line, "`end` has nothing to end")),
            },
            "end" => return Err(Fault::at(line, "nothing may stand behind `end`")),
            "with" | "define" | "template" | "block" | "break" | "continue" => {
                return Err(unsupported(line, word));
            }
            _ => return Ok(None),
        }))
    }

    fn otherwise(&mut self, rest: &str, line: usize) -> Result<String, Fault> {
        let (word, condition) = split_word(rest);
        let Some(open) = self.open.last_mut() else {
            return Err(Fault::at(line, "`else` has no `if` or `range` before it"));
        };
        if open.is_last {
            return Err(Fault::at(line, "`else` comes behind an `else`"));
        }
        match word {
            "" => {
                open.is_last = true;
                Ok("else".to_owned())
            }
            "if" if open.range.is_none() => {
                Ok(format!("elif {}", expression(condition, self, line)?))
            }
            _ => Err(unsupported(line, &format!("else {word}"))),
        }
    }

    /// `.items`, `$item := .items`, `$key, $item := .items`.
    fn range(&mut self, rest: &str, line: usize) -> Result<String, Fault> {
        let (names, over) = match rest.split_once(":=") {
            Some((names, over)) if names.starts_with('$') => (names, over.trim()),
            _ => ("", rest),
        };
        let names: Vec<&str> =
            names.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        let is_name = |name: &&str| name.starts_with('$') && expression::is_name(&name[1..]);
        if names.len() > 2 || !names.iter().all(is_name) {
            return Err(Fault::at(line, "`range` takes `$item := …` or `$key, $item := …`"));
        }
        let list = expression(over, self, line)?;
        self.ranges += 1;
        let number = self.ranges;
        let item = names.last().map(|name| (*name).to_owned());
        let key = (names.len() == 2).then(|| names[0].to_owned());
        self.push(Open { line, range: Some(Range { number, key, item }), is_last: false })?;
        Ok(format!("for {KEY}{number}, {ITEM}{number} in {list}|{PAIRS}({})", quoted(over)))
    }

    fn push(&mut self, open: Open) -> Result<(), Fault> {
        if self.open.len() == MAX_NESTING {
            let message = format!("blocks lie more than {MAX_NESTING} deep");
            return Err(Fault::at(open.line, message));
        }
        self.open.push(open);
        Ok(())
    }

    /// Those around a place, the innermost first. An `else` of a `range` is outside of it.
    fn around(&self) -> impl Iterator<Item = &Range> {
        let inside = self.open.iter().rev().filter(|open| !open.is_last);
        inside.filter_map(|open| open.range.as_ref())
    }
}

impl Names for Translation {
    fn dot(&self) -> Option<String> {
        self.around().next().map(|range| format!("{ITEM}{}", range.number))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.around().find_map(|range| {
            let number = range.number;
            let is = |it: &Option<String>| it.as_deref() == Some(name);
            match range {
                range if is(&range.item) => Some(format!("{ITEM}{number}")),
                range if is(&range.key) => Some(format!("{KEY}{number}")),
                _ => None,
            }
        })
    }
}

fn unsupported(line: usize, what: &str) -> Fault {
    let help = match what {
        "|" => "write filters without the dot: `{{ name|upper }}`",
        "with" => "write names in full, as in `{{ a.b }}`, or use `{% set x = a.b %}`",
        "define" | "template" | "block" => "write it in place, or as `{% macro name() %}`",
        "break" | "continue" => {
            "write the loop as Jinja: `{% for x in list %}{% break %}{% endfor %}`"
        }
        "printf" => "write `{{ \"%s\"|format(name) }}`",
        "len" => "write `{{ name|length }}`",
        "index" => "write `{{ name[0] }}` or `{{ name[\"key\"] }}`",
        "default" => "write `{{ name|default(\"value\") }}`",
        "quote" => "write the quotes in the template: `\"{{ name }}\"`",
        "toJson" => "write `{{ name|tojson }}`",
        "upper" | "lower" | "title" | "trim" | "join" | "replace" => {
            "write it as a filter: `{{ name|upper }}`"
        }
        _ => "write `{{ name }}`, `{% if name %}` or `{% for x in list %}`",
    };
    let message = format!("`{what}` of Go templates is not supported; write it as Jinja");
    Fault::at(line, message).with_help(Some(help.to_owned()))
}

/// `$name` or `${name}` where Jinja has `name`.
fn dollar(line: usize, whole: &str) -> Fault {
    let name = whole.trim_matches(['$', '{', '}', ' ']);
    let message = format!("`{whole}` cannot be used in a template: its names have no `$`");
    let help = (!name.is_empty()).then(|| format!("write `{name}`, as in `{{{{ {name} }}}}`"));
    Fault::at(line, message).with_help(help)
}

/// A trim mark on each side, and what is between them.
fn trims(inner: &str) -> (&'static str, &str, &'static str) {
    let (left, inner) = inner.strip_prefix('-').map_or(("", inner), |rest| ("-", rest));
    let (right, inner) = inner.strip_suffix('-').map_or(("", inner), |rest| ("-", rest));
    (left, inner.trim(), right)
}

/// A word and what stands behind it.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests;
