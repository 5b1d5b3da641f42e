//! The steps of a function.

use std::ops::Range;

use opal_core::Registry;
use opal_core::script::interpreted;

use super::lessons::{AT, Escape, Lessons, StepId, Why};
use super::part::literal;
use super::part::{Part, as_text};
use super::scope::Scope;
use super::step_text::is_step;
use crate::comment::comment;
use crate::form::{Argument, Cached, Call, Expr, Piece, Step, Task};
use crate::quotes::{Place, Quotes};

/// Text, with the places of its steps.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) text: String,
    pub(super) regions: Vec<(Range<usize>, StepId)>,
    pub(super) statements: usize,
}

impl Steps {
    /// What is between the braces of a function.
    pub(super) fn of_task(
        index: usize,
        task: &Task,
        scope: &mut Scope<'_>,
        lessons: &Lessons,
        registry: &Registry,
    ) -> Result<Self, Why> {
        let is_elsewhere = task.directory.is_some();
        let steps = Self::default();
        let mut writer = Writer { task: index, next: 0, is_elsewhere, lessons, registry, steps };
        let environment = environment(task, scope);
        let directory = task.directory.as_ref().map(|it| scope.directory(it)).transpose()?;
        let create = if task.creates_directory { ", create=true" } else { "" };
        let mut blocks = Vec::new();
        if !task.body.is_empty() {
            if !environment.is_empty() {
                blocks.push(format!("{AT}environ({}) {{", environment.join(", ")));
            }
            blocks.extend(directory.map(|it| format!("{AT}workdir({it}{create}) {{")));
            blocks.extend(task.cached.as_ref().map(|it| format!("{AT}{} {{", cached(it))));
        }
        if !task.finally.is_empty() {
            blocks.push("try {".to_owned());
        }
        let depth = 1 + blocks.len();
        writer.block(&task.body, depth, scope)?;
        if !task.finally.is_empty() {
            writer.steps.text.push_str(&indented("} finally {", depth - 1));
            writer.block(&task.finally, depth, scope)?;
        }
        let body = writer.steps;

        let mut all = Self::default();
        let mut front = Vec::new();
        for call in &task.needs {
            front.push(call_text("needs", call, scope)?);
        }
        if let Some(question) = &task.confirm {
            front.push(format!("{AT}confirm({})", scope.expr(question)?));
        }
        let prelude = std::mem::take(&mut scope.prelude);
        let guards = std::mem::take(&mut scope.guards);
        for statement in prelude.iter().chain(&front).chain(&guards) {
            all.statements += statements_of(statement);
            all.text.push_str(&indented(statement, 1));
        }
        for (level, block) in blocks.iter().enumerate() {
            all.statements += 1;
            all.text.push_str(&indented(block, 1 + level));
        }
        let base = all.text.len();
        all.text.push_str(&body.text);
        let moved = body.regions.into_iter().map(|(it, id)| (base + it.start..base + it.end, id));
        all.regions.extend(moved);
        all.statements += body.statements;
        for level in (0..blocks.len()).rev() {
            all.text.push_str(&indented("}", 1 + level));
        }
        Ok(all)
    }
}

/// The files that decide whether a block runs.
fn cached(files: &Cached) -> String {
    let list = |patterns: &[String]| {
        patterns.iter().map(|pattern| literal(pattern)).collect::<Vec<_>>().join(", ")
    };
    match files.outputs.is_empty() {
        true => format!("cached(inputs=[{}])", list(&files.inputs)),
        false => {
            format!("cached(inputs=[{}], outputs=[{}])", list(&files.inputs), list(&files.outputs))
        }
    }
}

