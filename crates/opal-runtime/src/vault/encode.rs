//! Encodings that leave nothing of a text to be read: base64, base32, hexadecimal.
//!
//! A text may stand anywhere inside of what was encoded, so each encoding is made at every
//! alignment, of the letters that the text alone decides; and once more with the letters that
//! follow where the encoding ends with the text, or with the line end that `echo` adds.
//! Blanks, line ends and colons between the letters are not here: the loose view drops them.

use zeroize::Zeroizing;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Each encoding of `text`, one at a time: a text may be large.
pub(super) fn encodings(text: &[u8], mut take: impl FnMut(Zeroizing<Vec<u8>>)) {
    for letters in [BASE64, BASE64_URL] {
        aligned(text, letters, 6, 3, &mut take);
    }
    aligned(text, BASE32, 5, 5, &mut take);
    for letters in [HEX, HEX_UPPER] {
        take(decided(text, letters, 4, 0));
    }
}

/// `group` bytes fill a whole number of letters, of `bits` each.
fn aligned(
    text: &[u8],
    letters: &[u8],
    bits: usize,
    group: usize,
    take: &mut impl FnMut(Zeroizing<Vec<u8>>),
) {
    let mut ended = Zeroizing::new(Vec::with_capacity(text.len() + group));
    for before in 0..group {
        take(decided(text, letters, bits, before));
        for end in [&b""[..], b"\n"] {
            ended.clear();
            ended.extend_from_slice(text);
            ended.extend_from_slice(end);
            // The bits that fill up the last letter are zero; `=` fills up the group.
            let open = (before + ended.len()) % group;
            if open != 0 {
                ended.push(0);
            }
            let letters_open = (open * 8).div_ceil(bits);
            let mut out = decided(&ended, letters, bits, before);
            if open != 0 {
                let whole = (before + text.len() + end.len() - open) * 8 / bits;
                out.truncate(whole + letters_open - (before * 8).div_ceil(bits));
                out.extend(std::iter::repeat_n(b'=', group * 8 / bits - letters_open));
            }
            take(out);
        }
    }
}

/// The letters that `text` alone decides where `before` bytes stand before it.
fn decided(text: &[u8], letters: &[u8], bits: usize, before: usize) -> Zeroizing<Vec<u8>> {
    let first = (before * 8).div_ceil(bits);
    let after = (before + text.len()) * 8 / bits;
    let mut out = Zeroizing::new(Vec::with_capacity(after.saturating_sub(first) + 8));
    for letter in first..after {
        let bit = letter * bits - before * 8;
        let pair = [text[bit / 8], text.get(bit / 8 + 1).copied().unwrap_or(0)];
        let shifted = u16::from_be_bytes(pair) >> (16 - bits - bit % 8);
        out.push(letters[usize::from(shifted) & (letters.len() - 1)]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        encodings(text.as_bytes(), |form| out.push(String::from_utf8(form.to_vec()).unwrap()));
        out
    }

    #[test]
    fn each_alignment_ends_as_it_would_with_the_text() {
        let forms = all("hunter2!");
        for expected in [
            "aHVudGVyMi",
            "aHVudGVyMiE=",
            "aHVudGVyMiEK",
            "h1bnRlcjIh",     // x
            "h1bnRlcjIhCg==", // x, and a line end
            "odW50ZXIyI",     // xx
            "odW50ZXIyIQ==",
            "68756e7465723221",
            "68756E7465723221",
            "NB2W45DFOIZC",
            "NB2W45DFOIZCC===",
        ] {
            assert!(forms.iter().any(|form| form == expected), "{expected} not in {forms:?}");
        }
    }
}
