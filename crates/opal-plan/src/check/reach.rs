//! Which functions a target reaches, and what that makes of what was found.

use opal_core::{Code, Diagnostic, Group, Severity, Span};

use super::Checked;
use super::found::count_in;
use super::functions::Functions;
use crate::unit::Unit;

/// Which function calls which, as the checks have seen it.
#[derive(Debug)]
pub(super) struct Reach {
    calls: Vec<(usize, usize)>,
    script_calls: Vec<usize>,
    /// Functions whose name an earlier one has: the earlier one first. Who reaches one reaches all.
    alike: Vec<(usize, usize)>,
}

impl Reach {
    pub(super) fn new(functions: Functions<'_>) -> Self {
        let calls = functions.calls.into_iter().map(|(caller, callee, _)| (caller, callee));
        let mut calls: Vec<(usize, usize)> = calls.collect();
        calls.sort_unstable();
        let alike = functions.by_name.repeated().map(|(again, first)| (first, again));
        let mut alike: Vec<(usize, usize)> = alike.collect();
        alike.sort_unstable();
        Self { calls, script_calls: functions.script_calls, alike }
    }

    /// For each function whether `target` reaches it, or the script without one.
    fn reached(&self, unit: &Unit, target: Option<&str>) -> Vec<bool> {
        let mut reached = vec![false; unit.functions.len()];
        let mut open = match target {
            Some(name) => unit.target(name).into_iter().collect(),
            None => self.script_calls.clone(),
        };
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut reached[index], true) {
                open.extend(of(&self.calls, index));
                open.extend(of(&self.alike, index));
            }
        }
        reached
    }
}

/// What is beside `index`.
fn of(pairs: &[(usize, usize)], index: usize) -> impl Iterator<Item = usize> {
    let start = pairs.partition_point(|(first, _)| *first < index);
    pairs[start..].iter().take_while(move |(first, _)| *first == index).map(|(_, other)| *other)
}

/// What was found, seen from one target.
#[derive(Debug, Default)]
pub struct Findings {
    /// The target cannot be planned.
    pub errors: Vec<Diagnostic>,
    /// Errors in functions that the target does not reach, and warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Checked {
    /// The program.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Sorts what was found by whether it concerns `function`, or the script without one. Errors
    /// of syntax always do: where a text cannot be read, nothing about it is certain.
    #[must_use]
    pub fn findings(&self, function: Option<&str>) -> Findings {
        let unreached = self.unreached(function);
        let outside = |span| is_within(&unreached, span);
        let mut findings = Findings::default();
        for found in &self.diagnostics {
            let forgiven = !found.code.group().is_syntax() && outside(found.primary.span);
            if found.is_error() && !forgiven {
                findings.errors.push(found.clone());
            } else {
                findings.warnings.push(found.clone());
            }
        }
        let is_error = |(code, span): &(Code, Span)| {
            code.severity() == Severity::Error && (code.group().is_syntax() || !outside(*span))
        };
        let (errors, warnings): (Vec<_>, Vec<_>) = self.places.iter().copied().partition(is_error);
        count_in(&mut findings.errors, errors);
        count_in(&mut findings.warnings, warnings);
        findings
    }

    /// All that was found; of what is not kept the number.
    #[must_use]
    pub fn all(&self) -> Vec<Diagnostic> {
        let mut all = self.diagnostics.clone();
        count_in(&mut all, self.places.iter().copied());
        all
    }

    /// Where what `function` does is not what it looks like: habits from shell scripts.
    #[must_use]
    pub fn habits(&self, function: Option<&str>) -> Vec<Diagnostic> {
        // As a script the file does run its top-level steps.
        let is_meant = |code| function.is_some() || code != Code::TopLevelStep;
        let is_habit = |code: Code| {
            let is_reported = code == Code::ForeignHabit || code.severity() == Severity::Warning;
            code.group() == Group::Data && is_reported && is_meant(code)
        };
        let found = self.diagnostics.iter().filter(|found| is_habit(found.code));
        let mut habits: Vec<_> = found.cloned().collect();
        if !habits.is_empty() {
            let unreached = self.unreached(function);
            habits.retain(|found| !is_within(&unreached, found.primary.span));
            let places = self.places.iter().copied();
            let places = places.filter(|(code, _)| is_habit(*code));
            count_in(&mut habits, places.filter(|(_, span)| !is_within(&unreached, *span)));
        }
        habits
    }

    /// The places of the functions that are not reached, in order.
    fn unreached(&self, function: Option<&str>) -> Vec<(u32, u32)> {
        let reached = self.reach.reached(&self.unit, function);
        let functions = self.unit.functions.iter().zip(reached);
        let unreached = functions.filter(|(_, reached)| !reached);
        unreached.map(|(f, _)| (f.span.start, f.span.end.max(f.body.span.end))).collect()
    }
}

fn is_within(places: &[(u32, u32)], span: Span) -> bool {
    let after = places.partition_point(|(start, _)| *start <= span.start);
    after > 0 && span.start < places[after - 1].1
}
