//! The ways in which programs write a text as text: escaped for JSON, a URL, HTML, a shell, C,
//! Python, YAML, SQL or CSV.
//!
//! What is around a text, quotes for example, is not part of it. Encodings that leave nothing of
//! the text are in `encode`.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::keep::Hash;

/// A way to write each character.
pub(super) struct Spelling {
    /// For each byte; of a character that is not ASCII only if its code is one for each byte.
    bytes: [Short; 256],
    wide: Code,
    /// `#` and `~` are escaped only where a shell would give them a meaning.
    shell: bool,
}

/// What stands for a byte, and its length.
#[derive(Clone, Copy)]
struct Short([u8; SHORT], u8);

const SHORT: usize = 8;
/// The longest that can stand for a character.
const LONGEST: usize = 16;

static ALL: LazyLock<Vec<Spelling>> = LazyLock::new(|| {
    let mut all: Vec<Spelling> = STYLES.iter().map(Spelling::of_style).collect();
    for double in HTML_DOUBLE {
        all.extend(HTML_SINGLE.map(|single| Spelling::html(double, single)));
    }
    for (plain, blank) in URL {
        all.extend([true, false].map(|upper| Spelling::url(plain, *blank, upper)));
    }
    all.push(Spelling::backslashed());
    all
});

/// Those that write `text` differently from itself and from each other. A text without
/// punctuation, blanks and other scripts has none.
pub(super) fn spellings(text: &str) -> impl Iterator<Item = &'static Spelling> + use<> {
    let mut present = [false; 256];
    text.bytes().for_each(|byte| present[usize::from(byte)] = true);
    let special = |byte: &u8| present[usize::from(*byte)] && !byte.is_ascii_alphanumeric();
    let special: Vec<u8> = (0..128).filter(special).collect();
    let is_wide = present[128..].contains(&true);
    let mut seen = Vec::new();
    let plain = special.is_empty() && !is_wide;
    ALL.iter().take(if plain { 0 } else { usize::MAX }).filter(move |spelling| {
        let Some(look) = spelling.look(&special, is_wide) else { return false };
        let is_new = !seen.contains(&look);
        seen.push(look);
        is_new
    })
}

/// How a character is written that a style does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Itself,
    /// `\x1b`, for each byte of it.
    Hex,
    /// The same in upper case.
    HexUpper,
    /// `\033`, for each byte of it.
    Octal,
    /// `\u001b`, for each UTF-16 unit of it.
    Utf16,
    /// The same in upper case.
    Utf16Upper,
    /// `\u{1b}`
    Braces,
    /// `%1B`, for each byte of it.
    Percent,
    /// The same in lower case.
    PercentLower,
    /// `\x1b`, `\u20ac` or `\U0001f600`, whichever is the shortest that can.
    Python,
    /// The same in upper case.
    PythonUpper,
}

