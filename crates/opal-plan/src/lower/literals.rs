//! What a string of the language says, and where each part of it was written.

use opal_core::Span;
use opal_syntax::tokens::Tokens;
use opal_syntax::{Parse, SyntaxKind};

/// A decoded string; references in it are as they were written.
#[derive(Clone, Debug)]
pub struct Literal {
    pub text: String,
    /// Pairs of an offset in `text` and its offset in the source, ascending.
    offsets: Vec<(u32, u32)>,
}

impl Literal {
    /// The place in the source of a place in the text.
    #[must_use]
    pub fn place(&self, span: Span) -> Span {
        let start = self.offset(span.start);
        Span::new(start, self.offset(span.end).max(start))
    }

    fn offset(&self, at: u32) -> u32 {
        let index = self.offsets.partition_point(|(decoded, _)| *decoded <= at);
        match self.offsets.get(index.saturating_sub(1)) {
            Some((decoded, source)) => source + at.saturating_sub(*decoded),
            None => 0,
        }
    }

    fn push(&mut self, text: &str, source: u32) {
        self.offsets.push((self.text.len() as u32, source));
        self.text.push_str(text);
    }
}

/// Decodes the string at `span`; none where no string of the language is there.
#[must_use]
pub fn string_literal(parse: &Parse, source: &str, span: Span) -> Option<Literal> {
    let tokens = parse.tokens();
    let first = token_at(tokens, span.start);
    if tokens.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    match tokens.kind(first) {
        SyntaxKind::StringOpen => string_parts(tokens, source, first, span, &mut parts),
        SyntaxKind::RawString => raw_parts(source, tokens.span(first), &mut parts),
        _ => return None,
    }
    let mut literal = Literal { text: String::new(), offsets: Vec::new() };
    for (text, start) in parts {
        literal.push(&text, start);
    }
    Some(literal)
}

fn string_parts(
    tokens: &Tokens,
    source: &str,
    first: usize,
    span: Span,
    parts: &mut Vec<(String, u32)>,
) {
    let mut depth = 0usize;
    let mut escapes = Vec::new();
    for index in first + 1..tokens.len() {
        let here = tokens.span(index);
        let closes = tokens.kind(index) == SyntaxKind::StringClose && depth == 0;
        if here.start >= span.end || closes {
            break;
        }
        let text = &source[here.range()];
        match tokens.kind(index) {
            // An escape inside the arguments of a reference belongs to the reference.
            SyntaxKind::Escape if depth == 0 => {
                escapes.push((parts.len(), decode_escape(text)));
                parts.push((VALUE.to_owned(), here.start));
            }
            SyntaxKind::StringOpen => depth += 1,
            SyntaxKind::StringClose => depth -= 1,
            SyntaxKind::StringText if depth == 0 => {
                lines(text, here.start, parts);
                continue;
            }
            _ => {}
        }
        if tokens.kind(index) != SyntaxKind::Escape || depth > 0 {
            parts.push((text.to_owned(), here.start));
        }
    }
    if &source[tokens.span(first).range()] == "\"\"\"" {
        dedent(parts);
    }
    escapes.into_iter().for_each(|(at, decoded)| parts[at].0 = decoded);
}

/// In place of a value or an escape while the text around it is dedented. Only lines of the source
/// are indented: what an escape stands for is text, whatever it is.
pub(super) const VALUE: &str = "\u{fffc}";

/// The text of `'…'`, in which every `@` is itself.
fn raw_parts(source: &str, span: Span, parts: &mut Vec<(String, u32)>) {
    let text = &source[span.range()];
    let inner = text.strip_prefix('\'').unwrap_or(text);
    let inner = inner.strip_suffix('\'').unwrap_or(inner);
    let mut start = span.start + 1;
    for part in inner.split_inclusive('@') {
        let plain = part.trim_end_matches('@');
        parts.push((plain.to_owned(), start));
        if plain.len() < part.len() {
            parts.push(("\\@".to_owned(), start + plain.len() as u32));
        }
        start += part.len() as u32;
    }
}

/// Cuts text into lines, each with its place; a line ends in a line feed, however it was written.
pub(super) fn lines(text: &str, mut start: u32, parts: &mut Vec<(String, u32)>) {
    for line in text.split_inclusive('\n') {
        parts.push((line.replace("\r\n", "\n"), start));
        start += line.len() as u32;
    }
}

pub(super) fn token_at(tokens: &Tokens, offset: u32) -> usize {
    let (mut low, mut high) = (0, tokens.len());
    while low < high {
        let middle = low.midpoint(high);
        if tokens.start(middle) < offset {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low.min(tokens.len().saturating_sub(1))
}

/// What an escape stands for; an unknown one, already reported, stands for itself.
pub(super) fn decode_escape(text: &str) -> String {
    let decoded = match text.as_bytes().get(1) {
        Some(b'n') => Some('\n'),
        Some(b't') => Some('\t'),
        Some(b'"') => Some('"'),
        Some(b'\\') => Some('\\'),
        Some(b'@') => return "\\@".to_owned(),
        Some(b'u') => text
            .get(3..text.len().saturating_sub(1))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32),
        _ => None,
    };
    decoded.map_or_else(|| text.to_owned(), String::from)
}

/// Drops the first and the last line feed of a `"""` string and the indentation its lines share.
/// No part holds more than one line.
pub(super) fn dedent(parts: &mut [(String, u32)]) {
    if let Some((first, start)) = parts.first_mut()
        && first == "\n"
    {
        first.clear();
        *start += 1;
    }
    let whole: String = parts.iter().map(|(text, _)| text.as_str()).collect();
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let filled = whole.lines().filter(|line| !line.trim().is_empty());
    let shared = filled.map(blanks).min().unwrap_or(0);
    let mut line_start = true;
    for (text, start) in parts.iter_mut() {
        let begins = std::mem::replace(&mut line_start, text.ends_with('\n'));
        if begins && !text.is_empty() {
            let cut = shared.min(blanks(text));
            text.drain(..cut);
            *start += cut as u32;
        } else if text.is_empty() {
            line_start = begins;
        }
    }
    let mut tail = parts.iter_mut().rev().map(|(text, _)| text).skip_while(|text| text.is_empty());
    if let Some(last) = tail.next() {
        let blank = last.trim_end_matches([' ', '\t']).is_empty();
        let line = if blank {
            last.clear();
            tail.find(|text| !text.is_empty())
        } else {
            Some(last)
        };
        if let Some(line) = line.filter(|line| line.ends_with('\n')) {
            line.pop();
        }
    }
}
