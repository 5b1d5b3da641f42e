//! Run-time values that are handed from function to function.

use std::collections::BTreeSet;

use opal_core::{Code, Diagnostic, Span};

use super::checker::Checker;
use super::lets::Site;
use super::observer::Observer;

/// A parameter that shapes the plan, and where.
struct Shaping {
    /// The function, and which of its parameters.
    parameter: (usize, usize),
    at: Span,
    site: Site,
}

impl<O: Observer> Checker<'_, O> {
    /// Notes that a parameter is where the plan is made.
    pub(super) fn note_parameter_use(&mut self, name: &str, span: Span, site: Site) {
        if site == Site::Run {
            return;
        }
        if let (Some(function), Some(param)) = (self.function, self.parameter(name)) {
            self.functions.shapes.entry((function, param)).or_insert((span, site));
        }
    }

    /// A run-time value may be handed from function to function, but never shape the plan.
    pub(super) fn check_run_time_parameters(&mut self) {
        let given = std::mem::take(&mut self.functions.run_time);
        let mut harmless = BTreeSet::new();
        for (key, span) in given {
            let Some(Shaping { parameter, at, site }) = self.shaping(key, &mut harmless) else {
                continue;
            };
            let name = &self.unit.functions[parameter.0].params[parameter.1].name.text;
            let message = format!(
                "`{name}` gets a run-time value, but is used at plan time in {}",
                site.describe()
            );
            let error = Diagnostic::new(Code::LetParameterAtPlanTime, span, message)
                .also(at, "the plan depends on it here")
                .help("pass a value that is known before anything runs");
            self.report(error);
        }
    }

    /// The first parameter on the way from `start` that shapes the plan.
    fn shaping(
        &self,
        start: (usize, usize),
        harmless: &mut BTreeSet<(usize, usize)>,
    ) -> Option<Shaping> {
        let mut seen = BTreeSet::from([start]);
        let mut queue = vec![start];
        while let Some(key) = queue.pop() {
            if let Some((at, site)) = self.functions.shapes.get(&key).copied() {
                return Some(Shaping { parameter: key, at, site });
            }
            for next in self.functions.hands_on.get(&key).into_iter().flatten() {
                if !harmless.contains(next) && seen.insert(*next) {
                    queue.push(*next);
                }
            }
        }
        harmless.append(&mut seen);
        None
    }
}