struct Style {
    /// These characters, and what stands for each.
    named: &'static [&'static [(char, &'static str)]],
    control: Code,
    wide: Code,
}

const fn style(
    named: &'static [&'static [(char, &'static str)]],
    control: Code,
    wide: Code,
) -> Style {
    Style { named, control, wide }
}

type Named = &'static [(char, &'static str)];

const BACKSLASH: Named = &[('\\', r"\\")];
const LINES: Named = &[('\n', r"\n"), ('\r', r"\r"), ('\t', r"\t")];
const FEEDS: Named = &[('\u{8}', r"\b"), ('\u{c}', r"\f")];
const BELLS: Named = &[('\u{7}', r"\a"), ('\u{b}', r"\v")];
const ESCAPE: Named = &[('\u{1b}', r"\E")];
const DOUBLE: Named = &[('"', "\\\"")];
const SINGLE: Named = &[('\'', r"\'")];
const SLASH: Named = &[('/', r"\/")];
const MARKUP: Named = &[('<', r"\u003c"), ('>', r"\u003e"), ('&', r"\u0026")];
const MARKUP_UPPER: Named = &[('<', r"\u003C"), ('>', r"\u003E"), ('&', r"\u0026")];
const APOSTROPHE: Named = &[('\'', r"\u0027")];
const QUOTES: Named = &[('"', r"\u0022"), ('\'', r"\u0027")];
const BACKSLASH_CODE_UPPER: Named = &[('\\', r"\u005C")];
const DELETE: Named = &[('\u{7f}', r"\u007f")];
const DOLLAR: Named = &[('$', r"\$"), ('`', r"\`")];
const CLOSE_AND_BACKSLASH: Named = &[('\'', r"'\''")];
const CLOSE_AND_QUOTE: Named = &[('\'', "'\"'\"'")];
const SINGLE_TWICE: Named = &[('\'', "''")];
const DOUBLE_TWICE: Named = &[('"', "\"\"")];
const YAML: Named = &[('\0', r"\0"), ('\u{1b}', r"\e")];
const LOGGED: Named = &[('"', r"\x22"), ('\\', r"\x5C")];

const STYLES: &[Style] = &[
    // JSON, as different writers have it.
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, DELETE], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS], Code::Utf16Upper, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS], Code::Utf16Upper, Code::Utf16Upper),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, SLASH], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, SLASH], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, SLASH], Code::Utf16Upper, Code::Utf16Upper),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE, LINES, MARKUP], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, LINES, FEEDS, MARKUP_UPPER, QUOTES], Code::Utf16Upper, Code::Itself),
    style(&[BACKSLASH, LINES, FEEDS, MARKUP_UPPER, QUOTES], Code::Utf16Upper, Code::Utf16Upper),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP, APOSTROPHE], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP, APOSTROPHE], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH_CODE_UPPER, QUOTES, MARKUP_UPPER], Code::Utf16Upper, Code::Utf16Upper),
    // C, and what prints like it.
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS], Code::Octal, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS], Code::Octal, Code::Octal),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS], Code::Hex, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS], Code::Hex, Code::Hex),
    style(&[BACKSLASH, DOUBLE, SINGLE, LINES, FEEDS, BELLS], Code::Octal, Code::Itself),
    style(&[BACKSLASH, DOUBLE, SINGLE, LINES, FEEDS, BELLS], Code::Octal, Code::Octal),
    style(&[BACKSLASH, DOUBLE, SINGLE, LINES, FEEDS, BELLS], Code::Hex, Code::Hex),
    style(&[BACKSLASH, DOUBLE, LINES], Code::Octal, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES], Code::Octal, Code::Octal),
    style(&[BACKSLASH, DOUBLE, LINES], Code::Braces, Code::Itself),
    // Python, in the quotes it chooses; the last of each three is that of bytes.
    style(&[BACKSLASH, LINES], Code::Python, Code::Itself),
    style(&[BACKSLASH, LINES], Code::Python, Code::Python),
    style(&[BACKSLASH, LINES], Code::Hex, Code::Hex),
    style(&[BACKSLASH, LINES, SINGLE], Code::Python, Code::Itself),
    style(&[BACKSLASH, LINES, SINGLE], Code::Python, Code::Python),
    style(&[BACKSLASH, LINES, SINGLE], Code::Hex, Code::Hex),
    style(&[BACKSLASH, LINES, DOUBLE], Code::Python, Code::Itself),
    style(&[BACKSLASH, LINES, DOUBLE], Code::Python, Code::Python),
    style(&[BACKSLASH, LINES, DOUBLE], Code::Hex, Code::Hex),
    // Shells: in single quotes, in `$'…'`, in double quotes.
    style(&[CLOSE_AND_BACKSLASH], Code::Itself, Code::Itself),
    style(&[CLOSE_AND_QUOTE], Code::Itself, Code::Itself),
    style(&[BACKSLASH, SINGLE, LINES, FEEDS, BELLS, ESCAPE], Code::Octal, Code::Itself),
    style(&[BACKSLASH, SINGLE, LINES, FEEDS, BELLS, ESCAPE], Code::Octal, Code::Octal),
    style(&[BACKSLASH, DOUBLE, DOLLAR], Code::Itself, Code::Itself),
    // YAML: in single quotes, as SQL has them too, and in double quotes. CSV. The logs of nginx.
    style(&[SINGLE_TWICE], Code::Itself, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS, YAML], Code::PythonUpper, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, BELLS, YAML], Code::PythonUpper, Code::PythonUpper),
    style(&[DOUBLE_TWICE], Code::Itself, Code::Itself),
    style(&[LOGGED], Code::HexUpper, Code::HexUpper),
];

