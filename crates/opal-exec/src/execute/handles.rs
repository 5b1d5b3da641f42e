//! Which run-time values the steps of a plan name.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::plan::{Arg, Handle, Part, Piece, Plan, RedirectTarget, Step};

/// What a plan reads of its bindings, by their ids.
#[derive(Debug)]
pub(super) struct Reads<'p>(BTreeMap<&'p str, BTreeSet<&'p [Part]>>);

impl<'p> Reads<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let mut reads = BTreeMap::<_, BTreeSet<_>>::new();
        for step in plan.all_steps() {
            handles(step, &mut |handle| {
                reads.entry(&*handle.id).or_default().insert(&*handle.access);
            });
        }
        Self(reads)
    }

    /// Each part that is read of a binding, once.
    pub(super) fn parts(&self, id: &str) -> impl Iterator<Item = &'p [Part]> {
        self.0.get(id).into_iter().flatten().copied()
    }
}

/// Those that a step itself names, without the steps of its block.
pub(super) fn handles<'p>(step: &'p Step, see: &mut dyn FnMut(&'p Handle)) {
    references(step, &mut |arg| {
        if let Arg::Handle(handle) = arg {
            see(handle);
        }
    });
}

/// The values that a step itself names, known or not, without the steps of its block.
pub(super) fn references<'p>(step: &'p Step, see: &mut dyn FnMut(&'p Arg)) {
    step.args.iter().for_each(|(_, arg)| in_arg(arg, see));
    for redirect in &step.redirects {
        match &redirect.target {
            RedirectTarget::Step(target) => references(target, see),
            RedirectTarget::Shell(pieces) => in_pieces(pieces, see),
        }
    }
}

fn in_arg<'p>(arg: &'p Arg, see: &mut dyn FnMut(&'p Arg)) {
    match arg {
        Arg::Handle(_) | Arg::Value(_) | Arg::Deferred(_) => see(arg),
        Arg::Text(pieces) | Arg::Shell(pieces) => in_pieces(pieces, see),
        Arg::Array(items) => items.iter().for_each(|item| in_arg(item, see)),
        Arg::Map(fields) => fields.values().for_each(|item| in_arg(item, see)),
        Arg::Const(_) => {}
    }
}

fn in_pieces<'p>(pieces: &'p [Piece], see: &mut dyn FnMut(&'p Arg)) {
    for piece in pieces {
        match piece {
            Piece::Text(_) => {}
            Piece::Data { arg, .. } | Piece::Raw(arg) => in_arg(arg, see),
        }
    }
}
