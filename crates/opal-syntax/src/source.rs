//! What the bytes of a file must be before they are read as source.

use std::collections::BTreeMap;

use opal_core::diagnostic::MAX_OF_CODE;
use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Span};

/// Why bytes are not a source, and what can be shown of them.
#[derive(Debug)]
pub struct NoText {
    pub diagnostic: Diagnostic,
    /// The bytes with a mark for what is not text; the diagnostic's place is in here.
    pub shown: String,
}

/// The text of `bytes`, or the one reason why there is none.
pub fn decode(bytes: Vec<u8>) -> Result<String, Box<NoText>> {
    if bytes.len() > MAX_SOURCE_BYTES {
        return Err(Box::new(NoText { diagnostic: too_large(), shown: String::new() }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count();
        let message = format!("the byte at offset {offset} (line {line}) is not UTF-8");
        let mark = char::REPLACEMENT_CHARACTER.len_utf8();
        let span = Span::new(offset as u32, (offset + mark) as u32);
        let diagnostic = Diagnostic::new(Code::NotUtf8, span, message)
            .help("save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`");
        let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
        Box::new(NoText { diagnostic, shown })
    })
}

pub(crate) fn too_large() -> Diagnostic {
    let message = format!("the file is larger than 16 MiB ({MAX_SOURCE_BYTES} bytes)");
    Diagnostic::new(Code::TooLarge, Span::at(0), message)
        .help("move data out of the source, into a file that a step reads")
}

/// Characters that no source should hold: NUL, a lone carriage return, bidirectional controls.
#[must_use]
pub fn characters(text: &str) -> Vec<Diagnostic> {
    let bytes = text.as_bytes();
    let mut found: Vec<Diagnostic> = Vec::new();
    // Where the last that is kept of each code is, and how many there are.
    let mut kept: BTreeMap<Code, (usize, usize)> = BTreeMap::new();
    for at in memchr::memchr3_iter(0, b'\r', 0xe2, bytes) {
        let code = match bytes[at] {
            0 => Code::NulByte,
            b'\r' if bytes.get(at + 1) != Some(&b'\n') => Code::LoneCarriageReturn,
            0xe2 if text[at..].starts_with(is_bidi) => Code::BidiControl,
            _ => continue,
        };
        let (last, count) = kept.entry(code).or_default();
        *count += 1;
        if *count > MAX_OF_CODE {
            found[*last].more += 1;
            continue;
        }
        *last = found.len();
        found.push(match code {
            Code::NulByte => nul(at as u32),
            Code::LoneCarriageReturn => carriage_return(at as u32),
            _ => bidi(at as u32, text[at..].chars().next().unwrap_or_default()),
        });
    }
    found
}

fn nul(at: u32) -> Diagnostic {
    Diagnostic::new(Code::NulByte, Span::new(at, at + 1), format!("NUL byte at offset {at}"))
        .label("no program accepts this byte as input text")
        .help("delete it; a step can make one with `printf '\\0'`")
        .fix("delete the byte", Span::new(at, at + 1), "")
}

fn carriage_return(at: u32) -> Diagnostic {
    let span = Span::new(at, at + 1);
    Diagnostic::new(Code::LoneCarriageReturn, span, "carriage return without line feed")
        .label("lines end in LF or CRLF")
        .help("convert the file, for example with `tr '\\r' '\\n'`")
        .fix("replace it with a line feed", span, "\n")
}

/// U+202A–U+202E and U+2066–U+2069: they make a text read differently from what it does.
fn is_bidi(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn bidi(at: u32, character: char) -> Diagnostic {
    let span = Span::new(at, at + character.len_utf8() as u32);
    let message =
        format!("the invisible character U+{:04X} changes the direction of text", character as u32);
    Diagnostic::new(Code::BidiControl, span, message)
        .label("what is shown here may not be what runs")
        .help("delete it, or write it as an escape in a string")
        .fix("delete the character", span, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_of_the_first_bad_byte_is_named() {
        let error = decode(b"echo ok\necho \xff\n".to_vec()).unwrap_err();
        assert_eq!(error.diagnostic.code, Code::NotUtf8);
        assert_eq!(error.diagnostic.message, "the byte at offset 13 (line 2) is not UTF-8");
    }

    #[test]
    fn crlf_is_not_a_lone_carriage_return() {
        assert_eq!(characters("a\r\nb\r\n"), []);
        assert_eq!(characters("a\rb")[0].code, Code::LoneCarriageReturn);
        assert_eq!(characters("a\u{202e}b – c")[0].code, Code::BidiControl);
    }
}
