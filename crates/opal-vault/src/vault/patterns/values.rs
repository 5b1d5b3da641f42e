//! How far a value goes: to its quote, to the end of its word, to the end of its line.

/// What ends a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// This quote, with so many backslashes before it: one for text in JSON, three for such
    /// text in JSON again.
    Quote { quote: u8, slashes: usize },
    /// A blank, or a sign that is not in the middle of a word.
    Word,
    /// The same, or the code of `&` in a URL.
    Code,
    /// The quote around it, or the end of the line.
    Line,
}

/// How far to read after a sign to see whether the value goes on there.
const LOOK: usize = 64;
const SIGNS: usize = 8;

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What names and numbers are made of.
pub(super) fn is_name(byte: u8) -> bool {
    NAME[usize::from(byte)]
}

const NAME: [bool; 256] = {
    let mut name = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let one = byte as u8;
        name[byte] = one.is_ascii_alphanumeric() || matches!(one, b'_' | b'-' | b'.');
        byte += 1;
    }
    name
};

/// What follows a value where lists, calls, queries and the like go on.
pub(super) fn is_closing(byte: u8) -> bool {
    is_quote(byte) || is_sign(byte) || byte == b'\\'
}

fn is_sign(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'&' | b')' | b'}' | b']' | b'>')
}

/// Whether `word` is among words with blanks between, in letters of any case.
pub(super) fn is_one_of(word: &[u8], words: &str) -> bool {
    words.split(' ').any(|one| one.as_bytes().eq_ignore_ascii_case(word))
}

/// The quote that begins at `at`, and where its inside begins.
pub(super) fn opening(text: &[u8], at: usize) -> Option<(Until, usize)> {
    let slashes = slashes(text, at);
    let quote = text.get(at + slashes).copied().filter(|byte| is_quote(*byte))?;
    Some((Until::Quote { quote, slashes }, at + slashes + 1))
}

/// How many backslashes follow each other from `at` on.
fn slashes(text: &[u8], at: usize) -> usize {
    text[at..].iter().take_while(|byte| **byte == b'\\').count()
}

impl Until {
    /// Where a value ends that goes on at `from`. `goes_on`: more of the line may follow, and
    /// what that would decide is not decided.
    pub(super) fn end(self, text: &[u8], from: usize, goes_on: bool) -> usize {
        match self {
            Self::Quote { quote, slashes } => quoted(text, from, quote, slashes),
            Self::Word => word(text, from, goes_on),
            Self::Code => {
                let end = word(text, from, goes_on);
                let code = text[from..end].windows(3).position(|here| here == b"%26");
                code.map_or(end, |code| from + code)
            }
            Self::Line => line(text, from),
        }
    }

    /// Where the text goes on after a value that ends at `end`.
    pub(super) fn after(self, text: &[u8], end: usize) -> usize {
        match self {
            Self::Quote { slashes, .. } => text.len().min(end + slashes + 1),
            Self::Word | Self::Code | Self::Line => end,
        }
    }
}

fn quoted(text: &[u8], from: usize, quote: u8, level: usize) -> usize {
    let mut at = from;
    while let Some(found) = memchr::memchr(quote, &text[at..]) {
        let place = at + found;
        let run = text[at..place].iter().rev().take_while(|byte| **byte == b'\\').count();
        if run < level {
            // It closes what is around the value.
            return place - run;
        }
        let escapes = (run - level) / (level + 1);
        at = match &text[place + 1..] {
            _ if escapes % 2 == 1 => place + 1,
            // A quote is written twice in YAML and SQL, and three begin and end a text in Python.
            [next, ..] if level == 0 && *next == quote => place + 2,
            // As a shell writes it.
            [b'\\', b'\'', b'\'', ..] if level == 0 && quote == b'\'' => place + 4,
            _ => return place - level,
        };
    }
    text.len()
}

