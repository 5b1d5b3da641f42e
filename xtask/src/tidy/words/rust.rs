//! The prose of a Rust source: its comments, its string literals, and its names as words.
//!
//! `fn told_apart` reads as *told apart* and `LookedAt` as *looked at*, so that one list of words
//! holds for messages, comments and names. Whatever is neither is left out.

use super::{BREAK, push_prose};

/// The prose in lower case. Each line end is one [`BREAK`].
pub(super) fn prose(text: &str) -> String {
    let mut reader = Reader { rest: text, prose: String::with_capacity(text.len()) };
    while let Some(first) = reader.rest.chars().next() {
        reader.piece(first);
    }
    reader.prose
}

/// Separates pieces, so that no phrase is found across two of them.
const GAP: char = '`';

struct Reader<'a> {
    rest: &'a str,
    prose: String,
}

impl<'a> Reader<'a> {
    fn piece(&mut self, first: char) {
        if self.rest.starts_with("//") {
            self.comment();
        } else if first == '"' {
            self.take(1);
            self.string();
        } else if let Some(hashes) = raw_string(self.rest) {
            self.raw_string(hashes);
        } else if first == '\'' {
            self.character();
        } else if is_in_name(first) {
            let name = self.take_while(is_in_name);
            self.name(name);
        } else {
            let gap = if first == '\n' { BREAK } else { GAP };
            if first != ' ' {
                self.prose.push(gap);
            }
            self.take(first.len_utf8());
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// The lines of comments that follow each other: a sentence goes on across their ends.
    fn comment(&mut self) {
        let mut span = None;
        let mut is_fenced = false;
        self.prose.push(GAP);
        while self.rest.starts_with("//") {
            let line = self.take_while(|c| c != '\n');
            let line = line.trim_start_matches('/').trim_start_matches('!').trim_start();
            let is_fence = line.starts_with("```");
            is_fenced ^= is_fence;
            if line.is_empty() {
                // A paragraph ends, and with it a lone backtick.
                span = None;
                self.prose.push(GAP);
            } else if !is_fenced && !is_fence {
                push_prose(line, &mut span, &mut self.prose);
            }
            let next = self.rest.trim_start_matches(['\n', ' ']);
            let gap = &self.rest[..self.rest.len() - next.len()];
            if !next.starts_with("//") || gap.matches('\n').count() > 1 {
                break;
            }
            self.prose.push(BREAK);
            self.rest = next;
        }
        self.prose.push(GAP);
    }

    /// After the opening quote. A `\` at the end of a line continues the text on the next.
    fn string(&mut self) {
        let end = string_end(self.rest);
        let literal = self.take(end);
        self.take(1);
        self.literal(&literal.replace("\\\n", "\n").replace("\\n", "` "));
    }

    fn raw_string(&mut self, hashes: usize) {
        self.take_while(|c| c != '"');
        self.take(1);
        let close = format!("\"{}", "#".repeat(hashes));
        let end = self.rest.find(&close).unwrap_or(self.rest.len());
        let literal = self.take(end);
        self.take(close.len());
        self.literal(literal);
    }

    fn literal(&mut self, literal: &str) {
        let mut span = None;
        self.prose.push(GAP);
        for (index, line) in literal.split('\n').enumerate() {
            if index > 0 {
                self.prose.push(BREAK);
            }
            push_prose(line.trim_start(), &mut span, &mut self.prose);
        }
        self.prose.push(GAP);
    }

    /// A character literal, or the quote of a lifetime.
    fn character(&mut self) {
        self.take(1);
        let mut chars = self.rest.chars();
        let literal = match (chars.next(), chars.next()) {
            (Some('\\'), Some(escaped)) => {
                let start = 1 + escaped.len_utf8();
                self.rest[start..].find('\'').map(|end| start + end + 1)
            }
            (Some(c), Some('\'')) => Some(c.len_utf8() + 1),
            _ => None,
        };
        self.take(literal.unwrap_or(0));
        self.prose.push(GAP);
    }

    /// `told_apart`, `ToldApart` and `TOLD_APART` are the words *told apart*.
    fn name(&mut self, name: &str) {
        self.prose.push(GAP);
        let mut was_lower = false;
        for c in name.chars() {
            if c == '_' || (c.is_uppercase() && was_lower) {
                self.prose.push(' ');
            }
            if c != '_' {
                self.prose.extend(c.to_lowercase());
            }
            was_lower = c.is_lowercase() || c.is_numeric();
        }
        self.prose.push(GAP);
    }
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the text before the closing quote.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !is_escaped => return at,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// How many `#` a raw string that begins here has before its quote.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
    let quote = rest.trim_start_matches('#');
    quote.starts_with('"').then(|| rest.len() - quote.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prose of a source with one blank or line end between its pieces.
    fn words(text: &str) -> String {
        let prose = prose(text).replace(GAP, " ");
        let lines = prose.split(BREAK).map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn comments_strings_and_names_are_prose() {
        for (source, expected) in [
            ("// It stands\n// here.\n", "it stands\nhere.\n"),
            ("//! A `b c` d\n", "a d\n"),
            ("/// ```\n/// stands\n/// ```\n/// Out\n", "\n\n\nout\n"),
            ("let a = \"B \\\"c\\\" d\"; // e", "let a b \\\"c\\\" d e"),
            ("f(\"one \\\n   two\")", "f one\ntwo"),
            ("r#\"a \" b\"# c", "a \" b c"),
            ("b\"a\" c\"b\" br\"c\"", "b a c b c"),
            ("fn told_apart()", "fn told apart"),
            ("LookedAt::A1B LOOKED_AT", "looked at a1 b looked at"),
            ("'a' '\\'' '\\u{1f}' &'a str 'b", "a str b"),
            ("if c == '\"' { x } // y\n", "if c x y\n"),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn no_phrase_is_found_across_two_pieces() {
        for source in ["it.stands(is, no)", "is /* */ no", "\"is\" \"no\"", "// is\n\n// no"] {
            assert!(!prose(source).contains("is no"), "{source}");
            assert!(!prose(source).contains(&format!("is{BREAK}no")), "{source}");
        }
    }
}
