//! What becomes of a file's bytes so that it has a line, or has it not. No file is touched here.

use std::ops::Range;

use opal_core::wiped::Wiped;
use regex::Regex;

use super::encoding::Encoding;

/// The line that should be present, or absent.
pub(super) struct Line<'i> {
    pub(super) text: &'i str,
    pub(super) is_present: bool,
    pub(super) pattern: Option<Regex>,
    pub(super) several: Several,
    pub(super) encoding: Encoding,
}

/// Which line is meant where several match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Several {
    First,
    All,
    Refused,
}

/// What the file should hold instead.
pub(super) struct Change {
    pub(super) content: Wiped<Vec<u8>>,
    pub(super) how: How,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    Added,
    /// The numbers of the lines, from 1.
    Replaced(Vec<usize>),
    Removed(Vec<usize>),
}

/// Why it cannot be decided.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Binary,
    /// The line of the file that is not in the encoding.
    OtherEncoding(usize),
    /// The character of the wanted line, from 1, that the encoding does not have.
    Unwritable(usize),
    /// Lines that match and are not all the same.
    Ambiguous(Vec<usize>),
}

/// What some editors put in front of UTF-8 text; it belongs to no line.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A line that is the wanted one, or matches.
struct Match {
    /// From 1.
    number: usize,
    /// Where it is, without its end.
    body: Range<usize>,
    /// Where the next one begins.
    next: usize,
    is_required: bool,
}

/// None where the file is as wanted. A file that is not there has no content.
pub(super) fn edit(content: Option<&[u8]>, line: &Line<'_>) -> Result<Option<Change>, Refusal> {
    let wanted = line.encoding.encode(line.text).map_err(Refusal::Unwritable)?;
    let content = content.unwrap_or_default();
    if memchr::memchr(0, content).is_some() {
        return Err(Refusal::Binary);
    }
    let matches = matches(content, line, &wanted)?;
    let meant = meant(line, &matches)?;
    Ok(match (line.is_present, meant) {
        (false, []) => None,
        (false, meant) => {
            let content =
                spliced(content, meant.iter().map(|it| (it.body.start..it.next, &[][..])));
            Some(Change { content, how: How::Removed(numbers(meant)) })
        }
        (true, []) => Some(Change { content: added(content, &wanted), how: How::Added }),
        (true, meant) if meant.iter().all(|it| it.is_required) => None,
        (true, meant) => {
            let mut edited = spliced(content, meant.iter().map(|it| (it.body.clone(), &*wanted)));
            // An empty line without an end would be no line.
            if wanted.is_empty() && meant.last().is_some_and(|it| it.next == it.body.end) {
                edited.extend_from_slice(usual_end(content));
            }
            let differing = meant.iter().filter(|it| !it.is_required).map(|it| it.number);
            Some(Change { content: edited, how: How::Replaced(differing.collect()) })
        }
    })
}

fn matches(content: &[u8], line: &Line<'_>, wanted: &[u8]) -> Result<Vec<Match>, Refusal> {
    let is_marked = line.encoding == Encoding::Utf8 && content.starts_with(MARK);
    let mut start = if is_marked { MARK.len() } else { 0 };
    let mut found = Vec::new();
    for (index, whole) in content[start..].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let body = &whole[..whole.len() - end(whole).len()];
        let text = line.encoding.decode(body).ok_or(Refusal::OtherEncoding(number))?;
        let is_required = body == wanted;
        let next = start + whole.len();
        if is_required || line.pattern.as_ref().is_some_and(|pattern| pattern.is_match(&text)) {
            found.push(Match { number, body: start..start + body.len(), next, is_required });
        }
        start = next;
    }
    Ok(found)
}

/// Those of the matching lines that are looked after.
///
/// Lines that are all as wanted leave no question. Otherwise `first` is clear only for a line that
/// should be present: of one that should be absent it would leave the others.
fn meant<'m>(line: &Line<'_>, matches: &'m [Match]) -> Result<&'m [Match], Refusal> {
    match line.several {
        _ if matches.len() < 2 => Ok(matches),
        Several::All => Ok(matches),
        Several::First if line.is_present => Ok(&matches[..1]),
        Several::Refused if matches.iter().all(|it| it.is_required) => Ok(matches),
        Several::First | Several::Refused => Err(Refusal::Ambiguous(numbers(matches))),
    }
}

fn numbers(matches: &[Match]) -> Vec<usize> {
    matches.iter().map(|it| it.number).collect()
}

/// The content with other bytes in some places; all others are kept.
fn spliced<'b>(
    content: &[u8],
    places: impl Iterator<Item = (Range<usize>, &'b [u8])>,
) -> Wiped<Vec<u8>> {
    let mut out = Wiped::new(Vec::with_capacity(content.len()));
    let mut at = 0;
    for (place, instead) in places {
        out.extend_from_slice(&content[at..place.start]);
        out.extend_from_slice(instead);
        at = place.end;
    }
    out.extend_from_slice(&content[at..]);
    out
}

/// The wanted line at the end.
fn added(content: &[u8], wanted: &[u8]) -> Wiped<Vec<u8>> {
    let end = usual_end(content);
    let is_open = !content.is_empty() && !content.ends_with(b"\n") && content != MARK;
    let between = if is_open { end } else { &[] };
    Wiped::new([content, between, wanted, end].concat())
}

/// The line end that the last lines of a file have.
fn usual_end(content: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', content).map_or(b"\n", |at| end(&content[..=at]))
}

/// What ends a line.
fn end(line: &[u8]) -> &[u8] {
    let length = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    &line[line.len() - length..]
}

#[cfg(test)]
mod tests;