fn word(text: &[u8], from: usize, goes_on: bool) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let next = match byte {
            b'\\' => at + slashes(text, at),
            _ => at,
        };
        let ends = match text.get(next).copied() {
            _ if is_blank(byte) || byte.is_ascii_control() => true,
            Some(quote) if is_quote(quote) => quote_ends(text, next, goes_on),
            Some(sign) if is_sign(sign) && next == at => sign_ends(text, at, goes_on),
            Some(b'<') => text.get(next + 1) == Some(&b'/'),
            _ => false,
        };
        if ends {
            return at;
        }
        at = next.max(at + 1);
    }
    text.len()
}

/// Not in `don't`.
fn quote_ends(text: &[u8], at: usize, goes_on: bool) -> bool {
    text.get(at + 1).map_or(!goes_on, |next| !next.is_ascii_alphanumeric())
}

/// Where nothing follows, or something else does: a blank, a quote, another key. A password may
/// have such signs in it.
fn sign_ends(text: &[u8], at: usize, goes_on: bool) -> bool {
    let signs = text[at..].iter().take(SIGNS).take_while(|byte| is_sign(**byte)).count();
    let rest = &text[at + signs..];
    match rest.first() {
        None => !goes_on,
        Some(byte) if is_blank(*byte) || is_quote(*byte) || *byte == b'\\' => true,
        Some(_) => {
            let name = rest.iter().take(LOOK).take_while(|byte| is_name(**byte)).count();
            name > 0 && matches!(rest.get(name), Some(b'=' | b':'))
        }
    }
}

/// Not at the quotes of what is inside: `c="d"`.
fn line(text: &[u8], from: usize) -> usize {
    let mut is_inside = false;
    let mut slashes = 0;
    for (at, &byte) in text.iter().enumerate().skip(from) {
        if is_quote(byte) {
            let before = text[from..at - slashes].last();
            let next = text.get(at + 1);
            if is_inside || before == Some(&b'=') {
                is_inside = !is_inside;
            } else if next.is_none_or(|next| is_blank(*next) || b",)]}\\".contains(next)) {
                return at - slashes;
            }
        }
        slashes = if byte == b'\\' { slashes + 1 } else { 0 };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_ends_at_its_own_quote() {
        for (text, inside) in [
            (r#""a\"b" c"#, r#"a\"b"#),
            (r#""a\\" "c""#, r"a\\"),
            (r"'it''s' x", "it''s"),
            (r"'it'\''s' x", r"it'\''s"),
            (r#"""#, ""),
            (r#""open"#, "open"),
            (r#""""three""" x"#, r#"""three"""#),
            (r#"\"a\\\"b\", \"c\""#, r#"a\\\"b"#),
            (r#"\"a\\\\\", \"c\""#, r"a\\\\"),
            (r#"\\\"a\\\" b"#, "a"),
            (r#"\"cut" b"#, "cut"),
        ] {
            let (until, from) = opening(text.as_bytes(), 0).unwrap();
            let end = until.end(text.as_bytes(), from, false);
            assert_eq!(&text[from..end], inside, "{text}");
        }
    }

    #[test]
    fn a_word_ends_where_something_else_begins() {
        for (text, word) in [
            ("a b", "a"),
            ("a,b=c", "a"),
            ("a&b=c", "a"),
            ("a;", "a"),
            ("a)", "a"),
            ("a)}], b", "a"),
            ("a&b)c", "a&b)c"),
            ("don't", "don't"),
            ("a', 'b", "a"),
            (r#"a\", b"#, "a"),
            ("a=b==", "a=b=="),
            ("a</b>", "a"),
            ("", ""),
        ] {
            let end = Until::Word.end(text.as_bytes(), 0, false);
            assert_eq!(&text[..end], word, "{text}");
        }
        assert_eq!(Until::Word.end(b"a,", 0, true), 2, "what follows would tell");
    }

    #[test]
    fn a_line_ends_at_the_quote_around_it() {
        for (text, line) in [
            ("a=b; c", "a=b; c"),
            ("a=b; c' -v", "a=b; c"),
            (r#"a="b", c="d""#, r#"a="b", c="d""#),
            (r#"a=\"b\", c\"}""#, r#"a=\"b\", c"#),
            ("it's", "it's"),
        ] {
            let end = Until::Line.end(text.as_bytes(), 0, false);
            assert_eq!(&text[..end], line, "{text}");
        }
    }
}
