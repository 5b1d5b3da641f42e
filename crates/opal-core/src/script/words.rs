//! Words of a command without their quotes, as far as the text alone tells.

use std::borrow::Cow;

/// What a word is in its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// `NAME=…` before the command's name, or as a word of a builtin that declares.
    Assignment,
    /// The target of a redirection.
    Target,
    /// A here-string, or the body of a heredoc.
    Input,
}

/// A word, up to the first thing in it that only the shell or a value decides.
#[derive(Clone, Debug)]
pub struct Word<'t> {
    /// The text as the shell would see it.
    pub text: Cow<'t, [u8]>,
    /// Nothing follows that text.
    pub whole: bool,
    /// The end of a name behind what is not known: `tool` of `$DIR/tool`.
    pub ending: Option<&'t [u8]>,
    pub has_references: bool,
    /// Nothing but quotes and that text is before the first reference.
    pub is_simple: bool,
    /// It is one reference and nothing else, perhaps in quotes.
    pub is_reference: bool,
    /// `NAME=( … )`.
    pub is_list: bool,
    /// `<( … )` is in it.
    pub has_process: bool,
    pub kind: Kind,
}

/// Nobody names a program with more, and an argument of a megabyte is not copied.
const LONGEST: usize = 4096;

/// Takes the quotes off `raw`, whose first reference, if there is one, is at `reference`.
#[must_use]
pub fn dequote(raw: &[u8], reference: Option<std::ops::Range<usize>>, kind: Kind) -> Word<'_> {
    let start = reference.as_ref().map_or(raw.len(), |range| range.start);
    let end = start.min(LONGEST);
    let (text, length) = literal(&raw[..end]);
    let whole = length == raw.len();
    let is_quote = |text: &[u8]| matches!(text, b"" | b"\"");
    let is_reference = reference.as_ref().is_some_and(|range| {
        is_quote(&raw[..range.start]) && raw[range.end.min(raw.len())..] == raw[..range.start]
    });
    let has_process = !whole
        && (holds_process(&raw[..raw.len().min(LONGEST)])
            || raw.len() > LONGEST && reference.is_some());
    Word {
        text,
        whole,
        ending: if whole { None } else { ending(raw) },
        has_references: reference.is_some(),
        is_simple: length == start,
        is_reference,
        is_list: is_list(raw),
        has_process,
        kind,
    }
}

fn is_list(raw: &[u8]) -> bool {
    let name = raw.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && (raw[name..].starts_with(b"=(") || raw[name..].starts_with(b"+=("))
}

fn holds_process(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"<(")
}

/// The text at the start that means itself, and how many bytes of `raw` it took.
fn literal(raw: &[u8]) -> (Cow<'_, [u8]>, usize) {
    let plain = |byte: &u8| {
        !matches!(
            byte,
            b'\\' | b'\'' | b'"' | b'$' | b'`' | b'*' | b'?' | b'[' | b'{' | b'<' | b'>'
        )
    };
    let length = raw.iter().take_while(|byte| plain(byte)).count();
    if length == raw.len() || raw == b"[" || raw == b"{}" {
        return (Cow::Borrowed(raw), raw.len());
    }
    let mut text = raw[..length].to_vec();
    let mut at = length;
    let mut quoted = false;
    while let Some(&byte) = raw.get(at) {
        match (byte, raw.get(at + 1).copied()) {
            (b'"', _) => {
                quoted = !quoted;
                at += 1;
            }
            (b'\\', Some(b'\n')) => at += 2,
            (b'\\', Some(next)) if !quoted || matches!(next, b'$' | b'`' | b'"' | b'\\') => {
                text.push(next);
                at += 2;
            }
            (b'\'', _) if !quoted => match single(raw, at + 1) {
                Some(end) => {
                    text.extend_from_slice(&raw[at + 1..end]);
                    at = end + 1;
                }
                None => break,
            },
            // `$'…'` means itself where no escape is in it, and `$"…"` is `"…"`.
            (b'$', Some(b'\'')) if !quoted => match single(raw, at + 2) {
                Some(end) if !raw[at + 2..end].contains(&b'\\') => {
                    text.extend_from_slice(&raw[at + 2..end]);
                    at = end + 1;
                }
                _ => break,
            },
            (b'$', Some(b'"')) if !quoted => at += 1,
            (b'$' | b'`', _) => break,
            (b'*' | b'?' | b'[' | b'{' | b'<' | b'>', _) if !quoted => break,
            _ => {
                text.push(byte);
                at += 1;
            }
        }
    }
    (Cow::Owned(text), at)
}

fn single(raw: &[u8], from: usize) -> Option<usize> {
    raw[from..].iter().position(|byte| *byte == b'\'').map(|length| from + length)
}

/// What follows the last `/`, where it is a plain name.
fn ending(raw: &[u8]) -> Option<&[u8]> {
    let tail = &raw[raw.len().saturating_sub(64)..];
    let name = &tail[tail.iter().rposition(|byte| *byte == b'/')? + 1..];
    let name = name.strip_suffix(b"\"").unwrap_or(name);
    let usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(byte);
    (!name.is_empty() && name.iter().all(usual)).then_some(name)
}

impl Word<'_> {
    /// The name of the program that the word calls: without its folder. None where only the shell
    /// or a value knows it.
    #[must_use]
    pub fn name(&self) -> Option<&[u8]> {
        if !self.whole {
            return self.ending;
        }
        let text = self.text.as_ref();
        match text.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => Some(&text[slash + 1..]),
            None => Some(text),
        }
    }

    #[must_use]
    pub(super) fn is_option(&self) -> bool {
        self.text.len() > 1 && matches!(self.text[0], b'-' | b'+')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_do_not_hide_a_name() {
        for raw in [
            "eval",
            "e\"va\"l",
            "\\eval",
            "'eval'",
            "\"eval\"",
            "e\\va\\l",
            "$'eval'",
            "$\"eval\"",
            "/bin/ev''al",
            "e\\\nval",
            "'e'\"v\"al",
        ] {
            let word = dequote(raw.as_bytes(), None, Kind::Plain);
            assert_eq!(word.name(), Some(&b"eval"[..]), "{raw}");
        }
    }

    #[test]
    fn what_the_shell_makes_is_not_known() {
        for raw in
            ["$X", "e$X", "ev*", "ev?l", "e[v]al", "{eval,x}", "`x`", "$'\\x65val'", "\"$X\""]
        {
            let word = dequote(raw.as_bytes(), None, Kind::Plain);
            assert_eq!(word.name(), None, "{raw}");
        }
        let word = dequote(b"\"$DIR\"/tool", None, Kind::Plain);
        assert_eq!(word.name(), Some(&b"tool"[..]));
        let word = dequote(b"\"$DIR/tool\"", None, Kind::Plain);
        assert_eq!(word.name(), Some(&b"tool"[..]));
    }
}
