//! Whole numbers that 64 bits cannot hold. Terraform keeps them exactly, and opal's JSON refuses them: they
//! pass through it as texts, and only the provider reads them.

use opal_core::data::Secret;
use opal_core::wiped::Wiped;

/// What such a text begins with: no state has a text with this character.
const BEFORE: &str = r#""\u0000opal:"#;

/// A document with texts in place of numbers that are too long; none where it has no such number.
pub(super) fn hidden(text: &str) -> Option<Wiped<Vec<u8>>> {
    let mut out: Option<Wiped<Vec<u8>>> = None;
    let (mut done, mut at, bytes) = (0, 0, text.as_bytes());
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string(&bytes[at..]),
            b'-' | b'0'..=b'9' => {
                let number = &text[at..at + number(&bytes[at..])];
                if is_long(number) {
                    let out = out.get_or_insert_with(|| Wiped::new(Vec::with_capacity(text.len())));
                    out.extend_from_slice(&bytes[done..at]);
                    out.extend_from_slice(BEFORE.as_bytes());
                    out.extend_from_slice(number.as_bytes());
                    out.push(b'"');
                    done = at + number.len();
                }
                at += number.len();
            }
            _ => at += 1,
        }
    }
    if let Some(out) = &mut out {
        out.extend_from_slice(&bytes[done..]);
    }
    out
}

/// The numbers themselves again.
pub(super) fn shown(json: Secret) -> Secret {
    if !json.expose().contains(BEFORE) {
        return json;
    }
    let mut parts = json.expose().split(BEFORE);
    let mut out = String::with_capacity(json.expose().len());
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (number, rest) = part.split_once('"').unwrap_or((part, ""));
        out.push_str(number);
        out.push_str(rest);
    }
    Secret::new(out)
}

/// The length of a text with its quotes.
fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn number(bytes: &[u8]) -> usize {
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    bytes.iter().take_while(is_part).count()
}

fn is_long(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && number.parse::<i64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_that_are_too_long_pass_as_texts() {
        for text in [
            "",
            r#"{"a": 9223372036854775807, "b": -1.5e300, "c": "18446744073709551616"}"#,
            r#"["\"18446744073709551616", "\\"]"#,
            r#"["open 18446744073709551616"#,
        ] {
            assert!(hidden(text).is_none(), "{text}");
        }
        let text = r#"{"a": [18446744073709551616,-9223372036854775809], "b": 1}"#;
        let found = hidden(text).unwrap();
        let found = std::str::from_utf8(&found).unwrap();
        assert!(opal_core::data::json::read(found).is_ok(), "{found}");
        assert_eq!(shown(Secret::new(found)).expose(), text);
    }
}
