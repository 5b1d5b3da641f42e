//! Which way a difference is read.
//!
//! Every resource writes its unified diffs from the expected content to the actual one. A verification
//! reports them that way. An apply shows what it will write, so it turns them round: from what is there
//! now to what is desired, and a line with `+` is a line that is written.

/// Who reads a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// `--- expected: NAME`, `+++ actual: NAME`.
    #[default]
    Report,
    /// `--- current: NAME`, `+++ desired: NAME`.
    Change,
}

const EXPECTED: &str = "--- expected: ";
const ACTUAL: &str = "+++ actual: ";

/// A line of details, which may hold words and several diffs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'d> {
    /// Neither of a diff nor of its headers.
    Words(&'d str),
    /// The names of both sides, each with its line end.
    Names(&'d str, &'d str),
    /// The header of a hunk: its ranges.
    Hunk {
        expected: &'d str,
        actual: &'d str,
    },
    /// The same on both sides.
    Same(&'d str),
    /// Without their signs, with their line ends, and with the marker of a last line without one.
    Expected(&'d str),
    Actual(&'d str),
}

/// Details line by line. A hunk says how many lines it has, so content is never taken for a header.
pub(super) fn lines(details: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = details;
    let (mut expected, mut actual) = (0usize, 0usize);
    while !rest.is_empty() {
        let line = first(rest);
        let is_in_hunk = expected > 0 || actual > 0;
        let found = match line.as_bytes()[0] {
            b'-' if is_in_hunk => Line::Expected(""),
            b'+' if is_in_hunk => Line::Actual(""),
            b' ' if is_in_hunk => Line::Same(""),
            _ => match header(line) {
                Some((old, new)) => {
                    (expected, actual) = (old.1, new.1);
                    Line::Hunk { expected: old.0, actual: new.0 }
                }
                None => names(line, rest).unwrap_or(Line::Words(line)),
            },
        };
        let length = match found {
            Line::Names(old, new) => EXPECTED.len() + old.len() + ACTUAL.len() + new.len(),
            Line::Words(_) | Line::Hunk { .. } => line.len(),
            _ => with_marker(rest, line.len()),
        };
        lines.push(match found {
            Line::Expected(_) => Line::Expected(&rest[1..length]),
            Line::Actual(_) => Line::Actual(&rest[1..length]),
            Line::Same(_) => Line::Same(&rest[1..length]),
            other => other,
        });
        expected -= usize::from(matches!(found, Line::Expected(_) | Line::Same(_))).min(expected);
        actual -= usize::from(matches!(found, Line::Actual(_) | Line::Same(_))).min(actual);
        rest = &rest[length..];
    }
    lines
}

/// The first line of a text, with its line end.
fn first(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or(text)
}

/// The names of both sides, from `rest` on, which begins with `line`.
fn names<'d>(line: &'d str, rest: &'d str) -> Option<Line<'d>> {
    let old = line.strip_prefix(EXPECTED)?;
    let new = first(&rest[line.len()..]).strip_prefix(ACTUAL)?;
    Some(Line::Names(old, new))
}

/// The length of a line of a hunk, with `\ No newline at end of file` after it.
fn with_marker(rest: &str, length: usize) -> usize {
    match first(&rest[length..]) {
        marker if marker.starts_with('\\') => length + marker.len(),
        _ => length,
    }
}

type Range<'d> = (&'d str, usize);

/// `@@ -1,3 +1,4 @@`: each range as it is written, and its number of lines.
fn header(line: &str) -> Option<(Range<'_>, Range<'_>)> {
    let (old, new) = line.trim_end().strip_prefix("@@ -")?.strip_suffix(" @@")?.split_once(" +")?;
    let range = |text| Some((text, count(text)?));
    Some((range(old)?, range(new)?))
}

fn count(range: &str) -> Option<usize> {
    match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    }
}

/// Details as an apply shows them: from current to desired.
pub(super) fn reversed(details: &str) -> String {
    let mut out = String::with_capacity(details.len());
    // What is written waits for what goes: `-` comes before `+`.
    let mut written = String::new();
    for line in lines(details) {
        if !matches!(line, Line::Expected(_) | Line::Actual(_)) {
            out.push_str(&std::mem::take(&mut written));
        }
        match line {
            Line::Words(text) => out.push_str(text),
            Line::Names(expected, actual) => {
                out.extend(["--- current: ", actual, "+++ desired: ", expected]);
            }
            Line::Hunk { expected, actual } => {
                out.extend(["@@ -", actual, " +", expected, " @@\n"]);
            }
            Line::Same(text) => out.extend([" ", text]),
            Line::Expected(text) => written.extend(["+", text]),
            Line::Actual(text) => out.extend(["-", text]),
        }
    }
    out.push_str(&written);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_turned_round_runs_from_current_to_desired() {
        for (report, change) in [
            (
                "mode 0644, expected 0600\n--- expected: a\n+++ actual: b\n@@ -1,3 +1,2 @@\n same\n\
                 -new\n-more\n+old\n",
                "mode 0644, expected 0600\n--- current: b\n+++ desired: a\n@@ -1,2 +1,3 @@\n same\n\
                 -old\n+new\n+more\n",
            ),
            // A missing line end goes with its line.
            (
                "--- expected: a\n+++ actual: b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n",
                "--- current: b\n+++ desired: a\n@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n",
            ),
            // Content that looks like a header.
            (
                "--- expected: a\n+++ actual: b\n@@ -1,2 +0,0 @@\n--- expected: c\n-@@ -1 +1 @@\n",
                "--- current: b\n+++ desired: a\n@@ -0,0 +1,2 @@\n+-- expected: c\n+@@ -1 +1 @@\n",
            ),
            // Several files, and a marker at the end.
            (
                "--- expected: a\n+++ actual: b\n@@ -1 +0,0 @@\n-1\n--- expected: c\n+++ actual: \
                 d\n@@ -0,0 +1 @@\n+2\n[7 more lines omitted]\n",
                "--- current: b\n+++ desired: a\n@@ -0,0 +1 @@\n+1\n--- current: d\n+++ desired: \
                 c\n@@ -1 +0,0 @@\n-2\n[7 more lines omitted]\n",
            ),
            ("only words\n", "only words\n"),
            ("", ""),
        ] {
            assert_eq!(reversed(report), change);
        }
    }

    #[test]
    fn a_change_in_the_middle_keeps_what_is_around_it() {
        let report =
            "--- expected: a\n+++ actual: b\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n-4\n+four\n";
        let change =
            "--- current: b\n+++ desired: a\n@@ -1,4 +1,4 @@\n 1\n-two\n+2\n 3\n-four\n+4\n";
        assert_eq!(reversed(report), change);
    }
}
