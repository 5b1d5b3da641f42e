//! The laws of decorators, and a suite that finds who breaks them.
//!
//! The built-in decorators pass it in the tests of this crate; the authors of plugins run the same
//! one over theirs.
//!
//! - **L1, schema.** Whatever the schema allows is answered, with a value of the type that it
//!   promises: every choice of a closed set, both ends of a range, every default.
//! - **L2, the same twice.** The same inputs and the same world give the same value.
//! - **L3, deferred when expensive.** What needs a process, the network or randomness is
//!   [`Cost::Expensive`], so that quick plans leave it alone. The one exception is the program
//!   `git`, which answers from local files.
//! - **L4, shown nowhere.** Neither `Debug` nor the words of a trouble hold anything of what was
//!   read, whether it was read well, was not text or was too large, nor of the data in a command. A
//!   message knows which of its parts were given, so that those can be hidden.
//! - **L5, absence has a name.** Where what it reads is not there, the trouble is of the kind
//!   [`Missing`](opal_core::resolver::TroubleKind::Missing), so that drift can be classified, and
//!   has a help line. A value that is about absence says so itself: `false`, or an empty array.
//! - **L6, no effect, and no reads in secret.** It asks the world only for what its capabilities
//!   declare, and declares nothing that it does not ask for: `Environment` for variables,
//!   `FilesRead` for files (which a process may read for it), `Processes` for commands, `Network`
//!   for pages, `Clock` for the time. Which machine this is may be asked freely.
//! - **L7, limits.** No value is larger than
//!   [`MAX_VALUE_BYTES`](opal_core::resolver::MAX_VALUE_BYTES): where what it reads is larger, the
//!   trouble is of the kind [`TooLarge`](opal_core::resolver::TroubleKind::TooLarge), unless the
//!   value is small all the same.
//! - **L8, generators follow their stream.** The same stream gives the same value, another stream
//!   another one, and `check` refuses exactly what `generate` would.
//!
//! And of those that act at run time, [`check_action`]:
//!
//! - **L9, exit codes.** What fails inside ends it, with the same code.
//! - **L10, scopes.** Where nothing fails it does not either, and what follows it runs in the same
//!   directory and with the same environment as without it.
//! - **L11, stops.** Asked to stop, by a signal or a timeout, it ends, says so, and starts nothing
//!   more.
//!
//! And of those that describe a state, [`check_resource`]: R1 to R6 of [`opal_core::resource`].
//!
//! Deliberately not here: how a value is shown in plans, which is the planner's work for all
//! decorators alike.

mod actions;
mod generators;
mod inputs;
mod resolvers;
mod resources;

use std::fmt;

use opal_core::decorator::{Capability, Cost, Descriptor};
use opal_core::resolver::Inputs;

use crate::Asked;

pub use actions::check_action;
pub use resources::{Args, Case, check_resource};

/// A number of the lists above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    L1,
    L2,
    L3,
    L4,
    L5,
    L6,
    L7,
    L8,
    L9,
    L10,
    L11,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
}

/// A law that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub law: Law,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.message)
    }
}

/// Every law that a value decorator breaks.
///
/// `given` has what the schema alone does not tell: the text for a parameter with a pattern, say.
/// All else is made up.
#[must_use]
pub fn check(descriptor: &Descriptor, given: &Inputs) -> Vec<Violation> {
    let mut found = Findings::default();
    match (descriptor.resolver, descriptor.generator) {
        (Some(resolver), None) => resolvers::check(descriptor, resolver, given, &mut found),
        (None, Some(generator)) => generators::check(descriptor, generator, given, &mut found),
        _ => found.add(Law::L1, "it must have a resolver or a generator, and not both"),
    }
    found.0
}

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, law: Law, message: impl Into<String>) {
        self.0.push(Violation { law, message: message.into() });
    }

    fn demand(&mut self, law: Law, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.add(law, message());
        }
    }
}

/// L3, given everything that was asked for.
fn deferred_when_expensive(descriptor: &Descriptor, asked: &[Asked], found: &mut Findings) {
    let is_git = |asked: &Asked| match asked {
        Asked::Run(command) => command.starts_with("git "),
        _ => true,
    };
    for capability in descriptor.capabilities {
        let needs_time = match capability {
            Capability::Network | Capability::Randomness => true,
            Capability::Processes => !asked.iter().all(is_git),
            _ => false,
        };
        found.demand(Law::L3, !needs_time || descriptor.cost == Cost::Expensive, || {
            format!("what needs {capability:?} is expensive")
        });
    }
}
