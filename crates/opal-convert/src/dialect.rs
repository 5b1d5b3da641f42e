//! Text that opal's bash reads in another way than the shell of the other tool.
//!
//! just, make and npm give their commands to `sh`, which is dash on many systems; Task has a shell of its
//! own. A reader says which shell it is, and every command of its file passes through here once:
//!
//! | the text | what becomes of it |
//! |---|---|
//! | means the same in both | nothing |
//! | is literal in `sh`, as `{a,b}` is, or has an `echo` that reads `\n` | it is quoted, or gets `echo -e` |
//! | works in `sh` and does something else | `sh` runs it |
//! | works in bash only, as `[[` does | it stays, and the report says it |
//!
//! | what | where |
//! |---|---|
//! | shell text as words and operators | `lexer`, what begins with `$` in `expansion` |
//! | words as commands | `grammar`, `command` |
//! | what differs | `rules`, `builtins`, `braces`; in Task: `task`, in make: `direct` |
//!
//! A command that a variable contains, or that `eval` computes, is not known here.

mod braces;
mod builtins;
mod command;
mod direct;
mod expansion;
mod found;
mod grammar;
mod lexer;
mod rules;
mod task;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::comment::is_hidden;
use crate::form::{Expr, Piece, Sheet, Step, Task};
use found::Found;
use lexer::{Reader, VALUE};

/// What runs the commands of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Runner {
    pub(crate) shell: Shell,
    /// A command that fails ends the text: `-e`.
    pub(crate) stops: bool,
    /// So does a variable that is not set: `-u`.
    pub(crate) checks: bool,
    /// A line without special characters needs no shell, as in make.
    pub(crate) is_direct: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// As opal.
    Bash,
    Sh,
    /// The one that is built into Task, which reads the language of bash.
    Task,
    /// Another program, which is not converted.
    Other(String),
}

impl From<Shell> for Runner {
    fn from(shell: Shell) -> Self {
        Self { shell, stops: false, checks: false, is_direct: false }
    }
}

impl Sheet {
    /// Makes bash do what the runner does with the commands of the file, or says what is different.
    pub(crate) fn run_in_bash(&mut self, runner: &Runner) {
        if let Shell::Other(program) = &runner.shell {
            let why = format!("the file gives its commands to `{program}`, and opal to bash");
            let has_line = |task: &Task| task.body.iter().chain(&task.finally).any(Step::has_line);
            self.tasks.iter_mut().filter(|it| has_line(it)).for_each(|it| it.differs(&*why));
            return;
        }
        let notes: RefCell<Vec<String>> = RefCell::default();
        let value = |it: &Expr| match it {
            Expr::Output(pieces) => Some(Expr::Output(runner.output(pieces, &notes))),
            _ => None,
        };
        let mut of_variables: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for variable in &mut self.variables {
            variable.value = variable.value.rewritten(&value);
            of_variables.insert(variable.name.clone(), notes.take());
        }
        let has_notes = of_variables.values().any(|it| !it.is_empty());
        let values: BTreeMap<&str, &Expr> =
            self.variables.iter().map(|it| (it.name.as_str(), &it.value)).collect();
        for task in &mut self.tasks {
            *task = task.rewritten(&value);
            let known: Vec<String> = task.environment.iter().map(|it| it.0.clone()).collect();
            let steps = task.body.iter_mut().chain(&mut task.finally);
            steps.for_each(|step| step.run_in_bash(runner, &known, &notes));
            let names = if has_notes { names_of(task, &values) } else { BTreeSet::new() };
            for name in names {
                let found = of_variables.get(&name).into_iter().flatten();
                notes.borrow_mut().extend(found.map(|it| format!("the variable `{name}`: {it}")));
            }
            notes.take().into_iter().for_each(|it| task.differs(it));
        }
    }
}

/// The variables that a task reads, and those that they read.
fn names_of(task: &Task, values: &BTreeMap<&str, &Expr>) -> BTreeSet<String> {
    let mut open: Vec<String> = Vec::new();
    let name = |it: &Expr, open: &mut Vec<String>| {
        if let Expr::Name(name) = it {
            open.push(name.clone());
        }
    };
    task.visit(&mut |it| name(it, &mut open));
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        if let Some(value) = values.get(next.as_str()).filter(|_| !seen.contains(&next)) {
            value.visit(&mut |it| name(it, &mut open));
        }
        seen.insert(next);
    }
    seen
}

impl Step {
    fn has_line(&self) -> bool {
        match self {
            Self::Line { .. } => true,
            Self::If { then, otherwise, .. } => then.iter().chain(otherwise).any(Self::has_line),
            Self::For { body, .. } => body.iter().any(Self::has_line),
            _ => false,
        }
    }

