//! From a unit to a plan, stage by stage.
//!
//! ```text
//! unit ──scope──▶ scoped form ──expand──▶ steps with open ends ──settle──▶ Plan + secrets
//!                                  │  ▲                            │
//!                                  ▼  │ decisions                  ▼
//!                               graph of values ──waves──▶ known values
//! ```
//!
//! | stage | what it does | where |
//! |---|---|---|
//! | – | what is planned and what comes of it; what the stages share | `request`, `planner`, `demand` |
//! | scope | names to slots, paths to descriptors, arguments to parameters | `scope`, form in `scoped` |
//! | graph | expressions to nodes; constants are computed at once | `eval`, `graph`, `operate`, `call`, `identity` |
//! | waves | asks decorators, the expensive ones in parallel | `waves` |
//! | expand | control flow to steps; values are asked for where they decide | `expand`, `dependencies`, `place`, `targeted` |
//! | settle | open ends to constants, keys and placeholders | `settle` |
//! | showing | who may see which value, and what replaces a secret | `showing` |
//! | unreached | targets that cannot be asked for a value, and which of them a fleet tolerates | `unreached` |
//! | variants | blocks of fleets that are the same for several targets become one | `variants` |
//! | draw | random values, once the structure is known | `draw` |
//! | resources | ids, dependencies, one description for each thing | `resources` |
//!
//! Deliberately not here: execution, files of contracts, and any effect. The world is seen through
//! a [`Probe`].

mod around;
mod call;
mod crowds;
mod datum;
mod declared;
mod demand;
mod dependencies;
mod draw;
mod eval;
mod expand;
mod graph;
mod identity;
mod operate;
mod parameters;
mod place;
mod planner;
mod request;
mod resources;
mod scope;
mod scoped;
mod settle;
mod showing;
mod targeted;
mod text;
mod unreached;
mod variants;
mod warn;
mod waves;

use opal_core::keys::Keys;
use opal_core::resolver::Probe;

use crate::unit::Block;
use demand::Stop;
use planner::Planner;
use scope::{Entry, Source};

pub use request::{Limited, Purpose, Request, Resolved, Unplanned, source_hash};

/// Makes a plan. What is wrong with it is reported all at once, as far as it can be seen.
pub fn plan(
    request: &Request<'_>,
    probe: &dyn Probe,
    keys: &mut dyn Keys,
) -> Result<Resolved, Unplanned> {
    let source = Source { unit: request.unit, registry: request.registry, text: request.text };
    let entry = match request.function {
        None => Entry::Script,
        Some(name) => {
            let found = request.unit.target(name);
            Entry::Function(found.ok_or_else(|| vec![expand::no_function(name)])?)
        }
    };
    let program = scope::scope(source, entry)?;
    let mut planner = Planner::new(&program, request, probe);
    let steps = match planner.expand(entry) {
        Ok(steps) => steps,
        Err(Stop) => return Err(planner.into_errors().into()),
    };
    let resolved = settle::settle(planner, steps, keys)?;
    let scoped = program.functions.iter().zip(&request.unit.functions);
    let reached = scoped.filter_map(|(scoped, function)| scoped.as_ref().map(|_| &function.body));
    let blocks: Vec<&Block> = std::iter::once(&request.unit.script).chain(reached).collect();
    let mut errors = resources::check(&resolved, &blocks, request.registry, probe);
    errors.extend(crowds::check(&resolved, request.registry));
    if errors.is_empty() { Ok(resolved) } else { Err(errors.into()) }
}
