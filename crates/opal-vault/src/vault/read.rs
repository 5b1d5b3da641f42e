//! What programs make of the backslashes in a text: `echo` of dash, `echo -e`, `printf %b`.

use opal_core::wiped::Wiped;

/// What a program knows beside `\\ \a \b \c \e \f \n \r \t \v \0101`, which all know.
struct Reader {
    /// `\101`
    short_octal: bool,
    /// `\E`, `\x41`, `\u20ac`, `\U0001f600`
    codes: bool,
}

/// dash; bash's `echo -e`; bash's `printf %b`.
const READERS: [Reader; 3] = [
    Reader { short_octal: true, codes: false },
    Reader { short_octal: false, codes: true },
    Reader { short_octal: true, codes: true },
];

/// Each once, and none that is the text itself. None is longer than the text.
pub(super) fn readings(text: &str) -> Vec<Wiped<Vec<u8>>> {
    let mut readings: Vec<Wiped<Vec<u8>>> = Vec::new();
    if !text.contains('\\') {
        return readings;
    }
    for reader in READERS {
        let reading = reader.read(text.as_bytes());
        if *reading != text.as_bytes() && !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    readings
}

impl Reader {
    fn read(&self, mut text: &[u8]) -> Wiped<Vec<u8>> {
        // Room for all of it: no copy is left where it grows.
        let mut out = Wiped::new(Vec::with_capacity(text.len()));
        while let Some(at) = memchr::memchr(b'\\', text) {
            out.extend_from_slice(&text[..at]);
            text = &text[at + 1..];
            match self.escape(text, &mut out) {
                Some(length) => text = &text[length..],
                None if text.first() == Some(&b'c') => return out,
                None => out.push(b'\\'),
            }
        }
        out.extend_from_slice(text);
        out
    }

    /// Writes what stands for the escape after a backslash, and gives its length; nothing where
    /// there is none.
    fn escape(&self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let (letter, following) = text.split_first()?;
        let plain = match letter {
            b'\\' => b'\\',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'e' => 0x1b,
            b'E' if self.codes => 0x1b,
            b'0' => {
                let (code, digits) = number(following, 8, 3);
                out.push(code as u8);
                return Some(1 + digits);
            }
            b'1'..=b'7' if self.short_octal => {
                let (code, digits) = number(text, 8, 3);
                out.push(code as u8);
                return Some(digits);
            }
            b'x' | b'u' | b'U' if self.codes => {
                let most = [2, 4, 8][usize::from(*letter != b'x') + usize::from(*letter == b'U')];
                let (code, digits) = number(following, 16, most);
                let c = char::from_u32(code).filter(|_| digits > 0)?;
                match letter {
                    b'x' => out.push(code as u8),
                    _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                return Some(1 + digits);
            }
            _ => return None,
        };
        out.push(plain);
        Some(1)
    }
}

/// Of up to so many digits, and how many there are.
fn number(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = text.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    digits.fold((0, 0), |(code, count), digit| (code * radix + digit, count + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_each_program_reads_them() {
        for (text, expected) in [
            (r"plain", &[][..]),
            (r"a\nb", &[&b"a\nb"[..]]),
            (r"pa\\ss\word", &[br"pa\ss\word"]),
            (r"\a\b\f\r\t\v", &[b"\x07\x08\x0c\r\t\x0b"]),
            (r"cut\chere", &[b"cut"]),
            (r"\0101\08", &[b"A\x008"]),
            (r"\101", &[b"A"]),
            (r"\x41\x4g\x", &[b"A\x04g\\x"]),
            (r"\e[1m\E", &[b"\x1b[1m\\E", b"\x1b[1m\x1b"]),
            (r"\u20ac\U0001F600", &["€😀".as_bytes()]),
            (r"\ud800\", &[]),
            (r"a\n\x42", &[b"a\n\\x42", b"a\nB"]),
        ] {
            let readings = readings(text);
            let readings: Vec<&[u8]> = readings.iter().map(|reading| reading.as_slice()).collect();
            assert_eq!(readings, expected, "{text}");
        }
    }
}
