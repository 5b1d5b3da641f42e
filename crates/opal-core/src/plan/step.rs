//! Steps, and walking them.

use super::{Arg, Node, Piece, Step, is_cut, joined, one_line};
use crate::crossing::TARGETS;
use crate::text::Span;
use crate::value::Value;

/// Steps at all depths, each before what is in it.
pub fn all(steps: &[Step]) -> impl Iterator<Item = &Step> {
    let mut open: Vec<&Step> = steps.iter().rev().collect();
    std::iter::from_fn(move || {
        let step = open.pop()?;
        open.extend(step.block.iter().rev());
        Some(step)
    })
}

impl Step {
    /// Puts the arguments in their order.
    pub fn sort_args(&mut self) {
        self.args.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// A step without arguments and without a block.
    #[must_use]
    pub fn new(node: Node, path: impl Into<Box<str>>, span: Span) -> Self {
        Self {
            node,
            args: Vec::new(),
            block: Vec::new(),
            path: path.into(),
            binding: None,
            redirects: Vec::new(),
            schema: None,
            note: None,
            span,
        }
    }

    /// Whether it does something itself, and nothing is in it.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        !self.is_construct() && self.block.is_empty()
    }

    #[must_use]
    pub fn is_construct(&self) -> bool {
        self.node.is_construct()
    }

    /// Whether its block is the body of a decorator that is written in opal.
    #[must_use]
    pub fn is_expansion(&self) -> bool {
        self.schema.is_some() && self.args.is_empty() && !self.block.is_empty()
    }

    #[must_use]
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|(known, _)| known == name).map(|(_, arg)| arg)
    }

    /// Whether a quick plan has left open what it uses, or which way it goes.
    #[must_use]
    pub fn is_left_open(&self) -> bool {
        let is_undecided = self.is_construct() && self.arg("undecided").is_some();
        is_undecided || self.args.iter().any(|(_, arg)| arg.is_left_open())
    }

    /// The note of what decides, repeats or calls, in one line that is cut where it is too long: why
    /// the steps of its block are there.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let explains = self.node.is_function()
            || self.is_expansion()
            || matches!(self.node, Node::If | Node::When | Node::For | Node::While);
        one_line(&self.note.as_ref().filter(|_| explains)?.written())
    }

    /// The same without the `else` of an `if` that went there.
    #[must_use]
    pub fn head(&self) -> Option<String> {
        if self.went_to_else() { one_line(&self.note.as_ref()?.head) } else { self.reason() }
    }

    /// Whether it is an `if` that went to its `else`, as far as its contract can say so: a reason
    /// that is cut cannot.
    #[must_use]
    pub fn went_to_else(&self) -> bool {
        let note = self.note.as_ref().filter(|note| note.went_to_else);
        note.is_some_and(|note| !is_cut(&joined(&note.written())))
    }

    /// The functions that need a dependency.
    #[must_use]
    pub fn dependents(&self) -> Vec<&str> {
        let Some(Arg::Const(Value::Array(names))) = self.arg("needed_by") else {
            return Vec::new();
        };
        if self.node != Node::Dependency {
            return Vec::new();
        }
        let texts = names.iter().filter_map(|name| match name {
            Value::String(text) => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    /// The names of the targets of a block, or of a variant of it.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        let targets = match self.arg(TARGETS) {
            Some(Arg::Const(Value::Array(targets))) => targets.as_slice(),
            _ => &[],
        };
        targets.iter().filter_map(|target| {
            let name = match target {
                Value::Map(fields) => fields.get("name")?,
                name => name,
            };
            match name {
                Value::String(name) => Some(&**name),
                _ => None,
            }
        })
    }

    /// Whether it is a variant of a block: for some of the targets of the step around it.
    #[must_use]
    pub fn is_for_some_targets(&self) -> bool {
        matches!(self.arg(TARGETS), Some(Arg::Const(Value::Array(names)))
            if matches!(names.first(), Some(Value::String(_))))
    }

    /// The first of them: what a value of each is known by.
    #[must_use]
    pub fn first_target(&self) -> Option<&str> {
        self.targets().next()
    }

    /// The command of a shell step.
    #[must_use]
    pub fn command(&self) -> Option<&[Piece]> {
        match self.arg("command") {
            Some(Arg::Shell(pieces)) if self.node == Node::Shell => Some(pieces),
            _ => None,
        }
    }
}
