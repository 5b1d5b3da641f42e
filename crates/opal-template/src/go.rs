//! Templates in Go's spelling: `opal convert` turns them into Jinja, tag by tag. Lines stay where they
//! are, and tags that are Jinja already stay as they are.
//!
//! Understood are `{{.name}}`, `if`, `else if`, `else`, `range`, `end`, comments, trim marks, and the
//! functions that compare. Anything else of that spelling is a fault that names it: a template that is
//! half understood would render to something that nobody wrote.

mod expression;
mod tags;

use std::collections::BTreeSet;

use expression::{Names, expression};
use opal_core::template::{Fault, Reason};
use tags::{Kind, Tag, is_go};

/// Blocks within blocks.
const MAX_NESTING: usize = 64;

/// A template that was in Go's spelling.
#[derive(Debug)]
pub struct ConvertedTemplate {
    pub text: String,
    /// Where it may not mean the same.
    pub notes: Vec<TemplateNote>,
}

/// Something about a line of a template.
#[derive(Debug, PartialEq, Eq)]
pub struct TemplateNote {
    pub line: usize,
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// A template in Jinja's spelling; or why it cannot be converted.
pub fn convert_template(source: &str) -> Result<ConvertedTemplate, TemplateNote> {
    to_jinja(source).map_err(|fault| {
        let message = match fault.reason {
            Reason::Missing { name, .. } => format!("`{name}` has no value"),
            Reason::Other(message) => message,
        };
        let help = fault.help.unwrap_or_else(|| "correct the template".to_owned());
        TemplateNote { line: fault.line.unwrap_or(1), message, help }
    })
}

/// Refuses a template with a tag that is not Jinja.
pub(super) fn demand_jinja(source: &str) -> Result<(), Fault> {
    for tag in tags::tags(source) {
        let line = || 1 + newlines(&source[..tag.start]);
        let is_go = tag.kind == Kind::Value && is_go(tag.inner, false);
        // `{{ $name }}` is more likely a habit from shell scripts.
        let is_variable = tag.inner.trim().strip_prefix('$').is_some_and(expression::is_name);
        if let Some(name) = tags::dollar(&tag, is_go && !is_variable) {
            return Err(dollar(line(), name));
        }
        if is_go {
            let shown: String = tag.inner.trim().chars().take(40).collect();
            let message = format!("`{{{{ {shown} }}}}` is a tag of a Go template");
            let help = "convert the template once: `opal convert --from go-template FILE`";
            return Err(Fault::at(line(), message).with_help(Some(help.to_owned())));
        }
    }
    Ok(())
}

fn to_jinja(source: &str) -> Result<ConvertedTemplate, Fault> {
    let mut translation = Translation { taken: taken(source), ..Translation::default() };
    let mut out = String::new();
    let mut copied = 0;
    for tag in tags::tags(source) {
        let is_ours = tag.kind == Kind::Value && is_go(tag.inner, translation.is_go);
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
    out.push_str(&source[copied..]);
    Ok(ConvertedTemplate { text: out, notes: translation.notes })
}

/// The names in tags that are not variables of Go: no variable of a loop may hide one.
fn taken(source: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut taken = BTreeSet::new();
    for tag in tags::tags(source) {
        let (mut rest, mut before) = (tag.inner, ' ');
        while let Some(c) = rest.chars().next() {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(c.len_utf8());
            if is_word(c) && before != '$' {
                taken.insert(rest[..end].to_owned());
            }
            (before, rest) = (c, &rest[end..]);
        }
    }
    taken
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[derive(Default)]
struct Translation {
    open: Vec<Open>,
    taken: BTreeSet<String>,
    notes: Vec<TemplateNote>,
    /// Whether `end` and `else` have a meaning here.
    is_go: bool,
}

/// A block that waits for its `end`.
struct Open {
    line: usize,
    range: Option<Range>,
    /// After an `else`, which no other may follow.
    is_last: bool,
}

struct Range {
    key: Option<Variable>,
    item: Variable,
}

/// A variable of a loop.
struct Variable {
    /// `$item`, as the template calls it; empty where only `.` means it.
    go: String,
    jinja: String,
}

impl Open {
    fn word(&self) -> &'static str {
        if self.range.is_some() { "range" } else { "if" }
    }
}

impl Translation {
    fn tag(&mut self, tag: &Tag<'_>, line: usize) -> Result<String, Fault> {
        self.is_go = true;
        let (left, body, right) = trims(tag.inner);
        if let Some(comment) = body.strip_prefix("/*") {
            let comment = comment.trim_end_matches("*/").replace("#}", "# }");
            return Ok(format!("{{#{left}{comment}{right}#}}"));
        }
        let kept = "\n".repeat(newlines(tag.inner));
        if let Some(statement) = self.statement(body, line)? {
            return Ok(format!("{{%{left} {statement} {kept}{right}%}}"));
        }
        let value = expression(body, self, line)?;
        let (function, _) = split_word(body.trim_start_matches('('));
        let value = if matches!(function, "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "not") {
            format!("\"true\" if {value} else \"false\"")
        } else {
            let message = "Go prints a Bool as `true`, and Jinja as `True`";
            self.note(line, message, "if the value is a Bool, write `{{ name|tojson }}`");
            value
        };
        Ok(format!("{{{{{left} {value} {kept}{right}}}}}"))
    }

    /// Each message once, with its first line.
    fn note(&mut self, line: usize, message: impl Into<String>, help: impl Into<String>) {
        let (message, help) = (message.into(), help.into());
        if !self.notes.iter().any(|note| note.message == message) {
            self.notes.push(TemplateNote { line, message, help });
        }
    }

    /// A variable of Jinja that hides no other name.
    fn fresh(&mut self, go: &str) -> Variable {
        let name = match go.trim_start_matches('$') {
            "" => "item",
            name => name,
        };
        let is_free =
            |it: &String| !self.taken.contains(it) && !expression::RESERVED.contains(&it.as_str());
        let numbered = (2_usize..).map(|number| format!("{name}{number}"));
        let jinja = std::iter::once(name.to_owned()).chain(numbered).find(is_free);
        let jinja = jinja.unwrap_or_default();
        self.taken.insert(jinja.clone());
        Variable { go: go.to_owned(), jinja }
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
                None => return Err(Fault::at(line, "`end` without a block")),
            },
            "end" => return Err(Fault::at(line, "nothing may follow `end`")),
            "with" | "define" | "template" | "block" | "break" | "continue" => {
                return Err(unsupported(line, word));
            }
            _ => return Ok(None),
        }))
    }

    fn otherwise(&mut self, rest: &str, line: usize) -> Result<String, Fault> {
        let (word, condition) = split_word(rest);
        let Some(open) = self.open.last_mut() else {
            return Err(Fault::at(line, "`else` without `if` or `range`"));
        };
        if open.is_last {
            return Err(Fault::at(line, "`else` after an `else`"));
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
        let message = format!("`range {over}` is written as a loop over a list");
        let item = self.fresh(names.last().copied().unwrap_or_default());
        let key = (names.len() == 2).then(|| self.fresh(names[0]));
        let (keep, map) = match &key {
            Some(Variable { jinja: key, .. }) => (
                format!(" %}}{{% set {key} = loop.index0"),
                format!("{{% for {key}, {} in {list}.items() %}}", item.jinja),
            ),
            None => (String::new(), format!("{{% for {} in {list}.values() %}}", item.jinja)),
        };
        self.note(line, message, format!("if it is a map, write `{map}`"));
        let statement = format!("for {} in {list}{keep}", item.jinja);
        self.push(Open { line, range: Some(Range { key, item }), is_last: false })?;
        Ok(statement)
    }

    fn push(&mut self, open: Open) -> Result<(), Fault> {
        if self.open.len() == MAX_NESTING {
            let message = format!("blocks are nested more than {MAX_NESTING} levels deep");
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
        self.around().next().map(|range| range.item.jinja.clone())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let variables = self.around().flat_map(|range| [Some(&range.item), range.key.as_ref()]);
        variables.flatten().find(|it| it.go == name).map(|it| it.jinja.clone())
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
    let message = format!("`{what}` of Go templates cannot be converted; write it as Jinja");
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

/// A word and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests;
