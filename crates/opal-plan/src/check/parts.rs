//! Files with thousands of functions are walked in two parts, side by side.
//!
//! The parts do not depend on the machine, so what is found does not either. A function's walk
//! reads what the script has declared and leaves notes about it; both parts walk the script, and
//! the notes of the second are added to those of the first.

use super::Checker;
use super::found::Found;

/// From so many functions on.
const FROM: usize = 2_000;

impl Checker<'_> {
    pub(super) fn walk_functions(&mut self) {
        let count = self.unit.functions.len();
        if count < FROM {
            (0..count).for_each(|index| self.walk_function(index));
            return;
        }
        let (text, registry, parse, unit) = (self.text, self.registry, self.parse, self.unit);
        let (names, collects) = (self.functions.by_name, self.collects);
        std::thread::scope(|scope| {
            let second = scope.spawn(move || {
                let mut second = Checker::new(text, registry, parse, unit, names);
                second.walk_script();
                let script = second.notes();
                // The first part has said it all.
                second.out = Found::default();
                second.collects = collects;
                (count / 2..count).for_each(|index| second.walk_function(index));
                (second, script)
            });
            (0..count / 2).for_each(|index| self.walk_function(index));
            match second.join() {
                Ok((second, script)) => self.merge(second, script),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
    }

    /// How many variables, bindings and hand-overs are known so far.
    fn notes(&self) -> [usize; 3] {
        [self.names.count_all(), self.lets.count(), self.functions.run_time.len()]
    }

    /// Adds the notes of a checker that has walked the same script and other functions.
    fn merge(&mut self, other: Self, [variables, bindings, run_time]: [usize; 3]) {
        self.out.merge(other.out);
        self.texts.extend(other.texts);
        self.names.merge(other.names, variables);
        self.lets.merge(other.lets, bindings);
        self.functions.calls.extend(other.functions.calls);
        for (own, theirs) in self.functions.ends.iter_mut().zip(other.functions.ends) {
            *own = theirs.max(*own);
        }
        for (key, (span, site)) in other.functions.shapes {
            self.functions.shapes.entry(key).or_insert((span, site));
        }
        for (key, handed) in other.functions.hands_on {
            self.functions.hands_on.entry(key).or_default().extend(handed);
        }
        self.functions.run_time.extend(other.functions.run_time.into_iter().skip(run_time));
    }
}
