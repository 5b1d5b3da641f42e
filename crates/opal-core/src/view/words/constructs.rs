//! Constructs of the language: which way each went, and what steered it.

use super::Words;
use crate::plan::{Arg, Node, Step};
use crate::value::Value;
use crate::view::ink::{Ink, Style};
use crate::view::quote;

/// The last of the ways that are open.
const ELSE: Arg = Arg::Const(Value::text("else"));

impl Words<'_> {
    pub(super) fn construct(&mut self, step: &Step, ink: &mut Ink) {
        match step.node {
            Node::If => {
                self.head(step, "condition", ink);
                self.outcome(step, ink, |_, ink| ink.write(&taken(step)));
            }
            Node::When => {
                self.head(step, "subject", ink);
                self.outcome(step, ink, |words, ink| match step.arg("arm") {
                    None | Some(Arg::Const(Value::Null)) => ink.write("no match, nothing"),
                    Some(arm) => words.written(arm, ink),
                });
            }
            Node::For => self.repeated(step, "over", ink),
            Node::While => self.repeated(step, "condition", ink),
            Node::Iteration => self.iteration(step, ink),
            Node::Branch => self.branch(step, ink),
            Node::Variant => self.variant(step, ink),
            Node::Require => self.require(step, ink),
            Node::Chain => ink.styled(Style::Bold, "chain"),
            _ if step.args.is_empty() => ink.styled(Style::Bold, step.node.name()),
            _ => self.call(step, ink),
        }
    }

    /// The keyword, and after it the head as it was written, or what it reads.
    fn head(&mut self, step: &Step, checks: &str, ink: &mut Ink) {
        let keyword = step.node.name();
        ink.styled(Style::Bold, keyword);
        match (step.head(), step.arg(checks)) {
            (head, Some(arg)) if head.is_none() || !self.for_reader => {
                ink.write(" ");
                self.written(arg, ink);
            }
            (Some(head), _) => {
                let rest = head.strip_prefix(keyword).unwrap_or(&head);
                ink.write(&format!(" {}", rest.trim()));
            }
            (None, _) => {}
        }
    }

    /// The way it went, and the names of what steered it.
    fn outcome(&mut self, step: &Step, ink: &mut Ink, way: impl FnOnce(&mut Self, &mut Ink)) {
        ink.write(" → ");
        if is_undecided(step) {
            return ink.styled(Style::Open, "undecided until values are resolved");
        }
        way(self, ink);
        steered_by(step, ink);
    }

    fn repeated(&mut self, step: &Step, checks: &str, ink: &mut Ink) {
        self.head(step, checks, ink);
        if is_undecided(step) {
            return self.outcome(step, ink, |_, _| {});
        }
        if let Some(Arg::Const(Value::Int(count))) = step.arg("count") {
            let times = if *count == 1 { "time" } else { "times" };
            ink.write(&format!(" ({count} {times})"));
        }
        steered_by(step, ink);
    }

    /// `service[0] = "api"`: the end of its path, and what the variable is.
    fn iteration(&mut self, step: &Step, ink: &mut Ink) {
        ink.write(step.path.rsplit('.').next().unwrap_or(&step.path));
        let (key, value) = (step.arg("key"), step.arg("value"));
        ink.write(if key.is_some() || value.is_some() { " = " } else { "" });
        if let Some(key) = key {
            self.arg(key, ink);
        }
        if let Some(value) = value {
            ink.write(if key.is_some() { ": " } else { "" });
            self.arg(value, ink);
        }
        self.unplanned(step, ink);
    }

    /// One of the ways that are still open.
    fn branch(&mut self, step: &Step, ink: &mut Ink) {
        let (word, arg) = match (step.arg("condition"), step.arg("pattern")) {
            (Some(condition), _) => ("where ", condition),
            (None, Some(pattern)) => ("on ", pattern),
            (None, None) => ("", &ELSE),
        };
        ink.styled(Style::Open, if *arg == ELSE { "" } else { word });
        self.written(arg, ink);
        self.unplanned(step, ink);
    }

    /// Why the steps of an open way are not all there.
    fn unplanned(&mut self, step: &Step, ink: &mut Ink) {
        if let Some(problem) = step.arg("unplanned") {
            ink.styled(Style::Open, " → cannot be planned: ");
            self.written(problem, ink);
        }
    }

    /// `require env.DATABASE_URL = <35:sha256:a1b2c3>`.
    fn require(&mut self, step: &Step, ink: &mut Ink) {
        ink.styled(Style::Bold, "require ");
        match step.arg("value") {
            Some(arg @ Arg::Value(key)) => {
                ink.write(&format!("{key} = "));
                self.arg(arg, ink);
            }
            Some(arg) => self.arg(arg, ink),
            None => {}
        }
    }

    /// Text of the language that an argument holds is shown as it is, without quotes around it.
    fn written(&mut self, arg: &Arg, ink: &mut Ink) {
        match arg {
            Arg::Const(value) => ink.write(&quote::plain(value)),
            other => self.arg(other, ink),
        }
    }
}

pub(in crate::view) fn is_undecided(step: &Step) -> bool {
    matches!(step.arg("undecided"), Some(Arg::Const(Value::Bool(true))))
}

/// Which branch of an `if` it was.
fn taken(step: &Step) -> String {
    match step.arg("taken") {
        Some(Arg::Const(Value::Int(0))) => "yes".to_owned(),
        Some(Arg::Const(Value::Int(_))) if step.went_to_else() => "no, else".to_owned(),
        Some(Arg::Const(Value::Int(branch))) => format!("branch {}", branch.saturating_add(1)),
        _ => "no, nothing".to_owned(),
    }
}

/// `(by env.STAGE)`, where the world steered it.
pub(super) fn steered_by(step: &Step, ink: &mut Ink) {
    let Some(Arg::Const(Value::Array(roots))) = step.arg("roots") else { return };
    let plain = |root: &Value| quote::plain(root).trim_start_matches("*/").to_owned();
    let roots: Vec<String> = roots.iter().map(plain).collect();
    if !roots.is_empty() {
        ink.styled(Style::Dim, &format!("  (by {})", roots.join(", ")));
    }
}
