//! Private keys in lines: PEM, OpenSSH, PGP, SSH2.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use opal_core::class::shape;

use super::values::is_quote;

static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"BEGIN "));
static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"END "));

/// The words between the dashes are no longer.
const LONGEST: usize = 64;
/// A word of this many base64 letters is not part of a sentence.
const ENCODED: usize = 16;

/// Where the next private key begins: its first line up to the dashes, and with them.
pub(super) fn begin(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut begin = marker(text, from, &BEGIN)?;
    // Looked for once, however often a line speaks of the marker.
    let mut next_end = end(text, begin.end);
    loop {
        if next_end.is_some_and(|end| end < begin.end) {
            next_end = end(text, begin.end);
        }
        if next_end.is_some() || is_followed_by_key(&text[begin.end..]) {
            return Some(begin);
        }
        begin = marker(text, begin.end, &BEGIN)?;
    }
}

/// Where it ends.
pub(super) fn end(text: &[u8], from: usize) -> Option<usize> {
    Some(marker(text, from, &END)?.end)
}

/// `-----BEGIN … PRIVATE KEY-----`, `---- BEGIN … PRIVATE KEY ----`.
fn marker(text: &[u8], from: usize, word: &Finder<'_>) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let found = at + word.find(&text[at..])?;
        at = found + word.needle().len();
        let before = text[from..found].strip_suffix(b" ").unwrap_or(&text[from..found]);
        let within = &text[at..text.len().min(at + LONGEST)];
        let Some(length) = within.windows(4).position(|here| here == b"----") else { continue };
        let is_private = shape::is_private(&within[..length]);
        if before.ends_with(b"----") && is_private {
            let dash = |byte: &&u8| **byte == b'-';
            let start = from + before.len() - before.iter().rev().take(5).take_while(dash).count();
            let end = at + length + within[length..].iter().take(5).take_while(dash).count();
            return Some(start..end);
        }
    }
}

/// Nothing more on the line, or what a key has there; a sentence may speak of the marker.
fn is_followed_by_key(mut rest: &[u8]) -> bool {
    loop {
        rest = match rest {
            [b'\\', b'n' | b'r' | b't', after @ ..] => after,
            [byte, after @ ..] if is_quote(*byte) || b" \t,]\\".contains(byte) => after,
            _ => break,
        }
    }
    let is_encoded = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let is_named = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let name = rest.iter().take(LONGEST).take_while(is_named).count();
    rest.is_empty()
        || rest.iter().take(ENCODED).take_while(is_encoded).count() == ENCODED
        || name > 0 && rest[name..].starts_with(b": ")
}
