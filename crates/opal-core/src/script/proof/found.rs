//! What the strict reading finds out about the values of a step.

use super::construct::Construct;
use super::tree::Values;
use crate::script::cases::Case;
use crate::script::programs::ReadBy;

/// What was found out about the values.
#[derive(Debug)]
pub(super) struct Found {
    /// The first row of the table that each value is in.
    cases: [Option<&'static Case>; Values::BITS],
    /// What each value must be harmless for.
    soft: [Option<Construct>; Values::BITS],
    /// The program that reads a word which begins with a variable that holds the value.
    begins: [Option<ReadBy>; Values::BITS],
    /// Values that a program reads at the beginning of a word, and may see more than data in.
    pub(super) read: Values,
    /// The same for all programs, with the program.
    pub(super) readers: Vec<(Values, ReadBy)>,
    /// Values in words of commands whose name is known, once variables are expanded.
    pub(super) resolved: Values,
    /// Values that name the program, while others are among its words.
    pub(super) programs: Values,
    pub(super) declared: Values,
    /// Values that no text is harmless for.
    pub(super) hidden: Values,
    /// Values are in variables or can be in functions.
    pub(super) leaks: bool,
    /// A variable may be another name of one, or be computed when it is set.
    pub(super) renames: bool,
    /// A command that changes how the shell reads what follows.
    pub(super) setting: Option<Construct>,
}

impl Found {
    pub(super) fn new() -> Self {
        Self {
            cases: [None; Values::BITS],
            soft: [None; Values::BITS],
            begins: [None; Values::BITS],
            read: Values::NONE,
            readers: Vec::new(),
            resolved: Values::NONE,
            programs: Values::NONE,
            declared: Values::NONE,
            hidden: Values::NONE,
            leaks: false,
            renames: false,
            setting: None,
        }
    }

    /// The row of the table that a value is in.
    pub(super) fn case(&self, value: usize) -> Option<&'static Case> {
        self.cases[Values::bit(value)]
    }

    /// Puts values in a row that refuses them.
    pub(super) fn mark(&mut self, values: Values, case: &'static Case) {
        if case.refuses() {
            values.indices().for_each(|bit| _ = self.cases[bit].get_or_insert(case));
        }
    }

    /// The values must be harmless in every place, because of this.
    pub(super) fn soften(&mut self, values: Values, construct: Construct) {
        values.indices().for_each(|bit| _ = self.soft[bit].get_or_insert(construct));
    }

    /// No text is harmless for the values.
    pub(super) fn hide(&mut self, values: Values, construct: Construct) {
        self.soften(values, construct);
        self.hidden.add(values);
    }

    /// The values are at the beginning of words that this program reads.
    pub(super) fn begin(&mut self, values: Values, reader: ReadBy) {
        values.indices().for_each(|bit| _ = self.begins[bit].get_or_insert(reader));
    }

    /// The one program that reads the value. One that the table does not name sees no more in it
    /// than those that it names.
    pub(super) fn reader(&self, value: usize) -> Option<ReadBy> {
        let readers = || self.readers.iter().filter(|(values, _)| values.has(value));
        let mut named = readers().filter(|(_, reader)| *reader != ReadBy::UNLISTED);
        let (_, reader) = named.next().or_else(|| readers().next())?;
        named.all(|(_, other)| other == reader).then_some(*reader)
    }

    pub(super) fn soft(&self, value: usize) -> Option<Construct> {
        self.soft[Values::bit(value)]
    }

    pub(super) fn begins(&self, value: usize) -> Option<ReadBy> {
        self.begins[Values::bit(value)]
    }
}
