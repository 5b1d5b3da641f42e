//! The ways in which programs write a text as text: escaped for JSON, a URL, HTML, a shell, C or
//! Python.
//!
//! One table of styles. A style that changes nothing in a text gives the text itself; whoever
//! collects the results keeps each only once. What is around a text, quotes for example, is not
//! part of it. Encodings that leave nothing of the text are in `encode`.

use std::fmt::Write as _;

use zeroize::Zeroizing;

/// Each spelling of `text` other than itself, one at a time: a text may be large.
pub(super) fn spellings(text: &str, mut take: impl FnMut(Zeroizing<String>)) {
    for style in STYLES {
        take(style.spell(text));
    }
    for double in HTML_DOUBLE {
        for single in HTML_SINGLE {
            take(html(text, double, single));
        }
    }
    for (plain, blank) in URL {
        for upper in [true, false] {
            take(url(text, plain, *blank, upper));
        }
    }
    take(backslashed(text));
}

/// How a character is written that a style does not name.
#[derive(Clone, Copy)]
enum Code {
    Itself,
    /// `\x1b`, for each byte of it.
    Hex,
    /// `\033`, for each byte of it.
    Octal,
    /// `\u001b`, for each UTF-16 unit of it.
    Utf16,
    /// The same in upper case.
    Utf16Upper,
    /// `\u{1b}`
    Braces,
    /// `\x1b`, `\u20ac` or `\U0001f600`, whichever is the shortest that can.
    Python,
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
const BACKSLASH_CODE: Named = &[('\\', r"\u005c")];
const BACKSLASH_CODE_UPPER: Named = &[('\\', r"\u005C")];
const DELETE: Named = &[('\u{7f}', r"\u007f")];
const DOLLAR: Named = &[('$', r"\$"), ('`', r"\`")];
const CLOSE_AND_BACKSLASH: Named = &[('\'', r"'\''")];
const CLOSE_AND_QUOTE: Named = &[('\'', "'\"'\"'")];

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
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP, SLASH], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE, LINES, MARKUP], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, LINES, FEEDS, MARKUP_UPPER, QUOTES], Code::Utf16Upper, Code::Itself),
    style(&[BACKSLASH, LINES, FEEDS, MARKUP_UPPER, QUOTES], Code::Utf16Upper, Code::Utf16Upper),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP, APOSTROPHE], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE, LINES, FEEDS, MARKUP, APOSTROPHE], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH, DOUBLE], Code::Utf16, Code::Itself),
    style(&[BACKSLASH, DOUBLE], Code::Utf16, Code::Utf16),
    style(&[BACKSLASH_CODE, QUOTES, MARKUP], Code::Utf16, Code::Utf16),
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
];

impl Style {
    fn spell(&self, text: &str) -> Zeroizing<String> {
        let mut out = room_for(text);
        for c in text.chars() {
            let named = self.named.iter().copied().flatten().find(|(from, _)| *from == c);
            match named {
                Some((_, to)) => out.push_str(to),
                // Writers of JSON that leave other scripts as they are leave this one too.
                None if c == '\u{7f}' && self.control.is_json() => self.wide.write(&mut out, c),
                None if c.is_ascii_control() => self.control.write(&mut out, c),
                None if !c.is_ascii() => self.wide.write(&mut out, c),
                None => out.push(c),
            }
        }
        out
    }
}

impl Code {
    fn is_json(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf16Upper)
    }

    fn write(self, out: &mut String, c: char) {
        let number = u32::from(c);
        let written = match self {
            Self::Itself => {
                out.push(c);
                Ok(())
            }
            Self::Hex => bytes(c, |byte| write!(out, "\\x{byte:02x}")),
            Self::Octal => bytes(c, |byte| write!(out, "\\{byte:03o}")),
            Self::Utf16 => units(c, |unit| write!(out, "\\u{unit:04x}")),
            Self::Utf16Upper => units(c, |unit| write!(out, "\\u{unit:04X}")),
            Self::Braces => write!(out, "\\u{{{number:x}}}"),
            Self::Python if number <= 0xff => write!(out, "\\x{number:02x}"),
            Self::Python if number <= 0xffff => write!(out, "\\u{number:04x}"),
            Self::Python => write!(out, "\\U{number:08x}"),
        };
        written.expect("a string takes every text");
    }
}

fn bytes(c: char, write: impl FnMut(u8) -> std::fmt::Result) -> std::fmt::Result {
    c.encode_utf8(&mut [0; 4]).bytes().try_for_each(write)
}

fn units(c: char, write: impl FnMut(u16) -> std::fmt::Result) -> std::fmt::Result {
    c.encode_utf16(&mut [0; 2]).iter().copied().try_for_each(write)
}

/// Enough for most results, so that growing leaves no copy behind that nobody wipes.
fn room_for(text: &str) -> Zeroizing<String> {
    Zeroizing::new(String::with_capacity(3 * text.len() + 16))
}

const HTML_DOUBLE: [&str; 3] = ["\"", "&quot;", "&#34;"];
const HTML_SINGLE: [&str; 5] = ["'", "&#39;", "&#x27;", "&apos;", "&#039;"];

fn html(text: &str, double: &str, single: &str) -> Zeroizing<String> {
    let mut out = room_for(text);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str(double),
            '\'' => out.push_str(single),
            c => out.push(c),
        }
    }
    out
}

/// What stays as it is beside letters and digits, and what a blank becomes if not `%20`.
const URL: &[(&[u8], Option<char>)] = &[
    (b"-._~", None),                   // RFC 3986
    (b"-._~", Some('+')),              // the same in a form
    (b"-._~/", None),                  // a path
    (b"-._~!*'()", None),              // encodeURIComponent
    (b"-._*", Some('+')),              // URLSearchParams
    (b"-._", None),                    // older libraries
    (b"-._", Some('+')),               // PHP's urlencode
    (b"-._~:/?#[]@!$&'()*+,;=", None), // all that may stand in a URL
    (b"-._~:/?#@!$&'()*+,;=", None),   // encodeURI
];

fn url(text: &str, plain: &[u8], blank: Option<char>, upper: bool) -> Zeroizing<String> {
    let mut out = room_for(text);
    for byte in text.bytes() {
        match (byte, blank) {
            (b' ', Some(blank)) => out.push(blank),
            _ if byte.is_ascii_alphanumeric() || plain.contains(&byte) => {
                out.push(char::from(byte))
            }
            _ if upper => write!(out, "%{byte:02X}").expect("a string takes every text"),
            _ => write!(out, "%{byte:02x}").expect("a string takes every text"),
        }
    }
    out
}

/// As `printf %q` writes what needs no `$'…'`.
fn backslashed(text: &str) -> Zeroizing<String> {
    let mut out = room_for(text);
    let mut before = None;
    for c in text.chars() {
        let always = " \t\n!\"$&'()*,;<>?[\\]^`{|}".contains(c);
        let here = match c {
            '#' => before.is_none(),
            '~' => matches!(before, None | Some(':' | '=')),
            _ => false,
        };
        if always || here {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}
