//! What a finding says in several lines: words, and differences line by line.
//!
//! A resource says what a line is where it makes it. The text is never parsed for it, so content
//! that looks like the header of a diff is content. The text is made here and nowhere else:
//!
//! ```text
//! mode 0644, expected 0600           words
//! --- expected: app.conf             names
//! +++ actual: /etc/app.conf
//! @@ -1,2 +1,2 @@                    a hunk
//!  port = 80                         the same on both sides
//! -host = "a"                        expected
//! +host = "b"                        actual
//! [7 more lines omitted]             words
//! ```

mod written;

use crate::data::Secret;

pub use written::{Mark, Written, grouped};

/// Who reads a difference. Resources make them from the expected content to the actual one, and a
/// verification reports them that way. An apply shows what it will write, so it turns them round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// `--- expected: NAME`, `+++ actual: NAME`.
    #[default]
    Report,
    /// `--- current: NAME`, `+++ desired: NAME`: a line with `+` is a line that is written.
    Change,
}

/// What is said about a finding, part after part. Raw: it may hold values.
#[derive(Clone, Debug, Default)]
pub struct Details(Vec<Part>);

#[derive(Clone, Debug)]
pub enum Part {
    /// Whole lines.
    Words(Secret),
    Diff(Diff),
}

/// The difference between what one thing should hold and what it holds.
#[derive(Clone, Debug)]
pub struct Diff {
    /// What both sides are called, without control characters.
    pub expected: Secret,
    pub actual: Secret,
    pub hunks: Vec<Hunk>,
    /// How many more lines it would have.
    pub omitted: usize,
    /// Whether it shows what only the owner of a file may read.
    pub is_private: bool,
    /// What the hunks are part of, on both sides: a value may begin before a hunk and end after it.
    pub around: [Around; 2],
}

/// The text of one side, at least as much of it as the hunks show.
#[derive(Clone, Debug)]
pub struct Around {
    /// How many lines precede it.
    pub first: usize,
    pub text: Secret,
}

/// Lines that follow each other on both sides.
#[derive(Clone, Debug)]
pub struct Hunk {
    /// How many lines precede it on each side.
    pub expected: usize,
    pub actual: usize,
    /// In a change the expected lines come before the actual ones.
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub side: Side,
    /// Without its line end.
    pub text: Secret,
    /// Whether it has one.
    pub is_ended: bool,
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    Expected,
    Actual,
}

impl Details {
    /// Lines of words; nothing where there are none.
    #[must_use]
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::default() } else { Self(vec![Part::Words(Secret::new(text))]) }
    }

    /// What both say, one after the other.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// All differences, each private or not.
    #[must_use]
    pub fn private(mut self, is_private: bool) -> Self {
        for part in &mut self.0 {
            if let Part::Diff(diff) = part {
                diff.is_private |= is_private;
            }
        }
        self
    }

    #[must_use]
    pub fn has_diff(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Diff(_)))
    }

    #[must_use]
    pub fn written(&self, direction: Direction) -> Written {
        let mut page = Written::default();
        for part in &self.0 {
            match part {
                Part::Words(words) => page.words(words.expose()),
                Part::Diff(diff) => {
                    let [old, new] = [&diff.expected, &diff.actual].map(Secret::expose);
                    match direction {
                        Direction::Report => page.names("expected", old, "actual", new),
                        Direction::Change => page.names("current", new, "desired", old),
                    }
                    page.content(diff, direction);
                }
            }
        }
        page
    }

    /// As a verification reports it, without the names of the sides: the same in every checkout.
    #[must_use]
    pub fn unnamed(&self) -> String {
        let mut page = Written::default();
        for part in &self.0 {
            match part {
                Part::Words(words) => page.words(words.expose()),
                Part::Diff(diff) => page.content(diff, Direction::Report),
            }
        }
        page.text
    }

    /// As a verification reports it.
    #[must_use]
    pub fn report(&self) -> String {
        self.written(Direction::Report).text
    }
}

impl From<Vec<Part>> for Details {
    fn from(parts: Vec<Part>) -> Self {
        Self(parts)
    }
}

impl From<Diff> for Details {
    fn from(diff: Diff) -> Self {
        Self(vec![Part::Diff(diff)])
    }
}

impl Diff {
    /// A patch of one text, as `git apply` and `patch -p1` read it.
    #[must_use]
    pub fn patch(&self) -> String {
        let mut page = Written::default();
        page.line(Mark::Name, "--- a/", self.expected.expose());
        page.line(Mark::Name, "+++ b/", self.actual.expose());
        page.content(self, Direction::Report);
        page.text
    }

    /// How many lines differ: where some are replaced, the longer side counts.
    #[must_use]
    pub fn differing(&self) -> usize {
        self.hunks
            .iter()
            .flat_map(Hunk::changes)
            .map(|it| it.expected.len().max(it.actual.len()))
            .sum()
    }
}

/// Lines that are expected, and those that are there instead of them.
#[derive(Clone, Copy, Debug)]
pub struct Change<'h> {
    pub expected: &'h [Line],
    pub actual: &'h [Line],
}

impl Hunk {
    /// Its changes, without what is the same on both sides.
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.runs().filter_map(|run| match run {
            Run::Same(_) => None,
            Run::Change(change) => Some(change),
        })
    }

    /// Its lines in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut rest = self.lines.as_slice();
        std::iter::from_fn(move || {
            let mut take = |side: Side| {
                let count = rest.iter().take_while(|line| line.side == side).count();
                let (taken, following) = rest.split_at(count);
                rest = following;
                taken
            };
            let same = take(Side::Both);
            if !same.is_empty() {
                return Some(Run::Same(same));
            }
            let change = Change { expected: take(Side::Expected), actual: take(Side::Actual) };
            let is_over = change.expected.is_empty() && change.actual.is_empty();
            (!is_over).then_some(Run::Change(change))
        })
    }

    fn count(&self, side: Side) -> usize {
        self.lines.iter().filter(|line| line.side == side || line.side == Side::Both).count()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Run<'h> {
    Same(&'h [Line]),
    Change(Change<'h>),
}

impl Around {
    /// All that a side has in these hunks, which follow each other without a gap.
    #[must_use]
    pub fn of(hunks: &[Hunk], side: Side) -> Self {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        let own = lines.filter(|line| line.side == side || line.side == Side::Both);
        let text: String = own.flat_map(|line| [line.text.expose(), "\n"]).collect();
        Self { first: 0, text: Secret::new(text) }
    }
}

impl Line {
    #[must_use]
    pub fn new(side: Side, text: &str) -> Self {
        let is_ended = text.ends_with('\n');
        Self { side, text: Secret::new(text.strip_suffix('\n').unwrap_or(text)), is_ended }
    }
}

#[cfg(test)]
mod tests;
