//! JSON that a command printed, as a value.
//!
//! Stricter than most readers where being lenient would lose something: a key that occurs twice is
//! refused, and so is a whole number that 64 bits cannot hold exactly. Everything is bounded. What
//! is wrong is said by its place and never by its content, which may be secret.

use std::collections::BTreeMap;

use super::{Data, Secret};

/// Arrays and objects inside one another.
pub const MAX_DEPTH: usize = 64;

/// Values in one document, at all depths.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// Why a text is not a value, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub reason: String,
}

/// Reads a whole document.
pub fn read(text: &str) -> Result<Data, Fault> {
    read_with(text, false).map(|(data, _)| data)
}

/// Reads a document in which `{"$frame": N}` names N bytes that follow it. Each becomes
/// `{"$frame": I}`: the place of its N in the list, which is in the order of the text.
pub(crate) fn read_framed(text: &str) -> Result<(Data, Vec<i64>), Fault> {
    read_with(text, true)
}

fn read_with(text: &str, is_framed: bool) -> Result<(Data, Vec<i64>), Fault> {
    let frames = is_framed.then(Vec::new);
    let mut reader = Reader { text, at: 0, depth: 0, values: 0, frames };
    let found = reader.document();
    let frames = reader.frames.take().unwrap_or_default();
    let found = found.map(|data| (data, frames));
    found.map_err(|reason| {
        let before = &text[..text.floor_char_boundary(reader.at)];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Fault { line, column, reason }
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    values: usize,
    /// The sizes of the frames; none where they mean nothing.
    frames: Option<Vec<i64>>,
}

/// The key of an object that names bytes after a line of the plugin protocol.
pub(crate) const FRAME: &str = "$frame";

type Read<T> = Result<T, String>;

impl Reader<'_> {
    fn document(&mut self) -> Read<Data> {
        self.blanks();
        if self.at == self.text.len() {
            return Err("it is empty".into());
        }
        let value = self.value()?;
        self.blanks();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err("text follows the value".into()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self) -> Read<Data> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err("it has more than 1,000,000 values".into());
        }
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(|text| Data::Text(Secret::new(text))),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Data::Bool(true)),
            Some(b'f') => self.word("false", Data::Bool(false)),
            Some(b'n') => self.word("null", Data::Null),
            Some(_) => Err("expected a value".into()),
            None => Err("unexpected end: a value is missing".into()),
        }
    }

    fn word(&mut self, word: &str, value: Data) -> Read<Data> {
        if !self.text[self.at..].starts_with(word) {
            return Err("expected a value".into());
        }
        self.at += word.len();
        Ok(value)
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Read<Data>) -> Read<Data> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        self.at += 1;
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Read<Data> {
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Data::Array(items));
        }
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            if self.take(b']') {
                return Ok(Data::Array(items));
            }
            if !self.take(b',') {
                return Err("expected `,` or `]`".into());
            }
        }
    }

    fn object(&mut self) -> Read<Data> {
        let mut fields = BTreeMap::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Data::Map(fields));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err("expected a key in double quotes".into());
            }
            let start = self.at;
            let key = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return Err("expected `:`".into());
            }
            self.blanks();
            let value = self.value()?;
            if fields.insert(key, value).is_some() {
                self.at = start;
                return Err("duplicate key in an object".into());
            }
            self.blanks();
            if self.take(b'}') {
                self.frame(&mut fields);
                return Ok(Data::Map(fields));
            }
            if !self.take(b',') {
                return Err("expected `,` or `}`".into());
            }
        }
    }

    fn frame(&mut self, fields: &mut BTreeMap<String, Data>) {
        let Some(frames) = &mut self.frames else { return };
        if fields.len() == 1
            && let Some(Data::Int(size)) = fields.get_mut(FRAME)
        {
            frames.push(*size);
            *size = i64::try_from(frames.len() - 1).unwrap_or(i64::MAX);
        }
    }

    fn number(&mut self) -> Read<Data> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let text = &rest[..rest.bytes().take_while(|byte| is_part(byte)).count()];
        if !is_number(text) {
            return Err("invalid number".into());
        }
        let value = if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
            text.parse().map(Data::Int).map_err(|_| {
                "this integer does not fit in 64 bits; print it as a string".to_owned()
            })?
        } else {
            let float = text.parse().ok().filter(|value: &f64| value.is_finite());
            Data::Float(float.ok_or("this number is too large")?)
        };
        self.at += text.len();
        Ok(value)
    }

    /// From quote to quote.
    fn string(&mut self) -> Read<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().take_while(|b| !matches!(b, b'"' | b'\\' | 0..=0x1f)).count();
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err("control character in a string".into()),
                None => {
                    self.at = start;
                    return Err("unterminated string".into());
                }
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let kind = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match kind {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err("unknown escape in a string".into()),
        })
    }

    fn unicode(&mut self) -> Read<char> {
        let wrong = || "a `\\u` escape that is not a character".to_owned();
        let first = self.hex().ok_or_else(wrong)?;
        let code = match first {
            0xd800..0xdc00 => {
                let follows = self.text[self.at..].starts_with("\\u");
                self.at += if follows { 2 } else { 0 };
                let second = self.hex().filter(|low| follows && (0xdc00..0xe000).contains(low));
                0x10000 + ((first - 0xd800) << 10) + (second.ok_or_else(wrong)? - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(wrong)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// The grammar of a number: no `+`, no leading zero, digits on both sides of the point.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|it| digits(it.strip_prefix(['+', '-']).unwrap_or(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(data: &Data) -> String {
        match data {
            Data::Null => "null".into(),
            Data::Bool(value) => value.to_string(),
            Data::Int(value) => value.to_string(),
            Data::Float(value) => format!("{value:?}"),
            Data::Text(text) => format!("{:?}", text.expose()),
            Data::Duration(value) => value.to_string(),
            Data::Array(items) => {
                format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(","))
            }
            Data::Map(fields) => {
                let fields = fields.iter().map(|(key, value)| format!("{key}:{}", shown(value)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }

    #[test]
    fn values_are_read() {
        for (text, value) in [
            (" {\"a\": [1, -2.5e1, true, null]} \n", "{a:[1,-25.0,true,null]}"),
            ("{}", "{}"),
            ("[ ]", "[]"),
            ("\"\\u00e9\\ud83d\\ude00\\/\\n\"", "\"é😀/\\n\""),
            ("9223372036854775807", "9223372036854775807"),
            ("-0", "0"),
            ("1.0", "1.0"),
        ] {
            assert_eq!(read(text).map(|data| shown(&data)), Ok(value.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_would_lose_something_is_refused_by_its_place() {
        for (text, line, column, reason) in [
            ("", 1, 1, "it is empty"),
            ("{\"a\":1,\n \"a\":2}", 2, 2, "duplicate key in an object"),
            ("9223372036854775808", 1, 1, "this integer does not fit in 64 bits"),
            ("1e999", 1, 1, "this number is too large"),
            ("[1,]", 1, 4, "expected a value"),
            ("[1 2]", 1, 4, "expected `,` or `]`"),
            ("{a:1}", 1, 2, "expected a key in double quotes"),
            ("01", 1, 1, "invalid number"),
            ("\"a", 1, 1, "unterminated string"),
            ("\"\\ud800x\"", 1, 8, "a `\\u` escape that is not a character"),
            ("1 2", 1, 3, "text follows the value"),
            ("NaN", 1, 1, "expected a value"),
        ] {
            let fault = read(text).map(|data| shown(&data)).unwrap_err();
            assert_eq!((fault.line, fault.column), (line, column), "{text}: {fault:?}");
            assert!(fault.reason.starts_with(reason), "{text}: {fault:?}");
        }
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert!(read(&deep(MAX_DEPTH + 1)).unwrap_err().reason.contains("deeper than 64"));
        let long = format!("[{}1]", "1,".repeat(MAX_VALUES));
        assert!(read(&long).unwrap_err().reason.contains("1,000,000"));
    }
}
