//! Words of a command without their quotes, as far as the text alone tells.

use std::borrow::Cow;
use std::ops::Range;

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
    /// The end of a name after what is not known: `tool` of `$DIR/tool`.
    pub ending: Option<&'t [u8]>,
    pub has_references: bool,
    /// Nothing but quotes and that text is before the first reference.
    pub(crate) is_simple: bool,
    /// It is one reference and nothing else, perhaps in quotes.
    pub is_reference: bool,
    /// A `=` is in it after the first reference.
    pub(super) sets: bool,
    /// `NAME=( … )` with a reference in it.
    pub is_list: bool,
    /// `<( … )` is in it.
    pub has_process: bool,
    /// What follows its text is an expansion without quotes: it can be several words.
    pub(super) splits: bool,
    pub kind: Kind,
}

/// The memory of words that are done with.
#[derive(Debug, Default)]
pub struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Forgets words and keeps what their texts were copied into.
    pub fn clear(&mut self, words: &mut Vec<Word<'_>>) {
        for word in words.drain(..) {
            if let Cow::Owned(mut text) = word.text {
                text.clear();
                self.0.push(text);
            }
        }
    }
}

/// Nobody names a program with more, and an argument of a megabyte is not copied.
const LONGEST: usize = 4096;

/// Takes the quotes off `raw`, whose first reference, if there is one, is at `reference`. A text that
/// must be copied takes its memory from `spare`.
#[must_use]
pub fn dequote<'t>(
    raw: &'t [u8],
    reference: Option<Range<usize>>,
    kind: Kind,
    spare: &mut Spare,
) -> Word<'t> {
    let start = reference.as_ref().map_or(raw.len(), |range| range.start);
    let end = start.min(LONGEST);
    let (text, length, is_quoted) = literal(&raw[..end], spare);
    let whole = length == raw.len();
    let is_quote = |text: &[u8]| matches!(text, b"" | b"\"");
    let is_reference = reference.as_ref().is_some_and(|range| {
        is_quote(&raw[..range.start]) && raw[range.end.min(raw.len())..] == raw[..range.start]
    });
    let has_process = !whole
        && (holds_process(&raw[..raw.len().min(LONGEST)])
            || raw.len() > LONGEST && reference.is_some());
    let sets =
        reference.as_ref().is_some_and(|range| raw[range.end.min(raw.len())..].contains(&b'='));
    Word {
        text,
        whole,
        sets,
        ending: if whole { None } else { ending(raw) },
        has_references: reference.is_some(),
        is_simple: length == start,
        is_reference,
        is_list: reference.is_some() && is_list(raw),
        has_process,
        splits: !is_quoted && length < end && matches!(raw[length], b'$' | b'`'),
        kind,
    }
}

fn is_list(raw: &[u8]) -> bool {
    let name = raw.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && (raw[name..].starts_with(b"=(") || raw[name..].starts_with(b"+=("))
}

fn holds_process(text: &[u8]) -> bool {
    text.contains(&b'<') && text.windows(2).any(|pair| pair == b"<(")
}

/// The text at the start that means itself, how many bytes of `raw` it took, and whether it ends in
/// double quotes.
fn literal<'t>(raw: &'t [u8], spare: &mut Spare) -> (Cow<'t, [u8]>, usize, bool) {
    let length = plain_length(raw);
    if length == raw.len() || raw == b"[" || raw == b"{}" {
        return (Cow::Borrowed(raw), raw.len(), false);
    }
    let mut text = Piece { raw, borrowed: 0..length, owned: None, spare };
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
                text.push(at + 1..at + 2);
                at += 2;
            }
            (b'\'', _) if !quoted => match single(raw, at + 1) {
                Some(end) => {
                    text.push(at + 1..end);
                    at = end + 1;
                }
                None => break,
            },
            // `$'…'` means itself where no escape is in it, and `$"…"` is `"…"`.
            (b'$', Some(b'\'')) if !quoted => match single(raw, at + 2) {
                Some(end) if !raw[at + 2..end].contains(&b'\\') => {
                    text.push(at + 2..end);
                    at = end + 1;
                }
                _ => break,
            },
            (b'$', Some(b'"')) if !quoted => at += 1,
            (b'$' | b'`', _) => break,
            (b'*' | b'?' | b'[' | b'{' | b'<' | b'>', _) if !quoted => break,
            _ => {
                // At least one byte: what is special outside of quotes may not be inside.
                let length = plain_length(&raw[at + 1..]) + 1;
                text.push(at..at + length);
                at += length;
            }
        }
    }
    (text.finish(), at, quoted)
}

/// How many bytes at the start are not special, with quotes or without.
fn plain_length(raw: &[u8]) -> usize {
    raw.iter().position(|byte| SPECIAL[*byte as usize]).unwrap_or(raw.len())
}

static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b"\\'\"$`*?[{<>";
    let mut at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// A text that is copied only where it is not one piece of the word.
struct Piece<'t, 's> {
    raw: &'t [u8],
    borrowed: Range<usize>,
    owned: Option<Vec<u8>>,
    spare: &'s mut Spare,
}

impl<'t> Piece<'t, '_> {
    fn push(&mut self, range: Range<usize>) {
        if let Some(owned) = &mut self.owned {
            owned.extend_from_slice(&self.raw[range]);
        } else if self.borrowed.is_empty() {
            self.borrowed = range;
        } else if self.borrowed.end == range.start {
            self.borrowed.end = range.end;
        } else {
            let mut owned = self.spare.0.pop().unwrap_or_default();
            owned.extend_from_slice(&self.raw[self.borrowed.clone()]);
            owned.extend_from_slice(&self.raw[range]);
            self.owned = Some(owned);
        }
    }

    fn finish(self) -> Cow<'t, [u8]> {
        let Self { raw, borrowed, owned, .. } = self;
        owned.map_or_else(|| Cow::Borrowed(&raw[borrowed]), Cow::Owned)
    }
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

impl<'t> Word<'t> {
    /// A word that is a value; `own` where the source has written it.
    pub(super) fn value(text: &'t str, own: bool) -> Self {
        Self {
            text: Cow::Borrowed(text.as_bytes()),
            whole: true,
            ending: None,
            has_references: !own,
            is_simple: true,
            is_reference: false,
            sets: false,
            is_list: false,
            has_process: false,
            splits: false,
            kind: Kind::Plain,
        }
    }

    /// A word that is not an option; no more is known of it.
    pub(super) fn unknown() -> Self {
        Self { whole: false, is_reference: true, ..Self::value("?", false) }
    }
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
            let word = dequote(raw.as_bytes(), None, Kind::Plain, &mut Spare::default());
            assert_eq!(word.name(), Some(&b"eval"[..]), "{raw}");
        }
    }

    #[test]
    fn what_the_shell_makes_is_not_known() {
        for raw in
            ["$X", "e$X", "ev*", "ev?l", "e[v]al", "{eval,x}", "`x`", "$'\\x65val'", "\"$X\""]
        {
            let word = dequote(raw.as_bytes(), None, Kind::Plain, &mut Spare::default());
            assert_eq!(word.name(), None, "{raw}");
        }
        let word = dequote(b"\"$DIR\"/tool", None, Kind::Plain, &mut Spare::default());
        assert_eq!(word.name(), Some(&b"tool"[..]));
        let word = dequote(b"\"$DIR/tool\"", None, Kind::Plain, &mut Spare::default());
        assert_eq!(word.name(), Some(&b"tool"[..]));
    }
}
