//! Secrets that would go to more targets than somebody expects: whoever can set a label chooses pods.

use std::collections::BTreeSet;

use opal_core::crossing::TARGETS;
use opal_core::plan::{Arg, Piece, RedirectTarget, Step, all};
use opal_core::showing::Showing;
use opal_core::{Code, Diagnostic, Registry, Value};

use super::Resolved;

/// How many targets a block with secrets may have.
const EXPECT: &str = "expect";

/// Targets that a message names.
const MAX_NAMED: usize = 10;

/// Every block with secrets and with more targets than it expects.
pub(super) fn check(resolved: &Resolved, registry: &Registry) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for step in resolved.plan.all_steps() {
        let Some(expected) = expected(step, registry) else { continue };
        let count = match step.arg(TARGETS) {
            Some(Arg::Const(Value::Array(targets))) => targets.len(),
            _ => 0,
        };
        if count <= expected || !uses_secret(step, &resolved.showing) {
            continue;
        }
        let names = step.targets().take(MAX_NAMED).collect::<Vec<_>>().join(" ");
        let more = if count > MAX_NAMED { " …" } else { "" };
        let message =
            format!("secret values for {count} targets, expected {expected}: {names}{more}");
        errors.push(
            Diagnostic::new(Code::UnexpectedTargets, step.span, message)
                .help(format!("if all of them are yours, set `{EXPECT}={count}`")),
        );
    }
    errors
}

/// None where a block is for any number of targets.
fn expected(step: &Step, registry: &Registry) -> Option<usize> {
    let descriptor = registry.get(step.node.path()?)?;
    descriptor.boundary?;
    let param = descriptor.param(EXPECT)?;
    match step.arg(param.name) {
        Some(Arg::Const(Value::Int(count))) => usize::try_from(*count).ok(),
        // What is computed is not known to be more than the least.
        _ => Some(1),
    }
}

/// Whether a step, or one in its block, gets a secret that does not come from its own target.
fn uses_secret(step: &Step, showing: &Showing) -> bool {
    let bindings = all(&step.block).filter_map(|inner| inner.binding.as_ref());
    let own = bindings.map(|binding| &*binding.id).collect();
    let inside = Inside { own, showing };
    std::iter::once(step).chain(all(&step.block)).any(|step| inside.gets_secret(step))
}

/// The block of one step.
struct Inside<'p> {
    /// What its own steps give.
    own: BTreeSet<&'p str>,
    showing: &'p Showing,
}

impl Inside<'_> {
    fn gets_secret(&self, step: &Step) -> bool {
        let redirects = step.redirects.iter().any(|redirect| match &redirect.target {
            RedirectTarget::Step(target) => self.gets_secret(target),
            RedirectTarget::Shell(pieces) => self.in_pieces(pieces),
        });
        redirects || step.args.iter().any(|(_, arg)| self.is_secret(arg))
    }

    fn is_secret(&self, arg: &Arg) -> bool {
        match arg {
            // Keys of what the targets themselves give begin with `*`.
            Arg::Value(key) => !key.starts_with('*') && self.showing.class(key).is_secret(),
            // What an earlier step gives may be anything.
            Arg::Handle(handle) => !self.own.contains(&*handle.id),
            Arg::Text(pieces) | Arg::Shell(pieces) => self.in_pieces(pieces),
            Arg::Array(items) => items.iter().any(|item| self.is_secret(item)),
            Arg::Map(fields) => fields.values().any(|item| self.is_secret(item)),
            Arg::Const(_) | Arg::Deferred(_) => false,
        }
    }

    fn in_pieces(&self, pieces: &[Piece]) -> bool {
        pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Data { arg, .. } | Piece::Raw(arg) => self.is_secret(arg),
        })
    }
}
