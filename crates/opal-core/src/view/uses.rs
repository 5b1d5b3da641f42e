//! Which values a step uses.

use std::collections::BTreeSet;

use crate::plan::{Arg, Piece, RedirectTarget, Step};

/// What a step uses, not counting its block.
#[derive(Debug, Default)]
pub struct Uses<'p> {
    /// The keys of values.
    pub values: BTreeSet<&'p str>,
    /// Indices into [`crate::plan::Plan::deferred`].
    pub deferred: BTreeSet<u32>,
}

impl<'p> Uses<'p> {
    #[must_use]
    pub fn of(step: &'p Step) -> Self {
        let mut uses = Self::default();
        uses.step(step);
        uses
    }

    fn step(&mut self, step: &'p Step) {
        step.args.iter().for_each(|(_, arg)| self.arg(arg));
        for redirect in &step.redirects {
            match &redirect.target {
                RedirectTarget::Step(target) => self.step(target),
                RedirectTarget::Shell(pieces) => self.pieces(pieces),
            }
        }
    }

    fn arg(&mut self, arg: &'p Arg) {
        match arg {
            Arg::Const(_) | Arg::Handle(_) => {}
            Arg::Value(key) => {
                self.values.insert(key);
            }
            Arg::Deferred(index) => {
                self.deferred.insert(*index);
            }
            Arg::Text(pieces) | Arg::Shell(pieces) => self.pieces(pieces),
            Arg::Array(items) => items.iter().for_each(|item| self.arg(item)),
            Arg::Map(fields) => fields.values().for_each(|item| self.arg(item)),
        }
    }

    fn pieces(&mut self, pieces: &'p [Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Data { arg, .. } | Piece::Raw(arg) => self.arg(arg),
            }
        }
    }
}
