//! The difference between what a file should hold and what it holds, as `patch` takes it: applied to
//! the expected content it gives the actual one.
//!
//! The same contents always give the same text: what bounds the work is sizes, never a clock. Secrets
//! are not hidden here; that happens to every finding.

mod window;

use std::fmt::Write;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

use window::Window;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Lines of a diff, its headers included.
const MAX_LINES: usize = 10_000;

/// Bytes of a diff: lines may be long.
const MAX_BYTES: usize = 4 << 20;

/// Lines on both sides, unchanged ones at both ends not counted, that are compared line by line.
/// Where there are more, the old ones go and the new ones come.
const MAX_COMPARED: usize = 100_000;

/// A unified diff, or words where a side is not text. Each side has a name and its bytes; text in
/// another encoding is decoded before it gets here.
pub(super) fn unified(expected: (&str, &[u8]), actual: (&str, &[u8])) -> String {
    let (Some(old), Some(new)) = (text(expected.1), text(actual.1)) else {
        let [expected, actual] = [expected.1.len(), actual.1.len()].map(grouped);
        return format!("binary content differs: {expected} bytes expected, {actual} actual\n");
    };
    let mut page = Page::new(MAX_LINES, MAX_BYTES);
    page.line("--- expected: ", &visible(expected.0));
    page.line("+++ actual: ", &visible(actual.0));
    page.changes(old, new);
    page.finish()
}

/// A whole patch of one text, as `git apply` and `patch -p1` read it.
#[must_use]
pub fn patch(name: &str, before: &str, after: &str) -> String {
    let mut page = Page::new(usize::MAX, usize::MAX);
    let name = visible(name);
    page.line("--- a/", &name);
    page.line("+++ b/", &name);
    page.changes(before, after);
    page.finish()
}

/// A number as people read it: `1,204`.
pub(super) fn grouped(number: usize) -> String {
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
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let at = window.skipped;
        let old_range = (at + first.old_range().start, at + last.old_range().end);
        let new_range = (at + first.new_range().start, at + last.new_range().end);
        page.hunk(old_range, new_range);
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
) -> impl Iterator<Item = (&'static str, &'t str)> {
    op.iter_changes(old, new).map(|change| {
        let sign = match change.tag() {
            ChangeTag::Equal => " ",
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
        };
        (sign, change.value())
    })
}

/// All of the old lines, then all of the new ones, which takes no search.
fn replace(window: &Window<'_>, page: &mut Page) {
    let [old, new] = [window.old, window.new].map(|side| window.skipped + lines(side).count());
    page.hunk((window.skipped, old), (window.skipped, new));
    let (before, old, new, after) = window.parts();
    for (sign, part) in [(" ", before), ("-", old), ("+", new), (" ", after)] {
        for line in lines(part) {
            page.change(sign, line);
        }
    }
}

/// Only a line feed ends a line for `patch`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// What was written, and how much was not.
struct Page {
    text: String,
    lines: usize,
    max_lines: usize,
    max_bytes: usize,
    left_out: usize,
    hunk: Option<Hunk>,
}

/// The hunk that is being written, as far as it has come.
struct Hunk {
    /// Where its header is in the text.
    header: std::ops::Range<usize>,
    /// Where it begins on both sides, and how many lines of each are written.
    old: (usize, usize),
    new: (usize, usize),
    /// Whether a line of it is another.
    changes: bool,
}

impl Page {
    fn new(max_lines: usize, max_bytes: usize) -> Self {
        Self { text: String::new(), lines: 0, max_lines, max_bytes, left_out: 0, hunk: None }
    }

    fn changes(&mut self, old: &str, new: &str) {
        let window = Window::new(old, new, CONTEXT);
        if window.lines() > MAX_COMPARED { replace(&window, self) } else { compare(&window, self) }
    }

    fn hunk(&mut self, old: (usize, usize), new: (usize, usize)) {
        let start = self.text.len();
        if self.line(&format!("@@ -{} +{} @@", range(old.0, old.1), range(new.0, new.1)), "") {
            let header = start..self.text.len();
            let (old, new) = ((old.0, 0), (new.0, 0));
            self.hunk = Some(Hunk { header, old, new, changes: false });
        }
    }

    fn change(&mut self, sign: &str, line: &str) {
        let is_written = match line.strip_suffix('\n') {
            Some(line) => self.line(sign, line),
            // Both, or none of them: alone the first would say something else.
            None => self.line(sign, &format!("{line}\n\\ No newline at end of file")),
        };
        if let (Some(hunk), true) = (&mut self.hunk, is_written) {
            hunk.old.1 += usize::from(sign != "+");
            hunk.new.1 += usize::from(sign != "-");
            hunk.changes |= sign != " ";
        }
    }

    /// False where it is left out.
    fn line(&mut self, sign: &str, text: &str) -> bool {
        let bytes = self.text.len() + sign.len() + text.len() + 1;
        let lines = 1 + usize::from(text.contains('\n'));
        if self.left_out > 0 || self.lines + lines >= self.max_lines || bytes > self.max_bytes {
            self.left_out += lines;
            return false;
        }
        self.lines += lines;
        self.text.extend([sign, text, "\n"]);
        true
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            self.close();
            let lines = if self.left_out == 1 { "line" } else { "lines" };
            let _ = writeln!(self.text, "[{} more {lines} omitted]", grouped(self.left_out));
        }
        self.text
    }

    /// Lets the header of a hunk that was cut speak of what is there: `patch` counts the lines.
    fn close(&mut self) {
        let Some(Hunk { header, old, new, changes }) = self.hunk.take() else { return };
        if !changes {
            self.left_out += self.text[header.start..].lines().count();
            self.text.truncate(header.start);
            return;
        }
        let [old, new] = [old, new].map(|(start, count)| range(start, start + count));
        self.text.replace_range(header, &format!("@@ -{old} +{new} @@\n"));
    }
}

/// Where a part of a file is, from 1; an empty one follows the line it names.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        lines => format!("{},{lines}", start + 1),
    }
}

#[cfg(test)]
mod tests;