impl Short {
    fn of(text: &str) -> Self {
        let mut short = Self([0; SHORT], 0);
        for byte in text.bytes() {
            short.0[usize::from(short.1)] = byte;
            short.1 += 1;
        }
        short
    }

    fn is(&self, byte: u8) -> bool {
        self.1 == 1 && self.0[0] == byte
    }
}

impl Spelling {
    fn new(wide: Code, spell: impl Fn(char, &mut String)) -> Self {
        let mut out = String::new();
        let bytes = std::array::from_fn(|index| {
            let byte = u8::try_from(index).unwrap_or(0);
            out.clear();
            if byte.is_ascii() {
                spell(char::from(byte), &mut out);
            } else if !wide.write_byte(&mut out, byte) {
                return Short([byte, 0, 0, 0, 0, 0, 0, 0], 1);
            }
            Short::of(&out)
        });
        Self { bytes, wide, shell: false }
    }

    fn of_style(style: &Style) -> Self {
        Self::new(style.wide, |c, out| {
            let named = style.named.iter().copied().flatten().find(|(from, _)| *from == c);
            match named {
                Some((_, to)) => out.push_str(to),
                // Writers of JSON that leave other scripts as they are leave this one too.
                None if c == '\u{7f}' && style.control.is_json() => style.wide.write(out, c),
                None if c.is_ascii_control() => style.control.write(out, c),
                None => out.push(c),
            }
        })
    }

    fn html(double: &str, single: &str) -> Self {
        Self::new(Code::Itself, |c, out| match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str(double),
            '\'' => out.push_str(single),
            c => out.push(c),
        })
    }

    fn url(plain: &[u8], blank: Option<char>, upper: bool) -> Self {
        let code = if upper { Code::Percent } else { Code::PercentLower };
        Self::new(code, |c, out| match (c, blank) {
            (' ', Some(blank)) => out.push(blank),
            _ if c.is_ascii_alphanumeric() || plain.iter().any(|p| char::from(*p) == c) => {
                out.push(c);
            }
            _ => code.write(out, c),
        })
    }

    /// As `printf %q` writes what needs no `$'…'`.
    fn backslashed() -> Self {
        let spelling = Self::new(Code::Itself, |c, out| {
            if " \t\n!\"$&'()*,;<>?[\\]^`{|}#~".contains(c) {
                out.push('\\');
            }
            out.push(c);
        });
        Self { shell: true, ..spelling }
    }

    /// What this makes of a text of these characters, if it changes any.
    fn look(&self, special: &[u8], is_wide: bool) -> Option<(Hash, Code)> {
        let wide = if is_wide { self.wide } else { Code::Itself };
        let shell = self.shell && special.iter().any(|byte| b"#~".contains(byte));
        let short = |byte: &u8| &self.bytes[usize::from(*byte)];
        if wide == Code::Itself && special.iter().all(|byte| short(byte).is(*byte)) {
            return None;
        }
        let hash = Hash::EMPTY.with(u8::from(shell));
        let with = |hash: Hash, byte: &u8| hash.over(&short(byte).0).with(short(byte).1);
        Some((special.iter().fold(hash, with), wide))
    }

    /// The most bytes that can stand for a text of `length` bytes, and some room.
    pub(super) const fn room_for(length: usize) -> usize {
        length * SHORT + LONGEST
    }

    /// Writes what stands for `text`, which follows a character that ends with `before`, and
    /// gives its length. There must be room for it.
    pub(super) fn write(&self, text: &str, before: Option<u8>, out: &mut [u8]) -> usize {
        if self.shell || !self.wide.is_by_byte() && !text.is_ascii() {
            return self.write_by_character(text, before, out);
        }
        let mut length = 0;
        for byte in text.bytes() {
            let Short(bytes, count) = self.bytes[usize::from(byte)];
            // All of them, always: how many there are is not foreseeable.
            out[length..length + SHORT].copy_from_slice(&bytes);
            length += usize::from(count);
        }
        length
    }

    fn write_by_character(&self, text: &str, mut before: Option<u8>, out: &mut [u8]) -> usize {
        let mut length = 0;
        let mut code = String::with_capacity(LONGEST);
        for c in text.chars() {
            code.clear();
            let here = match u8::try_from(c).ok().filter(u8::is_ascii) {
                Some(byte) if !self.shell || has_meaning(byte, before) => {
                    let Short(bytes, count) = &self.bytes[usize::from(byte)];
                    &bytes[..usize::from(*count)]
                }
                Some(byte) => &[byte],
                None => {
                    self.wide.write(&mut code, c);
                    code.as_bytes()
                }
            };
            out[length..length + here.len()].copy_from_slice(here);
            length += here.len();
            before = Some(u8::try_from(c).unwrap_or(u8::MAX));
        }
        length
    }
}

