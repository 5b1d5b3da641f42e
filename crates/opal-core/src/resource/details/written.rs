//! The text of details.

use super::{Change, Diff, Direction, Hunk, Line, Run, Side};

/// The marker of a last line without a line end, as `patch` reads it.
pub(super) const NO_LINE_END: &str = "\\ No newline at end of file";

/// What a line of the text is, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Words,
    /// The name of a side.
    Name,
    /// The header of a hunk.
    Hunk,
    Same,
    /// With a `-`.
    Removed,
    /// With a `+`.
    Added,
}

/// The text of details, and what each of its lines is.
#[derive(Debug, Default)]
pub struct Written {
    pub text: String,
    pub marks: Vec<Mark>,
}

impl Written {
    pub(super) fn line(&mut self, mark: Mark, before: &str, text: &str) {
        self.text.extend([before, text, "\n"]);
        self.marks.push(mark);
    }

    pub(super) fn words(&mut self, words: &str) {
        self.text.push_str(words);
        self.marks.extend(words.split_terminator('\n').map(|_| Mark::Words));
    }

    pub(super) fn names(&mut self, minus: &str, old: &str, plus: &str, new: &str) {
        self.line(Mark::Name, &format!("--- {minus}: "), old);
        self.line(Mark::Name, &format!("+++ {plus}: "), new);
    }

    pub(super) fn content(&mut self, diff: &Diff, direction: Direction) {
        diff.hunks.iter().for_each(|hunk| self.hunk(hunk, direction));
        if diff.omitted > 0 {
            let lines = if diff.omitted == 1 { "line" } else { "lines" };
            self.words(&format!("[{} more {lines} omitted]\n", grouped(diff.omitted)));
        }
    }

    fn hunk(&mut self, hunk: &Hunk, direction: Direction) {
        let expected = range(hunk.expected, hunk.count(Side::Expected));
        let actual = range(hunk.actual, hunk.count(Side::Actual));
        let (old, new) = match direction {
            Direction::Report => (expected, actual),
            Direction::Change => (actual, expected),
        };
        self.line(Mark::Hunk, "", &format!("@@ -{old} +{new} @@"));
        for run in hunk.runs() {
            match run {
                Run::Same(lines) => self.lines(Mark::Same, " ", lines),
                Run::Change(Change { expected, actual }) => {
                    let (removed, added) = match direction {
                        Direction::Report => (expected, actual),
                        Direction::Change => (actual, expected),
                    };
                    self.lines(Mark::Removed, "-", removed);
                    self.lines(Mark::Added, "+", added);
                }
            }
        }
    }

    fn lines(&mut self, mark: Mark, sign: &str, lines: &[Line]) {
        for line in lines {
            self.line(mark, sign, line.text.expose());
            if !line.is_ended {
                self.line(Mark::Words, "", NO_LINE_END);
            }
        }
    }
}

/// Where a part of a file is, from 1; an empty one follows the line it names.
fn range(before: usize, count: usize) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        lines => format!("{},{lines}", before + 1),
    }
}

/// A number as people read it: `1,204`.
#[must_use]
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
