//! The shell text of a plan, without its values: the syntax of a text does not depend on them.

use std::collections::BTreeSet;

use crate::context::{Context, Place};
use crate::plan::{Arg, Node, Piece, Plan, RedirectTarget, Step};
use crate::resolver::ScriptPart;
use crate::{Data, Span, Value};

/// A text that the shell of the session will get.
#[derive(Debug)]
pub struct Text<'p> {
    /// Its step.
    pub path: &'p str,
    pub span: Span,
    pub parts: Vec<ScriptPart>,
}

/// Every text of a plan, each once. Text for another interpreter is never among them, nor text
/// that is pasted together from values.
#[must_use]
pub fn texts(plan: &Plan) -> Vec<Text<'_>> {
    let mut found = Found::default();
    plan.steps.iter().for_each(|step| found.step(step));
    found.texts
}

/// Every text in the block of a step.
#[must_use]
pub fn texts_within(step: &Step) -> Vec<Text<'_>> {
    let mut found = Found::default();
    step.block.iter().for_each(|inner| found.step(inner));
    found.texts
}

/// Something that is data at its place, whatever will be there.
#[must_use]
pub fn stand_in(place: Context) -> Data {
    match place.place() {
        Place::Arithmetic | Place::Subscript => Data::Int(1),
        _ => Data::text("x"),
    }
}

#[derive(Default)]
struct Found<'p> {
    texts: Vec<Text<'p>>,
    known: BTreeSet<String>,
}

impl<'p> Found<'p> {
    fn step(&mut self, step: &'p Step) {
        let has_own_shell = step.node == Node::Shell && step.arg("shell").is_some();
        if !step.is_construct() && !has_own_shell {
            for (_, arg) in &step.args {
                if let Arg::Shell(pieces) = arg {
                    self.text(step, "", pieces);
                }
            }
        }
        for redirect in &step.redirects {
            if let RedirectTarget::Shell(pieces) = &redirect.target {
                self.text(step, "{ :\n}", pieces);
            }
        }
        step.block.iter().for_each(|inner| self.step(inner));
    }

    fn text(&mut self, step: &'p Step, before: &str, pieces: &[Piece]) {
        let mut parts = Vec::with_capacity(pieces.len() + 1);
        let mut shape = before.to_owned();
        if !before.is_empty() {
            parts.push(ScriptPart::Text(before.to_owned()));
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    shape.push_str(text);
                    parts.push(ScriptPart::Text(text.to_string()));
                }
                Piece::Raw(Arg::Const(Value::String(text))) => {
                    shape.push_str(text);
                    parts.push(ScriptPart::Text(text.to_string()));
                }
                Piece::Data { place, .. } => {
                    shape.push_str(&format!("\0{}\0", place.bits()));
                    parts.push(ScriptPart::Data(stand_in(*place), *place));
                }
                Piece::Raw(_) => return,
            }
        }
        if self.known.insert(shape) {
            self.texts.push(Text { path: &step.path, span: step.span, parts });
        }
    }
}
