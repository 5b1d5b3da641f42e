//! The index of an array: `NAME[ … ]=`, and `[ … ]=` in a list.
//!
//! Bash takes everything up to the matching `]` as one word, blanks and operators included, and
//! evaluates it. Where the end is not certain, a place is taken to be inside.

use super::bytes::is_name_byte;

/// No index is longer: what follows so much text is taken to be in it, if its `]` did not come. So a
/// word of a megabyte is not read again and again.
pub(super) const LONGEST_INDEX: usize = 256;

/// How many bytes at the start are a name; a `\` at the end of a line does not end it.
pub(super) fn name_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += text[at..].iter().take_while(|byte| is_name_byte(**byte)).count();
        match continuation(&text[at..]) {
            0 => return at,
            width => at += width,
        }
    }
}

/// The length of a `\` at the end of a line, with the end of the line.
fn continuation(text: &[u8]) -> usize {
    match text {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

/// The text as the shell reads it, where lines are continued in it. A long text is not a keyword and
/// not an operator, and a word holds all that is nested in it: it is not read again at each level.
pub(super) fn joined(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > LONGEST_INDEX {
        return None;
    }
    let is_continued = |at: usize| continuation(&text[at..]) > 0;
    let mut at = memchr::memchr(b'\\', text)?;
    if !memchr::memchr_iter(b'\\', text).any(is_continued) {
        return None;
    }
    let mut joined = text[..at].to_vec();
    while let Some(&byte) = text.get(at) {
        match continuation(&text[at..]) {
            0 => {
                joined.push(byte);
                at += 1;
            }
            width => at += width,
        }
    }
    Some(joined)
}

/// Whether the bracket that the text begins with is not closed in it.
pub(super) fn is_open(text: &[u8]) -> bool {
    if text.first() != Some(&b'[') {
        return false;
    }
    let text = &text[..text.len().min(LONGEST_INDEX)];
    let (mut at, mut depth) = (0, 0u32);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'[', _) => depth += 1,
            (b']', _) if depth == 1 => return false,
            (b']', _) => depth -= 1,
            (b'\\', _) => at += 1,
            (b'\'', _) => at = after(text, at, b'\'', false),
            (b'"', _) => at = after(text, at, b'"', true),
            (b'`', _) => at = after(text, at, b'`', true),
            (b'$', Some(b'\'')) => at = after(text, at + 1, b'\'', true),
            (b'$', Some(b'{')) => at = matching(text, at, b'{', b'}'),
            (b'$', Some(b'(')) => at = matching(text, at, b'(', b')'),
            _ => {}
        }
    }
    true
}

/// The position after the next `end`; the end of the text where there is none.
fn after(text: &[u8], mut at: usize, end: u8, has_escapes: bool) -> usize {
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' if has_escapes => at += 1,
            _ if byte == end => return at,
            _ => {}
        }
    }
    text.len()
}

/// The position after what closes the bracket at `at`.
fn matching(text: &[u8], mut at: usize, open: u8, close: u8) -> usize {
    let mut depth = 0u32;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'\'' => at = after(text, at, b'\'', false),
            b'"' => at = after(text, at, b'"', true),
            _ if byte == open => depth += 1,
            _ if byte == close && depth == 1 => return at,
            _ if byte == close => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_open_up_to_its_own_bracket() {
        for text in [
            "[",
            "[b[0]+",
            "[${m[k]}+",
            "[$(echo ])+",
            "[\"]\"+",
            "[']'+",
            "[\\]+",
            "[$'\\']'+",
            "[ 1 + ",
            "[`echo ]`+",
            "[\"",
            "[${m[",
            "[\"${m[\"k\"]}\"+",
            "[$((a[1]))+",
        ] {
            assert!(is_open(text.as_bytes()), "{text}");
        }
        for text in
            ["", "x[", "[0]", "[b[0]]", "[${m[k]}]=", "[\"]\"]", "[ 1 ]=", "[]", "[$(echo ])]"]
        {
            assert!(!is_open(text.as_bytes()), "{text}");
        }
        assert!(is_open(format!("[{}]", "1".repeat(LONGEST_INDEX)).as_bytes()), "in doubt");
    }

    #[test]
    fn a_continued_line_does_not_end_a_name() {
        assert_eq!(name_length(b"PS\\\n4=x"), 5);
        assert_eq!(name_length(b"a\\b"), 1);
        assert_eq!(joined(b"-e\\\nq").as_deref(), Some(&b"-eq"[..]));
        assert_eq!(joined(b"-e\\q"), None);
    }
}