/// Variables of the environment. One that cannot be set is a difference.
fn environment(task: &Task, scope: &mut Scope<'_>) -> Vec<String> {
    let mut written: Vec<String> = Vec::new();
    for (name, value) in &task.environment {
        if let Some(found) = interpreted(name) {
            scope.differs(format!("`{name}` is not set, because {}", found.why));
            continue;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(is_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
            scope.differs(format!("`{name}` is not set: it is not the name of a variable"));
            continue;
        }
        match scope.expr(value) {
            Ok(value) => {
                written.retain(|it| !it.starts_with(&format!("{name}=")));
                written.push(format!("{name}={value}"));
            }
            Err(why) => scope.differs(format!("`{name}` is not set: {why}")),
        }
    }
    written
}

/// How many statements are in a text that the emitter composed: an assignment in each branch.
fn statements_of(text: &str) -> usize {
    let is_statement = |line: &&str| {
        let line = line.trim();
        !line.is_empty()
            && !line.starts_with('}')
            && !line.starts_with("r\"")
            && !line.starts_with("else ->")
    };
    text.lines().filter(is_statement).count()
}

/// Lines that the emitter composed, for people; `fmt` does the rest.
fn indented(text: &str, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

struct Writer<'a> {
    task: usize,
    next: usize,
    /// Its steps start in another directory than the file's.
    is_elsewhere: bool,
    lessons: &'a Lessons,
    registry: &'a Registry,
    steps: Steps,
}

impl Writer<'_> {
    fn block(&mut self, steps: &[Step], depth: usize, scope: &mut Scope<'_>) -> Result<(), Why> {
        for (index, step) in steps.iter().enumerate() {
            let is_last = steps[index + 1..].iter().all(|it| matches!(it, Step::Comment(_)));
            let start = self.steps.text.len();
            let id = (self.task, self.next);
            match step {
                Step::If { condition, then, otherwise } => {
                    self.condition(condition, then, otherwise, depth, scope)?;
                    continue;
                }
                Step::For { item, over, separator, body } => {
                    self.repeat(item, over, separator, body, depth, scope)?;
                    continue;
                }
                Step::Comment(text) => {
                    self.steps.text.push_str(&comment(text, &"    ".repeat(depth)));
                    continue;
                }
                _ => self.next += 1,
            }
            self.steps.statements += 1;
            let text = self.step(step, id, depth, is_last, scope)?;
            self.steps.text.push_str(&text);
            self.steps.text.push('\n');
            self.steps.regions.push((start..self.steps.text.len(), id));
        }
        Ok(())
    }

    fn condition(
        &mut self,
        condition: &crate::form::Cond,
        then: &[Step],
        otherwise: &[Step],
        depth: usize,
        scope: &mut Scope<'_>,
    ) -> Result<(), Why> {
        // Both sides are written where they belong; the marks keep their places.
        let (left, right) = ("\u{1}then\u{1}", "\u{1}otherwise\u{1}");
        let otherwise_mark = if otherwise.is_empty() { "" } else { right };
        let frame = scope.branch(condition, left, otherwise_mark)?;
        self.steps.statements += 1;
        for line in frame.lines() {
            match line {
                it if it == left => self.block(then, depth + 1, scope)?,
                it if it == right => self.block(otherwise, depth + 1, scope)?,
                line => self.steps.text.push_str(&indented(line, depth)),
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        item: &str,
        over: &Expr,
        separator: &str,
        body: &[Step],
        depth: usize,
        scope: &mut Scope<'_>,
    ) -> Result<(), Why> {
        let list = format!("split({}, {})", scope.expr(over)?, literal(separator));
        let name = scope.enter(item);
        self.steps.statements += 1;
        self.steps.text.push_str(&indented(&format!("for {name} in {list} {{"), depth));
        let mark = scope.prelude.len();
        self.block(body, depth + 1, scope)?;
        // What a step needs may depend on the item.
        for statement in scope.prelude.split_off(mark) {
            if statement.contains(&name) {
                return Err("a value that is computed in a loop".to_owned());
            }
            scope.prelude.push(statement);
        }
        scope.leave();
        self.steps.text.push_str(&indented("}", depth));
        Ok(())
    }

    fn step(
        &mut self,
        step: &Step,
        id: StepId,
        depth: usize,
        is_last: bool,
        scope: &mut Scope<'_>,
    ) -> Result<String, Why> {
        let indent = "    ".repeat(depth);
        match step {
            Step::Line { pieces, may_fail } => {
                self.line(pieces, *may_fail, id, depth, is_last, scope)
            }
            Step::Script { program, text, args } => {
                super::script::script(program, text, args, depth, scope)
            }
            Step::Call { call, may_fail } => {
                let or = if *may_fail { " || true" } else { "" };
                let call = call_text("cmd", call, scope)?;
                if !self.is_elsewhere {
                    return Ok(format!("{indent}{call}{or}"));
                }
                // The other tool starts it where the file is.
                self.steps.statements += 1;
                let here = scope.expr(&Expr::here())?;
                Ok(format!("{indent}{AT}workdir({here}) {{\n{indent}    {call}\n{indent}}}{or}"))
            }
            Step::Fail(message) => Ok(format!("{indent}{AT}fail({})", scope.expr(message)?)),
            Step::If { .. } | Step::For { .. } | Step::Comment(_) => Ok(String::new()),
        }
    }

    fn line(
        &mut self,
        pieces: &[Piece],
        may_fail: bool,
        id: StepId,
        depth: usize,
        is_last: bool,
        scope: &mut Scope<'_>,
    ) -> Result<String, Why> {
        let paste = self.lessons.pasted.contains(&id);
        let known = self.lessons.escaped.get(&id).copied().unwrap_or_default();
        let mark = (scope.prelude.len(), scope.guards.len());
        let mut problem = None;
        // An `@` that would be read as a reference is text with another escape.
        for escape in Escape::ALL.into_iter().filter(|escape| *escape >= known) {
            let parts = scope.parts(pieces, paste, escape);
            if let Ok(parts) = &parts
                && let Some(text) = self.written(parts, may_fail, is_last)
            {
                return Ok(format!("{}{text}", "    ".repeat(depth)));
            }
            scope.prelude.truncate(mark.0);
            scope.guards.truncate(mark.1);
            problem = problem.or(parts.err());
        }
        if may_fail {
            let line: String = as_shown(pieces).chars().take(60).collect();
            return Err(format!("the line `{line}` cannot be one step whose failure is ignored"));
        }
        super::script::script("bash", pieces, &[], depth, scope)
            .map_err(|why| problem.unwrap_or(why))
    }

    /// The text as one step: as it is, or in parentheses.
    fn written(&self, parts: &[Part], may_fail: bool, is_last: bool) -> Option<String> {
        let text = as_text(parts);
        // What follows the text would be part of a comment at its end.
        let text = if may_fail { without_comment(&text) } else { &text };
        let text = text.trim_end();
        let has_operator = text.contains([';', '|', '&', '\n', '#']);
        let or = if may_fail { " || true" } else { "" };
        let bracketed = (!text.contains('#')).then(|| format!("( {text} ){or}"));
        let on_lines = format!("(\n{text}\n){or}");
        let moves = !is_last && changes_directory(text);
        let plain = (!(moves || may_fail && has_operator)).then(|| format!("{text}{or}"));
        let mut forms = plain.into_iter().chain(bracketed).chain([on_lines]);
        forms.find(|it| is_step(it, text, self.registry))
    }
}

/// Without the comment at its end.
fn without_comment(text: &str) -> &str {
    let mut quotes = Quotes::default();
    let mut comment = None;
    let mut buffer = [0; 4];
    for (index, c) in text.char_indices() {
        quotes.text(c.encode_utf8(&mut buffer));
        match (quotes.place(), comment) {
            (Place::Comment, None) => comment = Some(index),
            (Place::Comment, Some(_)) => {}
            _ => comment = None,
        }
    }
    &text[..comment.unwrap_or(text.len())]
}

/// A line as the report names it, with `…` for values.
fn as_shown(pieces: &[Piece]) -> String {
    let text = pieces.iter().map(|it| match it {
        Piece::Text(text) => text.as_str(),
        Piece::Value(_) => "…",
    });
    text.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the next line of the other tool would start elsewhere than the next step of opal.
fn changes_directory(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.split(|c| !is_word(c)).any(|word| matches!(word, "cd" | "pushd" | "popd"))
}

/// `@cmd.NAME(…)` or `@needs.NAME(…)`.
pub(super) fn call_text(
    namespace: &str,
    call: &Call,
    scope: &mut Scope<'_>,
) -> Result<String, Why> {
    let Some(name) = scope.globals.tasks.get(call.task.as_str()) else {
        return Err(format!("the task `{}` is not in this file", call.task));
    };
    let name = name.clone();
    let mut args = Vec::new();
    for (index, Argument { name, value }) in call.args.iter().enumerate() {
        let takes_list = scope.globals.takes_list(&call.task, index);
        let written = match value {
            Expr::Name(it) => match scope.name(it)? {
                (_, true) if name.is_none() && !takes_list => scope.expr(value)?,
                (it, true) => format!("{AT}var.{it}.*"),
                (it, false) => it,
            },
            Expr::Text(text) => literal(text),
            value => scope.expr(value)?,
        };
        args.push(name.as_ref().map_or(written.clone(), |name| format!("{name}={written}")));
    }
    Ok(format!("{AT}{namespace}.{name}({})", args.join(", ")))
}
