//! What has been found of the dependencies of a plan so far: each call once, with who needs it.

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::Value;
use opal_core::plan::{Arg, Node, Step};

use super::identity::Identities;
use super::place::Place;

/// A function, and the identities of its arguments with the defaults filled in.
pub(super) type CallId = (usize, Vec<u32>);

#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    /// The plan, and inside it the branches that a quick plan left open: what only a branch needs is
    /// planned there.
    levels: Vec<Level>,
    /// The functions that are being expanded, the innermost last.
    pub(super) functions: Vec<Rc<str>>,
    pub(super) identities: Identities,
}

#[derive(Debug)]
struct Level {
    path: String,
    place: Place,
    /// Each after those that it needs itself.
    found: Vec<Dependency>,
    known: BTreeMap<CallId, usize>,
}

#[derive(Debug)]
struct Dependency {
    step: Step,
    needed_by: Vec<Rc<str>>,
}

impl Dependencies {
    /// Begins to collect for the steps at `path`.
    pub(super) fn begin(&mut self, path: &str) {
        let path = format!("{path}.{}", Node::Needs);
        let place = Place::new(&*path);
        self.levels.push(Level { path, place, found: Vec::new(), known: BTreeMap::new() });
    }

    /// The path and the steps of what was collected since; none where there is nothing.
    pub(super) fn end(&mut self) -> Option<(Box<str>, Vec<Step>)> {
        let level = self.levels.pop().filter(|level| !level.found.is_empty())?;
        Some((level.path.into(), level.found.into_iter().map(Dependency::into_step).collect()))
    }

    /// The function that is being expanded.
    pub(super) fn dependent(&self) -> Rc<str> {
        self.functions.last().cloned().unwrap_or_else(|| "".into())
    }

    /// Whether the call is known; if so, it has one more dependent.
    pub(super) fn knows(&mut self, id: &CallId, dependent: &Rc<str>) -> bool {
        for level in &mut self.levels {
            if let Some(&at) = level.known.get(id) {
                let needed_by = &mut level.found[at].needed_by;
                if !needed_by.contains(dependent) {
                    needed_by.push(Rc::clone(dependent));
                }
                return true;
            }
        }
        false
    }

    /// The path of the next call of a function.
    pub(super) fn next_path(&mut self, function: &str) -> Option<Box<str>> {
        Some(self.levels.last_mut()?.place.next(function.to_owned()))
    }

    /// Adds a call, after what it needs itself.
    pub(super) fn add(&mut self, id: CallId, step: Step, dependent: Rc<str>) {
        if let Some(level) = self.levels.last_mut() {
            level.known.insert(id, level.found.len());
            level.found.push(Dependency { step, needed_by: vec![dependent] });
        }
    }
}

impl Dependency {
    fn into_step(mut self) -> Step {
        let names = self.needed_by.iter().map(|name| Value::String(name.to_string().into()));
        let names = Arg::Const(Value::Array(names.collect()));
        self.step.args.push(("needed_by".into(), names));
        self.step.sort_args();
        self.step
    }
}