/// To a shell, in this place.
fn has_meaning(byte: u8, before: Option<u8>) -> bool {
    match byte {
        b'#' => before.is_none(),
        b'~' => matches!(before, None | Some(b':' | b'=')),
        _ => true,
    }
}

impl Code {
    fn is_json(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf16Upper)
    }

    fn is_by_byte(self) -> bool {
        !self.is_json() && !matches!(self, Self::Braces | Self::Python | Self::PythonUpper)
    }

    /// Writes a byte of a character, if there is a code for it.
    fn write_byte(self, out: &mut String, byte: u8) -> bool {
        let written = match self {
            Self::Hex => write!(out, "\\x{byte:02x}"),
            Self::HexUpper => write!(out, "\\x{byte:02X}"),
            Self::Octal => write!(out, "\\{byte:03o}"),
            Self::Percent => write!(out, "%{byte:02X}"),
            Self::PercentLower => write!(out, "%{byte:02x}"),
            _ => return false,
        };
        written.is_ok()
    }

    fn write(self, out: &mut String, c: char) {
        let number = u32::from(c);
        let written = match self {
            Self::Itself => {
                out.push(c);
                Ok(())
            }
            Self::Utf16 => units(c, |unit| write!(out, "\\u{unit:04x}")),
            Self::Utf16Upper => units(c, |unit| write!(out, "\\u{unit:04X}")),
            Self::Hex | Self::HexUpper | Self::Octal | Self::Percent | Self::PercentLower => {
                let mut utf_8 = [0; 4];
                c.encode_utf8(&mut utf_8).bytes().for_each(|byte| {
                    self.write_byte(out, byte);
                });
                Ok(())
            }
            Self::Braces => write!(out, "\\u{{{number:x}}}"),
            Self::Python if number <= 0xff => write!(out, "\\x{number:02x}"),
            Self::Python if number <= 0xffff => write!(out, "\\u{number:04x}"),
            Self::Python => write!(out, "\\U{number:08x}"),
            Self::PythonUpper if number <= 0xff => write!(out, "\\x{number:02X}"),
            Self::PythonUpper if number <= 0xffff => write!(out, "\\u{number:04X}"),
            Self::PythonUpper => write!(out, "\\U{number:08X}"),
        };
        written.expect("a string takes every text");
    }
}

fn units(c: char, write: impl FnMut(u16) -> std::fmt::Result) -> std::fmt::Result {
    c.encode_utf16(&mut [0; 2]).iter().copied().try_for_each(write)
}

const HTML_DOUBLE: [&str; 3] = ["\"", "&quot;", "&#34;"];
const HTML_SINGLE: [&str; 5] = ["'", "&#39;", "&#x27;", "&apos;", "&#039;"];

/// What stays as it is beside letters and digits, and what a blank becomes if not `%20`.
const URL: &[(&[u8], Option<char>)] = &[
    (b"-._~", None),                   // RFC 3986
    (b"-._~", Some('+')),              // the same in a form
    (b"-._~/", None),                  // a path
    (b"-._~!*'()", None),              // encodeURIComponent
    (b"-._*", Some('+')),              // URLSearchParams
    (b"-._", None),                    // older libraries
    (b"-._", Some('+')),               // PHP's urlencode
    (b"-._~:/?#[]@!$&'()*+,;=", None), // all that may appear in a URL
    (b"-._~:/?#@!$&'()*+,;=", None),   // encodeURI
];
