//! Values that are not secret, whatever their key says: none at all, a mask, a placeholder, a
//! reference to where the secret is.

use super::values::{is_blank, is_closing, is_one_of};

/// Whole values, without what may join or enclose their words.
const WORDS: &str = "\
    always changeme empty expired false filtered hidden invalid knownafterapply masked missing \
    n/a nil no none notloggingpassword null off on oncreate optional redacted required \
    sensitive sensitivevalue str string true undefined unknown unset \
    valuespecifiedinnologparameter writeonlyattribute yes";

/// What tools say after a name: instead of a value, or of a thing that is called so.
const PHRASES: [&[u8]; 22] = [
    b"(known after apply)",
    b"(sensitive value)",
    b"(sensitive)",
    b"(write-only attribute)",
    b"Creating...",
    b"Creation complete",
    b"Destroying...",
    b"Destruction complete",
    b"Drift detected",
    b"Importing from",
    b"Modifications complete",
    b"Modifying...",
    b"Opening complete",
    b"Opening...",
    b"Preparing import",
    b"Provisioning with",
    b"Read complete",
    b"Reading...",
    b"Refreshing state...",
    b"Still ",
    b"jsonencode(",
    b"yamlencode(",
];

/// What an expression of Terraform begins with that names a value.
const REFERENCES: [&[u8]; 6] = [b"var.", b"local.", b"module.", b"data.", b"each.", b"self."];

/// No value that is longer is one of these.
const LONGEST: usize = 128;

/// Whether all of `value` is not a secret.
pub(super) fn is_plain(value: &[u8]) -> bool {
    if value.len() > LONGEST {
        return false;
    }
    let is_sign = |byte: &u8| byte.is_ascii_punctuation() || is_blank(*byte);
    value.len() <= 2 && value.iter().all(is_sign)
        || is_mask(value)
        || is_word(value)
        || at_start(value) == Some(value.len())
}

/// The length of what `text` begins with, if that is not a secret.
pub(super) fn at_start(text: &[u8]) -> Option<usize> {
    let within = &text[..text.len().min(LONGEST)];
    if let Some(phrase) = PHRASES.iter().find(|phrase| text.starts_with(phrase)) {
        return Some(phrase.len());
    }
    let length = match within {
        [b'<', inner @ ..] if inner.first() != Some(&b'<') => {
            1 + enclosed(inner, b">", |byte| byte != b'<' && byte != b'"')?
        }
        [b'{', b'{', inner @ ..] => 2 + enclosed(inner, b"}}", |byte| byte != b'"')?,
        [b'$', b'{', b'{', inner @ ..] => 3 + enclosed(inner, b"}}", |byte| byte != b'"')?,
        [b'$', b'{', inner @ ..] => 2 + enclosed(inner, b"}", |byte| byte != b'"')?,
        [b'$', name @ ..] => {
            let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
            1 + Some(name.iter().take_while(|byte| is_part(byte)).count()).filter(|n| *n > 0)?
        }
        // A decorator of opal.
        [b'@', path @ ..] if path.first().is_some_and(u8::is_ascii_lowercase) => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
            let path = &path[..path.iter().take_while(|byte| is_part(byte)).count()];
            1 + Some(path.len()).filter(|_| path.contains(&b'.'))?
        }
        _ if REFERENCES.iter().any(|reference| within.starts_with(reference)) => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-[]".contains(byte);
            within.iter().take_while(|byte| is_part(byte)).count()
        }
        _ => return None,
    };
    let ends =
        text.get(length).is_none_or(|next| is_blank(*next) || is_closing(*next) || *next == b'(');
    ends.then_some(length)
}

/// Up to and with `close`, which comes after something.
fn enclosed(text: &[u8], close: &[u8], may_hold: fn(u8) -> bool) -> Option<usize> {
    let end = text.windows(close.len()).position(|here| here == close)?;
    (end > 0 && text[..end].iter().all(|byte| may_hold(*byte))).then_some(end + close.len())
}

fn is_mask(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| text.chars().all(|c| "*.xX#-_?•●…".contains(c)))
}

fn is_word(value: &[u8]) -> bool {
    let inner = value.strip_suffix(b".").unwrap_or(value);
    let joins = |byte: &u8| b" -_()[]<>".contains(byte);
    let letters = inner.iter().filter(|byte| !joins(byte)).copied();
    is_one_of(&letters.collect::<Vec<u8>>(), WORDS)
}

/// Whether `value` is nothing that a person would write as a setting.
pub(super) fn looks_random(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_setting = value.starts_with(b"/")
        || value.starts_with(b".")
        || value.starts_with(b"~")
        || value.ends_with(b":")
        || value.windows(3).any(|here| here == b"://");
    let mixes_cases =
        has(u8::is_ascii_lowercase) && value.iter().skip(1).any(u8::is_ascii_uppercase);
    let mixes_digits = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.len() >= 6 && !is_setting && (mixes_cases || mixes_digits)
}

/// Whether `value` looks random where nothing but blanks precedes it: no date, version, path or
/// name.
pub(super) fn looks_drawn(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let mixes_cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_date = digits == 4 && value.get(4) == Some(&b'-');
    value.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !is_date
        && !has(|byte| b".:".contains(byte))
        && (mixes_cases || !value.contains(&b'/'))
        && looks_random(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_value_is_plain() {
        for value in ["", "~", "null", "CHANGE-ME", "***", "<12:blake3:ab>", "${X}", "{{ v }}"] {
            assert!(is_plain(value.as_bytes()), "{value}");
        }
        for value in ["nullify1", "***a", "<a>b", "${X}b", "$ecret", "!@#", "<<a>", "{{a}}b"] {
            assert!(!is_plain(value.as_bytes()), "{value}");
        }
    }
}