    /// `known` are variables that are set.
    fn run_in_bash(&mut self, runner: &Runner, known: &[String], notes: &RefCell<Vec<String>>) {
        match self {
            Self::Line { pieces, may_fail } => {
                let read = Text::new(pieces);
                let found = read.found(runner);
                match runner.runs(&read, &found) {
                    Some(program) if !*may_fail => {
                        let text = std::mem::take(pieces);
                        *self = Self::Script { program, text, args: Vec::new() };
                    }
                    runs => {
                        let mut notes = notes.borrow_mut();
                        notes.extend(found.notes(&runner.shell, runs.is_some()));
                        // After `( … ) || true` bash ignores the option.
                        if *may_fail && runner.stops && found.is_list {
                            notes.push("its commands go on after a failure".to_owned());
                        }
                        notes.extend(runner.goes_on(&found));
                        let before = runner.options(&read, &found, known);
                        *pieces = with(before, read.edited(pieces, &found, &runner.shell));
                    }
                }
            }
            Self::If { then, otherwise, .. } => {
                let steps = then.iter_mut().chain(otherwise);
                steps.for_each(|it| it.run_in_bash(runner, known, notes));
            }
            Self::For { body, .. } => {
                body.iter_mut().for_each(|it| it.run_in_bash(runner, known, notes));
            }
            _ => {}
        }
    }
}

/// A text after options of the shell.
fn with(before: String, mut pieces: Vec<Piece>) -> Vec<Piece> {
    if !before.is_empty() {
        pieces.insert(0, Piece::Text(before));
    }
    pieces
}

impl Runner {
    /// The program for a script whose text is a command of the file.
    pub(crate) fn program(&self) -> String {
        let program = if self.shell == Shell::Sh { "sh" } else { "bash" };
        match (self.stops, self.checks) {
            (true, true) => format!("{program} -eu"),
            (true, false) => format!("{program} -e"),
            (false, true) => format!("{program} -u"),
            (false, false) => program.to_owned(),
        }
    }

    /// What a text begins with where the runner stops, and bash would not.
    fn options(&self, read: &Text, found: &Found, known: &[String]) -> String {
        let stops = self.stops && found.is_list;
        let letters = match (stops, self.checks && found.reads_unknown(known)) {
            (true, true) => "eu",
            (true, false) => "e",
            (false, true) => "u",
            (false, false) => return String::new(),
        };
        // A line of its own before several lines.
        let has_lines = read.flat.replace("\\\n", "").contains('\n');
        format!("set -{letters}{}", if has_lines { "\n" } else { "; " })
    }

    /// What is different where `-e` does not reach.
    fn goes_on(&self, found: &Found) -> Option<String> {
        let goes_on = self.stops && found.has_inner_list;
        goes_on.then(|| "commands in `$(…)` go on after a failure".to_owned())
    }

    /// The program that must run a text, because bash does something else.
    fn runs(&self, read: &Text, found: &Found) -> Option<String> {
        let is_for_sh = found.bash.is_empty() && !found.sh.is_empty();
        match self.shell == Shell::Sh && is_for_sh {
            true if !read.flat.contains('$') && !self.stops => Some("sh".to_owned()),
            true => Some(self.program()),
            false => None,
        }
    }

    /// A command for a value.
    fn output(&self, pieces: &[Piece], notes: &RefCell<Vec<String>>) -> Vec<Piece> {
        let read = Text::new(pieces);
        let found = read.found(self);
        let has_values = read.flat.contains(VALUE);
        match self.runs(&read, &found) {
            Some(program) if !has_values => {
                let quoted = read.flat.replace('\'', "'\\''");
                vec![Piece::Text(format!("{program} -c '{quoted}'"))]
            }
            runs => {
                notes.borrow_mut().extend(found.notes(&self.shell, runs.is_some()));
                notes.borrow_mut().extend(self.goes_on(&found));
                with(self.options(&read, &found, &[]), read.edited(pieces, &found, &self.shell))
            }
        }
    }
}

/// A command as one text, with a mark for each value.
struct Text {
    flat: String,
}

impl Text {
    fn new(pieces: &[Piece]) -> Self {
        let mut flat = String::new();
        for piece in pieces {
            match constant(piece) {
                Some(text) => flat.push_str(text),
                None => flat.push(VALUE),
            }
        }
        Self { flat }
    }

    fn found(&self, runner: &Runner) -> Found {
        Reader::read(&self.flat, runner)
    }

    /// With quotes around what is literal in the other shell.
    fn edited(&self, pieces: &[Piece], found: &Found, shell: &Shell) -> Vec<Piece> {
        // What works in bash only was written for bash as a whole.
        let is_bash = *shell != Shell::Task && !(found.bash.is_empty() && found.sh.is_empty());
        if found.edits.is_empty() || is_bash {
            return pieces.to_vec();
        }
        let flat = found.applied(&self.flat);
        let mut values = pieces.iter().filter(|it| constant(it).is_none());
        let mut out = Vec::new();
        for (index, text) in flat.split(VALUE).enumerate() {
            if index > 0 {
                out.extend(values.next().cloned());
            }
            if !text.is_empty() {
                out.push(Piece::Text(text.to_owned()));
            }
        }
        out
    }
}

/// The text of a piece that is known.
fn constant(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text(text) => Some(text),
        Piece::Value(Expr::Text(text)) if !text.chars().any(is_hidden) => Some(text),
        Piece::Value(_) => None,
    }
}
