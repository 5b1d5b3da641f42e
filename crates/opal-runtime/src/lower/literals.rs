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

/// Decodes the string at `span`; none where no string with text of the language stands there.
#[must_use]
pub fn string_literal(parse: &Parse, source: &str, span: Span) -> Option<Literal> {
    let tokens = parse.tokens();
    let first = token_at(tokens, span.start);
    if tokens.is_empty() || tokens.kind(first) != SyntaxKind::StringOpen {
        return None;
    }
    let triple = &source[tokens.span(first).range()] == "\"\"\"";
    let mut literal = Literal { text: String::new(), offsets: Vec::new() };
    let mut parts = Vec::new();
    for index in first + 1..tokens.len() {
        let span_here = tokens.span(index);
        if span_here.start >= span.end {
            break;
        }
        let text = &source[span_here.range()];
        let close = tokens.kind(index) == SyntaxKind::StringClose && span_here.end == span.end;
        if close {
            break;
        }
        match tokens.kind(index) {
            // An escape inside the arguments of a reference belongs to the reference.
            SyntaxKind::Escape if is_top(tokens, first, index) => {
                parts.push((decode_escape(text), span_here.start));
            }
            _ => parts.push((text.replace("\r\n", "\n"), span_here.start)),
        }
    }
    if triple {
        dedent(&mut parts);
    }
    for (text, start) in parts {
        literal.push(&text, start);
    }
    Some(literal)
}

/// Whether the token at `index` stands directly in the string that token `open` opens.
fn is_top(tokens: &Tokens, open: usize, index: usize) -> bool {
    let mut depth = 0usize;
    for kind in (open + 1..index).map(|index| tokens.kind(index)) {
        match kind {
            SyntaxKind::StringOpen => depth += 1,
            SyntaxKind::StringClose => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth == 0
}

fn token_at(tokens: &Tokens, offset: u32) -> usize {
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
pub(super) fn dedent(parts: &mut [(String, u32)]) {
    let whole: String = parts.iter().map(|(text, _)| text.as_str()).collect();
    let body = whole.strip_prefix('\n').unwrap_or(&whole);
    let shared = body
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let mut line_start = true;
    for (index, (text, start)) in parts.iter_mut().enumerate() {
        let mut given = text.as_str();
        if index == 0 && given.starts_with('\n') {
            given = &given[1..];
            *start += 1;
        }
        let mut out = String::with_capacity(given.len());
        for (nth, line) in given.split('\n').enumerate() {
            if nth > 0 {
                out.push('\n');
                line_start = true;
            }
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            let cut = if line_start { shared.min(blanks) } else { 0 };
            out.push_str(&line[cut..]);
            line_start &= line.is_empty();
        }
        *text = out;
    }
    if let Some((last, _)) = parts.last_mut() {
        let kept = last.trim_end_matches([' ', '\t']);
        if let Some(kept) = kept.strip_suffix('\n') {
            last.truncate(kept.len());
        }
    }
}
