//! Spellings of Make, just and Task that the shell would take for something else.

use opal_core::{Code, Diagnostic, Span};

use super::checker::Checker;
use super::observer::Observer;
use crate::unit::{Piece, ShellText, StatementKind, Work};

/// Settings of just that begin a line with `set`.
const JUST_SETTINGS: [&str; 10] = [
    "dotenv-load",
    "dotenv-path",
    "dotenv-filename",
    "export",
    "fallback",
    "positional-arguments",
    "quiet",
    "shell",
    "working-directory",
    "allow-duplicate-recipes",
];

impl<O: Observer> Checker<'_, O> {
    /// Notes about one step; `may_have` where one of the characters of `{{` and `$(` is in it.
    pub(super) fn foreign_words(&mut self, text: &ShellText, may_have: bool) {
        let leading = text.leading();
        // Most steps have none of these characters, and are not worth another check.
        let begins = leading.starts_with(['-', '[']) || leading.starts_with("set ");
        let may = |piece: &Piece| match piece {
            Piece::Text(text) => text.contains("{{") || text.contains("$("),
            _ => false,
        };
        if !(begins || may_have && text.pieces.iter().any(may)) {
            return;
        }
        if begins && self.foreign_start(leading, text.span) {
            return;
        }
        for piece in &text.pieces {
            if let Piece::Text(part) = piece {
                self.foreign_variables(part, text.span);
            }
        }
    }

    /// `-rm x`, `[private]`, `set dotenv-load`.
    fn foreign_start(&mut self, leading: &str, span: Span) -> bool {
        let line = leading.lines().next().unwrap_or_default();
        let first = line.split_whitespace().next().unwrap_or_default();
        let (message, help) = if let Some(command) = first.strip_prefix('-')
            && command.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            (
                format!("Make's `-` is not removed: the shell looks for a program `{first}`"),
                format!("to continue when it fails, write `{command} … || true`"),
            )
        } else if let Some(attribute) = attribute(line) {
            let help = match attribute {
                "private" => "a task whose name begins with `_` is not listed".to_owned(),
                "confirm" => "use `@confirm(\"…\")` as the first step".to_owned(),
                "doc" => "write the text as a comment above the function".to_owned(),
                "group" => {
                    "tasks with the same prefix before their first `-` are listed together".into()
                }
                "working-directory" => "put the steps in `@workdir(\"…\") { … }`".to_owned(),
                _ => format!("delete the line; opal has no attribute `{attribute}`"),
            };
            (format!("`[{attribute}]` is an attribute of just: the shell would run it"), help)
        } else if let Some(setting) = setting(line) {
            let help = match setting {
                "dotenv-load" | "dotenv-path" | "dotenv-filename" => {
                    "give the file to the run: `opal TASK --env-file .env`"
                }
                "shell" => "name the shell of a step: `@shell(\"…\", shell=\"zsh\")`",
                "export" => "set variables for steps with `@environ(NAME=…) { … }`",
                _ => "delete the line",
            };
            (format!("`set {setting}` is a setting of just, and has no effect here"), help.into())
        } else {
            return false;
        };
        self.note(span, message, help);
        true
    }

    /// `{{name}}` and `$(NAME)`.
    fn foreign_variables(&mut self, text: &str, span: Span) {
        if let Some(name) = between(text, "{{", "}}").map(str::trim).filter(|it| is_name(it)) {
            let message =
                format!("`{{{{{name}}}}}` is the syntax of just: the shell gets it as text");
            self.note(span, message, format!("write `@var.{name}`"));
        }
        let upper = |name: &&str| is_name(name) && !name.bytes().any(|b| b.is_ascii_lowercase());
        if let Some(name) = between(text, "$(", ")").filter(upper) {
            let message = format!("`$({name})` is Make syntax: the shell runs a program `{name}`");
            let help = if self.is_visible(name) {
                format!("write `@var.{name}`")
            } else {
                format!("write `@var.{name}`, or `@env.{name}` for a variable of the environment")
            };
            self.note(span, message, help);
        }
    }

    fn note(&mut self, span: Span, message: String, help: String) {
        self.report(Diagnostic::new(Code::ForeignHabit, span, message).help(help));
    }

    /// Steps at top level in a file of tasks: `opal TASK` never runs them. A file that calls its own
    /// functions from there, or says `#!`, is a script.
    pub(super) fn top_level_steps(&mut self) {
        let unit = self.unit;
        if unit.functions_of(0).is_empty() || self.text.starts_with("#!") {
            return;
        }
        if !self.functions.script_calls.is_empty() {
            return;
        }
        let shell = |kind: &StatementKind| match kind {
            StatementKind::Step(step) => matches!(step.first.work, Work::Shell(_)),
            _ => false,
        };
        let mut steps = unit.script.statements.iter().filter(|it| shell(&it.kind));
        let Some(first) = steps.next() else { return };
        let more = match steps.count() {
            0 => String::new(),
            1 => ", nor one more below".to_owned(),
            count => format!(", nor {count} more below"),
        };
        let message = format!("`opal TASK` does not run this top-level step{more}");
        let error = Diagnostic::new(Code::TopLevelStep, first.span, message)
            .help("move it into a function: `fun NAME() { … }`")
            .help("to run the file as a script: `opal run ./FILE.opl`, or begin it with `#!`");
        self.report(error);
    }
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The attribute of a line that is nothing but `[private]` or `[group('x')]`.
fn attribute(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    let name = inner.split(['(', ':']).next()?.trim();
    let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
    (!inner.starts_with(' ') && !name.is_empty() && name.chars().all(is_word)).then_some(name)
}

fn setting(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let second = words.next().filter(|word| *word == "set").and_then(|_| words.next())?;
    let name = second.trim_end_matches(":=");
    let is_last = words.next().is_none_or(|third| third == ":=");
    (JUST_SETTINGS.contains(&name) && is_last).then_some(name)
}
