//! Words and heredocs without their quotes: the text that a shell would be given.

use super::construct::VALUE;
use super::scan::is_name_byte;

/// Marks what the shell expands in a text before that is run.
pub(super) const UNKNOWN: u8 = 2;

/// A text with something in place of what is not known.
pub(super) fn replaced(text: &[u8], guess: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(text.len() + guess.len());
    for byte in text {
        match *byte {
            UNKNOWN => all.extend_from_slice(guess),
            byte => all.push(byte),
        }
    }
    all
}

/// A text in which `%s` and its relatives are not known: printf may fill them in.
pub(super) fn formatted(text: Vec<u8>) -> Vec<u8> {
    if !text.contains(&b'%') {
        return text;
    }
    let mut all = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let is_format = |byte: &&u8| byte.is_ascii_digit() || b"-+ #.*'".contains(byte);
        let width = text[at + 1..].iter().take_while(is_format).count();
        match (byte, text.get(at + 1 + width)) {
            (b'%', Some(b's' | b'b' | b'q' | b'c')) => {
                all.push(UNKNOWN);
                at += width + 2;
            }
            _ => {
                all.push(byte);
                at += 1;
            }
        }
    }
    all
}

/// What a word is without its quotes. What the shell expands in it is not known; the texts of
/// `${NAME:-TEXT}` are kept by themselves.
pub(super) fn dequoted(raw: &[u8], inner: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    let (mut at, mut is_double) = (0, false);
    while let Some(&byte) = raw.get(at) {
        match byte {
            b'\'' if !is_double => {
                let end = raw[at + 1..].iter().position(|byte| *byte == b'\'');
                let end = end.map_or(raw.len(), |end| at + 1 + end);
                text.extend_from_slice(&raw[(at + 1).min(end)..end]);
                at = end + 1;
            }
            b'"' => {
                is_double = !is_double;
                at += 1;
            }
            b'$' if !is_double && raw.get(at + 1) == Some(&b'"') => at += 1,
            b'$' if !is_double && raw.get(at + 1) == Some(&b'\'') => {
                at = escaped(raw, at + 2, &mut text);
            }
            b'$' if raw.get(at + 1) == Some(&b'{') => {
                let end = closed(raw, at + 1, b'{', b'}');
                default(&raw[at + 2..end.max(at + 2)], inner);
                text.push(UNKNOWN);
                at = end;
            }
            _ => at = piece(raw, at, is_double, &mut text),
        }
    }
    text
}

/// `$'…'`; gives where it ends. A letter that is written as a number may be any.
fn escaped(raw: &[u8], mut at: usize, text: &mut Vec<u8>) -> usize {
    while let Some(&byte) = raw.get(at) {
        match (byte, raw.get(at + 1)) {
            (b'\'', _) => return at + 1,
            (b'\\', Some(next)) => {
                text.push(match next {
                    b'0'..=b'7' | b'c' | b'u' | b'U' | b'x' => b'$',
                    b'\'' | b'"' | b'\\' | b'?' => *next,
                    _ => b' ',
                });
                at += 2;
            }
            _ => {
                text.push(byte);
                at += 1;
            }
        }
    }
    at
}

/// Keeps the text after the name and the operator of `${NAME:-TEXT}`.
fn default(raw: &[u8], inner: &mut Vec<Vec<u8>>) {
    let raw = raw.strip_suffix(b"}").unwrap_or(raw);
    let name = raw.iter().take_while(|byte| is_name_byte(**byte)).count();
    let rest = &raw[name..];
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    if let [b'-' | b'=' | b'+', text @ ..] = rest {
        let mut more = Vec::new();
        inner.push(dequoted(text, &mut more));
        inner.append(&mut more);
    }
}

/// A heredoc in which the shell expands.
pub(super) fn unescaped(raw: &[u8]) -> Vec<u8> {
    let (mut text, mut at) = (Vec::with_capacity(raw.len()), 0);
    while at < raw.len() {
        at = piece(raw, at, true, &mut text);
    }
    text
}

/// One byte, an escape or an expansion; gives where the next one begins.
fn piece(raw: &[u8], at: usize, is_quoted: bool, text: &mut Vec<u8>) -> usize {
    match (raw[at], raw.get(at + 1)) {
        (b'\\', Some(b'\n')) => at + 2,
        (b'\\', Some(next)) if !is_quoted || b"$`\"\\".contains(next) => {
            text.push(*next);
            at + 2
        }
        (b'$' | b'<' | b'>', Some(b'(')) => {
            text.push(UNKNOWN);
            closed(raw, at + 1, b'(', b')')
        }
        (b'$', Some(b'{')) => {
            text.push(UNKNOWN);
            closed(raw, at + 1, b'{', b'}')
        }
        (b'$', Some(next)) if is_name_byte(*next) || b"@*#?$!-".contains(next) => {
            text.push(UNKNOWN);
            let length = raw[at + 1..].iter().take_while(|byte| is_name_byte(**byte)).count();
            at + 1 + length.max(1)
        }
        (b'`', _) => {
            text.push(UNKNOWN);
            let length = raw[at + 1..].iter().position(|byte| *byte == b'`');
            length.map_or(raw.len(), |length| at + 2 + length)
        }
        (VALUE, _) => {
            text.push(b'x');
            at + 1
        }
        (byte, _) => {
            text.push(byte);
            at + 1
        }
    }
}

/// Where the bracket that opens at `at` is closed. Commands inside are judged by themselves.
fn closed(raw: &[u8], at: usize, open: u8, close: u8) -> usize {
    let (mut at, mut depth, mut quote) = (at, 0usize, None);
    while let Some(&byte) = raw.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (_, Some(it)) if it == byte => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, None) if byte == open => depth += 1,
            (byte, None) if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    raw.len()
}
