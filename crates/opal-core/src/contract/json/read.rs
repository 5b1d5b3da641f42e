//! The reader of canonical JSON: it takes what the writer writes, and refuses everything else.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::plain_length;
use crate::hash::Digest;

/// Arrays and objects inside one another.
pub(in crate::contract) const MAX_NESTING: usize = 128;

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(in crate::contract) struct Fault {
    pub(in crate::contract) offset: usize,
    pub(in crate::contract) reason: Box<str>,
}

pub(in crate::contract) type Read<T> = Result<T, Fault>;

#[derive(Debug)]
pub(in crate::contract) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Arrays and objects that are open; the reader of a step starts a new count.
    pub(in crate::contract) depth: usize,
    /// Whether unknown members are skipped.
    lenient: bool,
    /// What may still be held in memory.
    pub(in crate::contract) budget: usize,
}

impl<'a> Reader<'a> {
    pub(in crate::contract) fn new(text: &'a str, lenient: bool, budget: usize) -> Self {
        Self { text, at: 0, depth: 0, lenient, budget }
    }

    pub(in crate::contract) fn fault<T>(&self, reason: impl Into<Box<str>>) -> Read<T> {
        Err(Fault { offset: self.at, reason: reason.into() })
    }

    /// Takes what something needs in memory from the budget.
    pub(in crate::contract) fn charge(&mut self, bytes: usize) -> Read<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => self.fault(crate::contract::limits::TOO_LARGE),
        }
    }

    pub(in crate::contract) fn end(&self) -> Read<()> {
        if self.at == self.text.len() {
            Ok(())
        } else {
            self.fault("unexpected text after the value")
        }
    }

    pub(in crate::contract) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.take(byte) {
            Ok(())
        } else {
            self.fault(format!("expected `{}`", char::from(byte)))
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.fault("invalid value");
        }
        self.at += word.len();
        Ok(())
    }

    pub(in crate::contract) fn null(&mut self) -> Read<()> {
        self.word("null")
    }

    pub(in crate::contract) fn bool(&mut self) -> Read<bool> {
        let value = self.peek() == Some(b't');
        self.word(if value { "true" } else { "false" })?;
        Ok(value)
    }

    pub(in crate::contract) fn int(&mut self) -> Read<i64> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        let text = &rest[..length];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let canonical = !digits.starts_with('0') || text == "0";
        let Some(value) = text.parse().ok().filter(|_| canonical) else {
            return self.fault("invalid 64-bit integer");
        };
        self.at += length;
        Ok(value)
    }

    pub(in crate::contract) fn string(&mut self) -> Read<Cow<'a, str>> {
        self.expect(b'"')?;
        let rest = &self.text.as_bytes()[self.at..];
        let plain = plain_length(rest);
        if rest.get(plain) == Some(&b'"') {
            let text = &self.text[self.at..self.at + plain];
            self.at += plain + 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped().map(Cow::Owned)
    }

    fn escaped(&mut self) -> Read<String> {
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = plain_length(rest);
            text.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.fault("unescaped control character in a string"),
                None => return self.fault("unterminated string"),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let short = match rest.first() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'b') => '\u{8}',
            Some(b't') => '\t',
            Some(b'n') => '\n',
            Some(b'f') => '\u{c}',
            Some(b'r') => '\r',
            Some(b'u') => return self.long_escape(),
            _ => return self.fault("unnecessary escape in a string"),
        };
        self.at += 2;
        Ok(short)
    }

    fn long_escape(&mut self) -> Read<char> {
        let digits = self.text.get(self.at + 2..self.at + 6).unwrap_or_default();
        let byte = digits
            .strip_prefix("00")
            .filter(|rest| rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
            .and_then(|rest| u8::from_str_radix(rest, 16).ok())
            .filter(|byte| *byte < 0x20 && !matches!(byte, 0x08 | b'\t' | b'\n' | 0x0c | b'\r'));
        let Some(byte) = byte else {
            return self.fault("unnecessary escape in a string");
        };
        self.at += 6;
        Ok(char::from(byte))
    }

    pub(in crate::contract) fn digest(&mut self) -> Read<Digest> {
        let start = self.at;
        let text = self.string()?;
        Digest::parse(&text)
            .ok_or_else(|| Fault { offset: start, reason: "a digest has 64 digits".into() })
    }

    fn enter(&mut self, bracket: u8) -> Read<()> {
        self.expect(bracket)?;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.fault(format!("more than {MAX_NESTING} levels of nesting"));
        }
        Ok(())
    }

    pub(in crate::contract) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        self.enter(b'[')?;
        if !self.take(b']') {
            item(self)?;
            while !self.take(b']') {
                self.expect(b',')?;
                item(self)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    pub(in crate::contract) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Read<()>,
    ) -> Read<()> {
        self.enter(b'{')?;
        let mut last: Option<Cow<'a, str>> = None;
        while !self.take(b'}') {
            if last.is_some() {
                self.expect(b',')?;
            }
            let start = self.at;
            let key = self.string()?;
            let order = last.as_ref().map_or(Ordering::Less, |last| (**last).cmp(&*key));
            if order != Ordering::Less {
                let reason = if order == Ordering::Equal {
                    format!("duplicate member `{key}`")
                } else {
                    "the members of an object are unsorted".to_owned()
                };
                return Err(Fault { offset: start, reason: reason.into() });
            }
            self.expect(b':')?;
            member(self, &key)?;
            last = Some(key);
        }
        self.depth -= 1;
        Ok(())
    }

    /// A member that this version does not know: passed over where the file is of a newer one.
    pub(in crate::contract) fn unknown(&mut self, key: &str) -> Read<()> {
        if self.lenient {
            return self.skip();
        }
        self.fault(format!("unknown member `{key}` in this version of the format"))
    }

    fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'{') => self.object(|reader, _| reader.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'"') => self.string().map(drop),
            Some(b'n') => self.null(),
            Some(b't' | b'f') => self.bool().map(drop),
            _ => self.int().map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;

    fn accepts(text: &str) -> bool {
        let mut reader = Reader::new(text, true, 0);
        reader.skip().and_then(|()| reader.end()).is_ok()
    }

    #[test]
    fn what_the_writer_writes_is_read_back() {
        let every: String = (0..0x180).filter_map(char::from_u32).chain(['\u{1f512}']).collect();
        let mut writer = Writer::default();
        writer.string(&every);
        let text = String::from_utf8(writer.out).unwrap();
        assert_eq!(Reader::new(&text, false, 0).string().unwrap(), every);
        for value in [0, 1, -1, i64::MIN, i64::MAX] {
            let mut writer = Writer::default();
            writer.int(value);
            let text = String::from_utf8(writer.out).unwrap();
            assert_eq!(Reader::new(&text, false, 0).int().unwrap(), value);
        }
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for before in 0..20 {
            for special in 0..=255u8 {
                let mut bytes = vec![0xe9; before];
                bytes.extend([special, b'"', 0x1f, b'\\', b'a', b'"', 0, 1, 2]);
                let plain = special >= 0x20 && special != b'"' && special != b'\\';
                assert_eq!(plain_length(&bytes), before + usize::from(plain), "{special:#x}");
            }
        }
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in [
            "{}",
            "[]",
            "null",
            "true",
            "false",
            "0",
            "-1",
            r#""\n\u0001\"\\""#,
            r#"{"a":1,"b":[2]}"#,
        ] {
            assert!(accepts(text), "{text}");
        }
        for text in [
            "",
            " 1",
            "1 ",
            "01",
            "-0",
            "-",
            "+1",
            "1.0",
            "1e3",
            "--1",
            "1-",
            "9223372036854775808",
            "[1, 2]",
            "[1,]",
            "[,1]",
            "[1",
            "{\"a\":1,}",
            "{,\"a\":1}",
            "{\"b\":1,\"a\":1}",
            "{\"a\":1,\"a\":1}",
            "{\"a\"}",
            "{a:1}",
            "nul",
            "True",
            r#""\/""#,
            r#""\u000a""#,
            r#""\u0041""#,
            r#""\u001F""#,
            r#""\u00""#,
            "\"\n\"",
            "\"",
            r#""\"#,
            r#""\ud83d\udd12""#,
            "{\"\\u0061\":1}",
            "{} {}",
            "'a'",
            "\u{feff}1",
        ] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn nesting_ends_at_128() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(accepts(&nested(128)));
        assert!(!accepts(&nested(129)));
        assert!(!accepts(&"[".repeat(1_000_000)));
    }
}
