//! The difference between what a file should hold and what it holds, as `patch` takes it: applied to
//! the expected content it gives the actual one.
//!
//! The same contents always give the same text: what bounds the work is sizes, never a clock. Secrets
//! are not hidden here; that happens to every finding.

mod window;

use opal_core::Secret;
pub(super) use opal_core::resource::details::grouped;
use opal_core::resource::details::{Around, Details, Diff, Hunk, Line, Side};
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

use window::Window;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Lines of a diff, its headers included.
const MAX_LINES: usize = 10_000;

/// Bytes of a diff: lines may be long.
const MAX_BYTES: usize = 4 << 20;

/// Bytes before the first hunk and after the last in which a value may begin or end.
const MAX_AROUND: usize = 1 << 20;

/// About what the name of a side, the header of a hunk and the marker of a missing line end take.
const NAME_BYTES: usize = 16;
const HUNK_BYTES: usize = 32;
const MARKER_BYTES: usize = 30;

/// Lines on both sides, unchanged ones at both ends not counted, that are compared line by line.
/// Where there are more, the old ones go and the new ones come.
const MAX_COMPARED: usize = 100_000;

/// A diff, or words where a side is not text. Each side has a name and its bytes; text in another
/// encoding is decoded before it gets here.
pub(super) fn unified(expected: (&str, &[u8]), actual: (&str, &[u8])) -> Details {
    let (Some(old), Some(new)) = (text(expected.1), text(actual.1)) else {
        let [expected, actual] = [expected.1.len(), actual.1.len()].map(grouped);
        return Details::words(format!(
            "binary content differs: {expected} bytes expected, {actual} actual\n"
        ));
    };
    let mut page = Page::new(MAX_LINES, MAX_BYTES);
    let names = [expected.0, actual.0].map(visible);
    page.names(&names);
    page.changes(old, new);
    let diff = page.finish(names);
    let around = [(old, Side::Expected), (new, Side::Actual)];
    let around = around.map(|(text, side)| around_hunks(text, side, &diff.hunks));
    Diff { around, ..diff }.into()
}

/// A whole patch of one text, as `git apply` and `patch -p1` read it.
#[must_use]
pub fn patch(name: &str, before: &str, after: &str) -> String {
    let mut page = Page::new(usize::MAX, usize::MAX);
    page.changes(before, after);
    page.finish([name, name].map(visible)).patch()
}

/// What the hunks are part of: all of a text, or what is near them.
fn around_hunks(text: &str, side: Side, hunks: &[Hunk]) -> Around {
    let before = |hunk: &Hunk| if side == Side::Expected { hunk.expected } else { hunk.actual };
    let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else {
        return Around { first: 0, text: Secret::new("") };
    };
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    let line = |count: usize| match count.checked_sub(1) {
        None => 0,
        Some(index) => ends.clone().nth(index).unwrap_or(text.len()),
    };
    let from = line(before(first)).saturating_sub(MAX_AROUND);
    // Whole lines, so that they can be counted.
    let from =
        text.as_bytes()[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let to = line(before(last) + last.lines.len()).saturating_add(MAX_AROUND);
    let to = text.floor_char_boundary(to.min(text.len()));
    let first = memchr::memchr_iter(b'\n', &text.as_bytes()[..from]).count();
    Around { first, text: Secret::new(&text[from..to]) }
}

/// No text holds a NUL.
fn text(bytes: &[u8]) -> Option<&str> {
    if memchr::memchr(0, bytes).is_some() { None } else { std::str::from_utf8(bytes).ok() }
}

/// A line end in a name would begin another line of the diff.
fn visible(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn compare(window: &Window<'_>, page: &mut Page) {
    let old: Vec<&str> = lines(window.old).collect();
    let new: Vec<&str> = lines(window.new).collect();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        let Some(first) = hunk.first() else { continue };
        let at = window.skipped;
        page.hunk(at + first.old_range().start, at + first.new_range().start);
        for change in hunk.iter().flat_map(|op| changes(op, &old, &new)) {
            page.change(change.0, change.1);
        }
    }
}

/// One algorithm by its name: the functions that choose one at run time compile all of them.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}

fn changes<'t>(
    op: &DiffOp,
    old: &'t [&'t str],
    new: &'t [&'t str],
) -> impl Iterator<Item = (Side, &'t str)> {
    op.iter_changes(old, new).map(|change| {
        let side = match change.tag() {
            ChangeTag::Equal => Side::Both,
            ChangeTag::Delete => Side::Expected,
            ChangeTag::Insert => Side::Actual,
        };
        (side, change.value())
    })
}

