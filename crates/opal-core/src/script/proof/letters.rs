//! Which bytes a text has. A word that cannot be in it is not looked for.

/// A set of bytes, a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters([u64; 4]);

impl Letters {
    pub(super) const fn of(text: &[u8]) -> Self {
        let mut bits = [0; 4];
        let mut at = 0;
        while at < text.len() {
            bits[(text[at] >> 6) as usize] |= 1 << (text[at] & 63);
            at += 1;
        }
        Self(bits)
    }

    pub(super) const fn has(self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    /// Whether all letters of a word are there.
    pub(super) fn has_all(self, word: Self) -> bool {
        self.0.iter().zip(word.0).all(|(own, word)| own & word == word)
    }

    pub(super) fn has_any(self, of: Self) -> bool {
        self.0.iter().zip(of.0).any(|(own, of)| own & of != 0)
    }
}

/// Where the bytes of a set are true.
pub(super) const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_possible_only_with_all_of_its_letters() {
        let text = Letters::of("docker push a\u{e9}".as_bytes());
        assert!(text.has_all(Letters::of(b"push")) && text.has_all(Letters::of(b"hsup")));
        assert!(!text.has_all(Letters::of(b"shift")) && !text.has(b'f') && text.has(b'd'));
        assert!(text.has_any(Letters::of(b"fd")) && !text.has_any(Letters::of(b"$`")));
        assert!(text.has(0xc3) && !text.has(0x43));
    }
}
