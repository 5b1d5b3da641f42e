//! Files of Terraform and Terragrunt: as much of HCL as is needed to see blocks, attributes and values.

use opal_core::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    Word(&'t str),
    /// Without its quotes, as it is written: see [`plain`].
    Text(&'t str),
    /// The lines of a heredoc.
    Lines(&'t str),
    Number(&'t str),
    Sign(u8),
    LineEnd,
}

#[derive(Debug)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// The first thing that is never closed: where it begins, and what it is.
    pub(crate) unclosed: Option<(usize, &'static str)>,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, at: 0, unclosed: None }
    }

    /// What has not been read yet.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn unclosed(&mut self, at: usize, what: &'static str) {
        self.unclosed = self.unclosed.or(Some((at, what)));
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (Token<'t>, Span);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.text[self.at..];
            let first = *rest.as_bytes().first()?;
            let start = self.at;
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/");
                self.at += end.map_or(rest.len(), |end| end + 4);
                if end.is_none() {
                    self.unclosed(start, "unterminated comment");
                }
            } else if let Some(Heredoc { lines, length, is_closed }) = heredoc(rest) {
                self.at += length;
                if !is_closed {
                    self.unclosed(start, "unterminated text");
                }
                return Some((Token::Lines(lines), span(start, self.at)));
            } else if first == b'"' {
                let (length, is_closed) = quoted(rest);
                self.at += length;
                if !is_closed {
                    self.unclosed(start, "unterminated quote");
                }
                let inner = &rest[1..length - usize::from(is_closed)];
                return Some((Token::Text(inner), span(start, self.at)));
            } else if first == b'\n' {
                self.at += 1;
                return Some((Token::LineEnd, span(start, self.at)));
            } else if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let is_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
                self.at += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                return Some((Token::Word(&self.text[start..self.at]), span(start, self.at)));
            } else if first.is_ascii_digit() {
                let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
                self.at += rest.find(|c| !is_number(c)).unwrap_or(rest.len());
                return Some((Token::Number(&self.text[start..self.at]), span(start, self.at)));
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
                if !first.is_ascii_whitespace() {
                    return Some((Token::Sign(first), span(start, self.at)));
                }
            }
        }
    }
}

/// The length of a text in quotes, with what is interpolated in it, and whether it is closed.
fn quoted(rest: &str) -> (usize, bool) {
    let bytes = rest.as_bytes();
    // Whether each open part is a text; the others are interpolations and braces in them.
    let mut open = vec![true];
    let mut at = 1;
    while at < bytes.len() {
        let is_text = open.last() == Some(&true);
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' if is_text => drop(open.pop()),
            b'"' => open.push(true),
            b'$' | b'%' if is_text => match (bytes.get(at + 1), bytes.get(at + 2)) {
                (Some(b'{'), _) => {
                    open.push(false);
                    at += 1;
                }
                // Doubled, it is a character like any other.
                (Some(next), Some(b'{')) if *next == bytes[at] => at += 2,
                _ => {}
            },
            b'{' if !is_text => open.push(false),
            b'}' if !is_text => drop(open.pop()),
            // A text ends with its line, so that a forgotten quote hides no more than that.
            b'\n' if open.len() == 1 => return (at, false),
            _ => {}
        }
        at += 1;
        if open.is_empty() {
            return (at, true);
        }
    }
    (bytes.len(), false)
}

struct Heredoc<'t> {
    lines: &'t str,
    length: usize,
    is_closed: bool,
}

/// The heredoc that begins here: `<<END` or `<<-END`, and the lines up to the one that is `END`.
fn heredoc(rest: &str) -> Option<Heredoc<'_>> {
    let after = rest.strip_prefix("<<")?;
    let after = after.strip_prefix('-').unwrap_or(after);
    let (word, _) = after.split_once('\n')?;
    let word = word.trim_end();
    if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let start = rest.find('\n')? + 1;
    let mut end = start;
    for line in rest[start..].split_inclusive('\n') {
        if line.trim() == word {
            // Its line end is the statement's.
            let length = end + line.len() - usize::from(line.ends_with('\n'));
            return Some(Heredoc { lines: &rest[start..end], length, is_closed: true });
        }
        end += line.len();
    }
    Some(Heredoc { lines: &rest[start..], length: end, is_closed: false })
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

/// The text that is in quotes, if there is no template in it.
pub(crate) fn plain(quoted: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = quoted.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' | '%' => {
                let is_doubled = chars.peek() == Some(&c);
                let mut ahead = chars.clone();
                ahead.next();
                if is_doubled && ahead.peek() == Some(&'{') {
                    chars.next();
                } else if chars.peek() == Some(&'{') {
                    return None;
                }
                text.push(c);
            }
            '\\' => text.push(escaped(&mut chars)?),
            _ => text.push(c),
        }
    }
    Some(text)
}

fn escaped(chars: &mut impl Iterator<Item = char>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        c @ ('"' | '\\') => return Some(c),
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code: String = chars.take(digits).collect();
    let is_whole = code.len() == digits && code.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(&code, 16).ok().filter(|_| is_whole).and_then(char::from_u32)
}