/// All of the old lines, then all of the new ones, which takes no search.
fn replace(window: &Window<'_>, page: &mut Page) {
    page.hunk(window.skipped, window.skipped);
    let (before, old, new, after) = window.parts();
    let parts =
        [(Side::Both, before), (Side::Expected, old), (Side::Actual, new), (Side::Both, after)];
    for (side, part) in parts {
        for line in lines(part) {
            page.change(side, line);
        }
    }
}

/// Only a line feed ends a line for `patch`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// What has room, and how much has not.
struct Page {
    hunks: Vec<Hunk>,
    lines: usize,
    bytes: usize,
    max_lines: usize,
    max_bytes: usize,
    left_out: usize,
}

impl Page {
    fn new(max_lines: usize, max_bytes: usize) -> Self {
        Self { hunks: Vec::new(), lines: 0, bytes: 0, max_lines, max_bytes, left_out: 0 }
    }

    fn names(&mut self, names: &[String; 2]) {
        for name in names {
            self.has_room(1, NAME_BYTES + name.len());
        }
    }

    fn changes(&mut self, old: &str, new: &str) {
        let window = Window::new(old, new, CONTEXT);
        if window.lines() > MAX_COMPARED { replace(&window, self) } else { compare(&window, self) }
    }

    /// Begins a hunk after so many lines of both sides.
    fn hunk(&mut self, expected: usize, actual: usize) {
        if self.has_room(1, HUNK_BYTES) {
            self.hunks.push(Hunk { expected, actual, lines: Vec::new() });
        }
    }

    fn change(&mut self, side: Side, line: &str) {
        let lines = shown_lines(line.ends_with('\n'));
        let marker = if lines == 1 { 0 } else { MARKER_BYTES };
        // A line and its marker, or none of them: alone the first would say something else.
        if self.has_room(lines, 1 + line.len() + marker)
            && let Some(hunk) = self.hunks.last_mut()
        {
            hunk.lines.push(Line::new(side, line));
        }
    }

    /// Takes the room, or notes that it is left out with all that follows.
    fn has_room(&mut self, lines: usize, bytes: usize) -> bool {
        let is_full = self.lines.saturating_add(lines) >= self.max_lines
            || self.bytes.saturating_add(bytes) > self.max_bytes;
        if self.left_out > 0 || is_full {
            self.left_out += lines;
            return false;
        }
        self.lines += lines;
        self.bytes += bytes;
        true
    }

    fn finish(mut self, [expected, actual]: [String; 2]) -> Diff {
        // What was cut may end in lines that are the same on both sides, and nothing but those.
        let is_same = |hunk: &mut Hunk| hunk.lines.iter().all(|line| line.side == Side::Both);
        if self.left_out > 0
            && let Some(hunk) = self.hunks.pop_if(is_same)
        {
            let lines = hunk.lines.iter().map(|line| shown_lines(line.is_ended));
            self.left_out += 1 + lines.sum::<usize>();
        }
        let [expected, actual] = [expected, actual].map(Secret::new);
        let around = [Side::Expected, Side::Actual].map(|side| Around::of(&self.hunks, side));
        let (hunks, omitted) = (self.hunks, self.left_out);
        Diff { expected, actual, hunks, omitted, is_private: false, around }
    }
}

/// A last line without a line end has a marker after it.
fn shown_lines(is_ended: bool) -> usize {
    if is_ended { 1 } else { 2 }
}

#[cfg(test)]
mod tests;
