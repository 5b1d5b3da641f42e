//! How a file turns characters into bytes. In all of these a line feed is the byte 10.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Latin1,
    Windows1252,
    Ascii,
}

/// What Windows-1252 has where Latin-1 has control characters, from 0x80 on; five are not given.
const WINDOWS: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];

impl Encoding {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "latin-1" => Self::Latin1,
            "windows-1252" => Self::Windows1252,
            "ascii" => Self::Ascii,
            _ => Self::Utf8,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "Latin-1",
            Self::Windows1252 => "Windows-1252",
            Self::Ascii => "ASCII",
        }
    }

    /// None where the bytes mean nothing.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        if self == Self::Utf8 || bytes.is_ascii() {
            return std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
        }
        bytes.iter().map(|byte| self.character(*byte)).collect()
    }

    fn character(self, byte: u8) -> Option<char> {
        match (self, byte) {
            (Self::Ascii | Self::Utf8, 0x80..) => None,
            (Self::Windows1252, 0x80..=0x9f) => WINDOWS[usize::from(byte) - 0x80],
            _ => Some(char::from(byte)),
        }
    }

    /// The position of the first character that cannot be written, from 1. A NUL would make the
    /// file no text.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, usize> {
        if let Some(index) = text.chars().position(|c| c == '\0') {
            return Err(index + 1);
        }
        if self == Self::Utf8 {
            return Ok(text.as_bytes().to_vec());
        }
        let byte = |(index, c)| self.byte(c).ok_or(index + 1);
        text.chars().enumerate().map(byte).collect()
    }

    fn byte(self, c: char) -> Option<u8> {
        let special = || WINDOWS.iter().position(|it| *it == Some(c));
        match self {
            Self::Windows1252 => match special() {
                Some(index) => u8::try_from(0x80 + index).ok(),
                None => u8::try_from(c).ok().filter(|byte| !matches!(byte, 0x80..=0x9f)),
            },
            Self::Latin1 => u8::try_from(c).ok(),
            Self::Ascii | Self::Utf8 => u8::try_from(c).ok().filter(u8::is_ascii),
        }
    }

    /// As text, to be shown; what means nothing stays as it is.
    pub(super) fn shown(self, bytes: &[u8]) -> Cow<'_, str> {
        self.decode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Encoding; 4] =
        [Encoding::Utf8, Encoding::Latin1, Encoding::Windows1252, Encoding::Ascii];

    #[test]
    fn every_byte_that_means_something_comes_back() {
        let mut meant = Vec::new();
        for encoding in ALL {
            let bytes = (1..=u8::MAX).filter_map(|byte| {
                let text = encoding.decode(&[byte])?.into_owned();
                assert_eq!(encoding.encode(&text), Ok(vec![byte]), "{encoding:?} {byte:#x}");
                Some(byte)
            });
            meant.push(bytes.count());
        }
        assert_eq!(meant, [127, 255, 250, 127]);
    }

    #[test]
    fn the_euro_sign_has_another_byte_in_each() {
        let found = ALL.map(|encoding| encoding.encode("5 €"));
        let windows = b"5 \x80".to_vec();
        assert_eq!(found, [Ok("5 €".into()), Err(3), Ok(windows), Err(3)]);
    }

    #[test]
    fn a_nul_is_written_by_none() {
        assert_eq!(ALL.map(|encoding| encoding.encode("a\0")), [Err(2), Err(2), Err(2), Err(2)]);
    }
}
