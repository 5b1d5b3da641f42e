//! What is shown of the lines of a difference.
//!
//! Each side is searched for values as one text, before signs are put in front of its lines.
//!
//! An older value is not known. Of the actual lines these are taken to hold one:
//!
//! - one that begins like any expected line with a value: `password = x` where `password=VALUE` is
//!   expected somewhere;
//! - one that is opposite such a line;
//! - each one, where a change with such a line has more or fewer actual lines than expected ones,
//!   and where lines are put in next to those of a value.
//!
//! A line that is expected elsewhere, and has no value there, is shown.

use std::collections::BTreeSet;

use opal_core::Secret;
use opal_core::resource::details::{Around, Change, Diff, Hunk, Line, Run};
use opal_vault::Vault;

use super::OLDER;
use super::starts::{Starts, squeezed};

/// One side as it is shown.
struct Seen<'d> {
    first: usize,
    lines: Vec<SeenLine<'d>>,
}

struct SeenLine<'d> {
    raw: &'d str,
    /// Where it holds a value.
    shown: Option<String>,
}

impl<'d> Seen<'d> {
    fn new(around: &'d Around, vault: &Vault) -> Self {
        let text = around.text.expose();
        let raw = text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
        let lines = raw.zip(vault.scrub_lines(text)).map(|(raw, shown)| {
            let shown = shown.filter(|shown| shown != raw);
            SeenLine { raw, shown }
        });
        Self { first: around.first, lines: lines.collect() }
    }

    fn line(&self, at: usize) -> Option<&SeenLine<'d>> {
        self.lines.get(at.checked_sub(self.first)?)
    }

    /// What is shown instead of the line after so many others.
    fn shown(&self, at: usize) -> Option<&str> {
        self.line(at)?.shown.as_deref()
    }

    /// What precedes the value in a line; none where there is no value.
    fn start(&self, at: usize) -> Option<&'d str> {
        self.line(at).and_then(SeenLine::start)
    }

    /// Whether the line is all value.
    fn is_value(&self, at: Option<usize>) -> bool {
        at.and_then(|at| self.start(at)).is_some_and(|start| squeezed(start).is_empty())
    }
}

impl<'d> SeenLine<'d> {
    fn start(&self) -> Option<&'d str> {
        let shown = self.shown.as_ref()?;
        let same = self.raw.bytes().zip(shown.bytes()).take_while(|(a, b)| a == b).count();
        Some(&self.raw[..self.raw.floor_char_boundary(same)])
    }
}

/// Both sides of a difference, as they are shown.
pub(super) struct Compared<'d> {
    expected: Seen<'d>,
    actual: Seen<'d>,
    /// What precedes the value of the line that goes, if it has one.
    removed: Option<String>,
    /// What lines with a value begin with.
    starts: Starts,
    /// The expected lines without a value.
    plain: BTreeSet<String>,
    /// What was hidden.
    older: Vec<String>,
}

impl<'d> Compared<'d> {
    pub(super) fn new(diff: &'d Diff, removed: Option<&str>, vault: &Vault) -> Self {
        let [expected, actual] = diff.around.each_ref().map(|around| Seen::new(around, vault));
        let removed = removed.and_then(|line| {
            let shown = vault.scrub_lines(line).into_iter().next().flatten();
            SeenLine { raw: line, shown: shown.filter(|it| it != line) }.start().map(str::to_owned)
        });
        let mut starts = Starts::default();
        removed.iter().for_each(|start| starts.add(start));
        let mut plain = BTreeSet::new();
        for line in &expected.lines {
            match line.start() {
                Some(start) => starts.add(start),
                None => {
                    plain.insert(squeezed(line.raw));
                }
            }
        }
        Self { expected, actual, removed, starts, plain, older: Vec::new() }
    }

    /// The hunks as they are shown, and what was hidden of them that is not known.
    pub(super) fn hunks(mut self, diff: &Diff) -> (Vec<Hunk>, Vec<String>) {
        let hunks = diff.hunks.iter().map(|hunk| self.hunk(hunk)).collect();
        (hunks, self.older)
    }

    fn hunk(&mut self, hunk: &Hunk) -> Hunk {
        let mut lines = Vec::with_capacity(hunk.lines.len());
        let (mut expected_at, mut actual_at) = (hunk.expected, hunk.actual);
        for run in hunk.runs() {
            match run {
                Run::Same(same) => {
                    let both = (expected_at..).zip(actual_at..).zip(same);
                    lines.extend(both.map(|((expected, actual), line)| {
                        shown(line, self.same(expected, actual))
                    }));
                    expected_at += same.len();
                    actual_at += same.len();
                }
                Run::Change(change) => {
                    let expected = (expected_at..).zip(change.expected);
                    lines.extend(expected.map(|(at, line)| shown(line, self.expected.shown(at))));
                    lines.extend(self.change(change, expected_at, actual_at));
                    expected_at += change.expected.len();
                    actual_at += change.actual.len();
                }
            }
        }
        Hunk { lines, ..*hunk }
    }

    /// A line of both sides; a value may begin or end in other lines of one of them.
    fn same(&self, expected: usize, actual: usize) -> Option<&str> {
        match (self.expected.shown(expected), self.actual.shown(actual)) {
            (Some(one), Some(other)) if one != other => Some(OLDER),
            (one, other) => one.or(other),
        }
    }

    /// The actual lines of a change, each held against the expected ones.
    fn change(&mut self, change: Change<'_>, expected_at: usize, actual_at: usize) -> Vec<Line> {
        let count = change.actual.len();
        let opposite: Vec<Option<&str>> = match (&self.removed, change.expected.len()) {
            (Some(start), 0) => vec![Some(start); count],
            (None, 0) if self.is_within(expected_at) => vec![Some(""); count],
            (_, expected) => {
                (expected_at..expected_at + expected).map(|at| self.expected.start(at)).collect()
            }
        };
        let hidden_from = |(index, line): (usize, &Line)| {
            let text = line.text.expose();
            if self.plain.contains(&squeezed(text)) {
                return None;
            }
            let opposite = match opposite.len() == count {
                true => &opposite[index..=index],
                false => &opposite[..],
            };
            let mut starts = opposite.iter().flatten().peekable();
            let may_be_older = starts.peek().is_some();
            let same = starts.filter(|start| text.starts_with(**start)).map(|start| start.len());
            self.starts.end_in(text).max(same.max()).or(may_be_older.then_some(0))
        };
        let from: Vec<Option<usize>> = change.actual.iter().enumerate().map(hidden_from).collect();
        let lines = change.actual.iter().zip(from).zip(actual_at..);
        lines
            .map(|((line, from), at)| match from {
                Some(from) => {
                    let (start, rest) = line.text.expose().split_at(from);
                    self.older.extend(Some(rest.to_owned()).filter(|rest| !rest.is_empty()));
                    Line { text: Secret::new(format!("{start}{OLDER}")), ..line.clone() }
                }
                None => shown(line, self.actual.shown(at)),
            })
            .collect()
    }

    /// Whether what is put in before this expected line is next to a line that is all value.
    fn is_within(&self, at: usize) -> bool {
        self.expected.is_value(at.checked_sub(1)) || self.expected.is_value(Some(at))
    }
}

fn shown(line: &Line, instead: Option<&str>) -> Line {
    match instead {
        Some(text) => Line { text: Secret::new(text), ..line.clone() },
        None => line.clone(),
    }
}
