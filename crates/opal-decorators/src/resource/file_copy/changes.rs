//! What a copy will write, file by file: a diff of each text that is small enough, a line of words for
//! the rest.

use std::io::Read;
use std::path::Path;

use opal_core::files::EntryKind;
use opal_core::resolver::{Probe, Trouble};
use opal_core::resource::{Details, Direction};
use opal_core::tree::{below, links};

use super::trees::{Difference, Facts, How, Piece, unread};
use super::{Wanted, described};
use crate::resource::diff;
use crate::resource::sides::Sides;

/// Bytes of a file that is shown line by line.
const MAX_SHOWN_BYTES: u64 = 1 << 20;

/// Lines of all diffs together; what comes after them is named.
const MAX_LINES: usize = 10_000;

/// Differences that are listed.
const MAX_LISTED: usize = 1_000;

pub(super) fn shown(wanted: &Wanted, facts: &Facts, sides: &Sides<'_>) -> Result<Details, Trouble> {
    let changes = Changes { wanted, facts, sides };
    // A tree is listed first; the diff of a single file says it all.
    let is_tree = facts.kind == EntryKind::Directory;
    let (mut words, mut diffs, mut lines) = (String::new(), Details::default(), 0);
    for (index, difference) in facts.differences.iter().enumerate() {
        let diff = if lines < MAX_LINES { changes.diff(difference)? } else { None };
        // That all of a tree is missing is said where the tree is named.
        let is_whole = is_tree && difference.path.as_os_str().is_empty();
        let is_listed = !(is_whole && matches!(difference.how, How::Missing(_)));
        if index < MAX_LISTED && is_listed && (is_tree || diff.is_none()) {
            let size = if diff.is_none() { changes.size(difference)? } else { String::new() };
            words.push_str(&format!("{}{size}\n", described(difference)));
        }
        if let Some(diff) = diff {
            lines += diff.written(Direction::Report).marks.len();
            diffs = diffs.and(diff);
        }
    }
    if let Some(more @ 1..) = facts.differences.len().checked_sub(MAX_LISTED) {
        words.push_str(&format!("and {} more\n", diff::grouped(more)));
    }
    Ok(Details::words(words).and(diffs))
}

struct Changes<'a> {
    wanted: &'a Wanted,
    facts: &'a Facts,
    sides: &'a Sides<'a>,
}

impl Changes<'_> {
    /// None where it is not about content, or the content is not shown line by line.
    fn diff(&self, difference: &Difference) -> Result<Option<Details>, Trouble> {
        let is_there = match &difference.how {
            How::Missing(Piece::File { .. }) => false,
            How::Content { .. } => true,
            _ => return Ok(None),
        };
        let path = &difference.path;
        let expected = read(self.sides.source(), &self.facts.source, path)?;
        let Some(expected) = expected else { return Ok(None) };
        let actual = match is_there {
            true => read(self.sides.here(), &self.wanted.destination, path)?,
            false => Some(Vec::new()),
        };
        let Some(actual) = actual else { return Ok(None) };
        let source = below(&self.wanted.source, path).display().to_string();
        let destination = below(&self.wanted.destination, path).display().to_string();
        let diff = diff::unified((&source, &expected), (&destination, &actual))
            .private(difference.is_private);
        // A file without content has no lines, and in a tree words would not say which file is meant.
        let says_which = diff.has_diff() || self.facts.kind != EntryKind::Directory;
        Ok(Some(diff).filter(|_| says_which && expected != actual))
    }

    /// How much will be written of a file that is missing and not shown: ` (314,572,800 bytes)`.
    fn size(&self, difference: &Difference) -> Result<String, Trouble> {
        let How::Missing(Piece::File { .. }) = difference.how else { return Ok(String::new()) };
        let source = self.sides.source().stat(&below(&self.facts.source, &difference.path))?;
        let bytes = source.map(|it| usize::try_from(it.bytes).unwrap_or(usize::MAX));
        // An empty file has no lines to show.
        let bytes = bytes.filter(|bytes| *bytes > 0);
        Ok(bytes.map_or_else(String::new, |bytes| format!(" ({} bytes)", diff::grouped(bytes))))
    }
}

/// A file of one of the trees; none where it is too large.
fn read(probe: &dyn Probe, root: &Path, path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    let path = &below(root, path);
    let mut bytes = Vec::new();
    let read = probe.read(path, links(root, path))?;
    let read = read.take(MAX_SHOWN_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unread(path, &error))?;
    Ok((bytes.len() as u64 <= MAX_SHOWN_BYTES).then_some(bytes))
}
