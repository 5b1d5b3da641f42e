//! Encodings that leave nothing of a text to be read: base64, base32, hexadecimal.
//!
//! A text may appear anywhere inside of what was encoded, so each encoding is made at every
//! alignment, of the letters that the text alone decides; and once more with the letters that
//! follow where the encoding ends with the text, or with the line end that `echo` adds. Blanks,
//! line ends and colons between the letters are not here, nor the letters of base64 for URLs: the
//! loose view drops the former, and has `+` and `/` for the latter. So it has for the `-` and `_`
//! that hexadecimal pairs are joined by.

use opal_core::wiped::Wiped;

use super::keep::{Kept, Spool};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// So many bytes are whole groups in every encoding.
pub(super) const GROUPS: usize = 15;

/// Keeps each encoding of `text`, of which it makes `piece` bytes at once, a multiple of `GROUPS`.
pub(super) fn encodings(text: &[u8], piece: usize, kept: &mut Kept) {
    let mut buffer = Wiped::new(vec![0; piece.min(text.len()) * 3]);
    let mut work = Work { text, piece, buffer: &mut buffer, kept };
    (0..3).for_each(|before| work.encode::<3, 4, _>(BASE64, before));
    (0..5).for_each(|before| work.encode::<5, 8, _>(BASE32, before));
    for letters in [HEX, HEX_UPPER] {
        work.encode::<1, 2, _>(letters, 0);
        [b'+', b'/'].into_iter().for_each(|sign| work.join(letters, sign));
    }
}

struct Work<'a> {
    text: &'a [u8],
    piece: usize,
    /// Of three letters for each byte, which is the most.
    buffer: &'a mut [u8],
    kept: &'a mut Kept,
}

impl Work<'_> {
    /// Groups of `BYTES` become groups of `COUNT` letters; `before` bytes precede the text.
    fn encode<const BYTES: usize, const COUNT: usize, const LETTERS: usize>(
        &mut self,
        letters: &[u8; LETTERS],
        before: usize,
    ) {
        let bits = BYTES * 8 / COUNT;
        let mut spool = Spool::new(self.kept);
        let mut text = self.text;
        if before > 0 {
            let (own, rest) = text.split_at(text.len().min(BYTES - before));
            let mut group = Wiped::new([0; BYTES]);
            group[before..before + own.len()].copy_from_slice(own);
            let first = Wiped::new(encoded::<BYTES, COUNT, _>(&group, letters));
            spool.push(&first[(before * 8).div_ceil(bits)..], self.kept);
            text = rest;
        }
        for piece in text.chunks(self.piece) {
            let groups = piece.as_chunks::<BYTES>().0;
            let out = &mut self.buffer[..groups.len() * COUNT];
            for (group, out) in groups.iter().zip(out.as_chunks_mut::<COUNT>().0) {
                *out = encoded(group, letters);
            }
            spool.push(out, self.kept);
        }
        let open = text.as_chunks::<BYTES>().1;
        for end in [None, Some(&b""[..]), Some(b"\n")] {
            let mut group = Wiped::new([0; BYTES]);
            group[..open.len()].copy_from_slice(open);
            let mut length = open.len();
            if let Some(end) = end.filter(|_| BYTES > 1) {
                group[length..length + end.len()].copy_from_slice(end);
                length += end.len();
            }
            let mut last = Wiped::new(encoded::<BYTES, COUNT, _>(&group, letters));
            let decided = length * 8 / bits;
            let filled = match end {
                None => decided,
                Some(_) if length == 0 => 0,
                // The bits that fill up the last letter are zero; `=` fills up the group.
                Some(_) => {
                    last[(length * 8).div_ceil(bits)..].fill(b'=');
                    COUNT
                }
            };
            if end.is_none() || filled > 0 {
                let mut spool = spool.clone();
                spool.push(&last[..filled], self.kept);
                spool.finish(false, self.kept);
            }
        }
    }

    /// Pairs of hexadecimal letters with `sign` between them.
    fn join(&mut self, letters: &[u8; 16], sign: u8) {
        let mut spool = Spool::new(self.kept);
        let mut first = 1;
        for piece in self.text.chunks(self.piece) {
            let out = &mut self.buffer[..piece.len() * 3];
            for (byte, out) in piece.iter().zip(out.as_chunks_mut::<3>().0) {
                let [high, low] = encoded(&[*byte], letters);
                *out = [sign, high, low];
            }
            spool.push(&out[first..], self.kept);
            first = 0;
        }
        spool.finish(false, self.kept);
    }
}

fn encoded<const BYTES: usize, const COUNT: usize, const LETTERS: usize>(
    group: &[u8; BYTES],
    letters: &[u8; LETTERS],
) -> [u8; COUNT] {
    let number = group.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let bits = BYTES * 8 / COUNT;
    std::array::from_fn(|index| {
        letters[(number >> ((COUNT - 1 - index) * bits)) as usize % LETTERS]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alignment_ends_as_it_would_with_the_text() {
        let mut kept = Kept::default();
        encodings(b"hunter2!", GROUPS, &mut kept);
        for expected in [
            &b"aHVudGVyMi"[..],
            b"aHVudGVyMiE=",
            b"aHVudGVyMiEK",
            b"h1bnRlcjIh",     // x
            b"h1bnRlcjIhCg==", // x, and a line end
            b"odW50ZXIyI",     // xx
            b"odW50ZXIyIQ==",
            b"68756e7465723221",
            b"68756E7465723221",
            b"NB2W45DFOIZC",
            b"NB2W45DFOIZCC===",
            b"68+75+6e+74+65+7", // and so on
            b"68/75/6E/74/65/7",
        ] {
            let is_kept = kept.patterns.iter().any(|pattern| pattern.text() == expected);
            assert!(is_kept, "{}", String::from_utf8_lossy(expected));
        }
    }
}
