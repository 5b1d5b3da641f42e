//! How one key becomes another.

use hkdf::Hkdf;
use opal_core::wiped::Wiped;
use sha2::Sha256;

/// HKDF-SHA-256 (RFC 5869) of `key`, without a salt.
///
/// `info` is a row of parts, each as a little-endian `u64` length and its bytes: the label, then
/// `parts`. With the lengths no two rows have the same bytes, and with a label of its own no use
/// can meet another's output.
#[must_use]
pub fn derive(key: &[u8], label: &str, parts: &[&[u8]]) -> Wiped<[u8; 32]> {
    let mut info = Vec::new();
    for part in [label.as_bytes()].iter().chain(parts) {
        info.extend((part.len() as u64).to_le_bytes());
        info.extend(*part);
    }
    let info = Wiped::new(info);
    let mut out = Wiped::new([0; 32]);
    Hkdf::<Sha256>::new(None, key)
        .expand(&info, &mut *out)
        .expect("32 bytes are within what HKDF-SHA-256 gives");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_only_join_to_the_same_text_give_different_keys() {
        let key = [1; 32];
        let one = derive(&key, "label", &[b"ab", b"c"]);
        assert_eq!(one, derive(&key, "label", &[b"ab", b"c"]));
        let others: [(&str, &[&[u8]]); 4] = [
            ("label", &[b"a", b"bc"]),
            ("label", &[b"abc"]),
            ("label", &[b"ab", b"c", b""]),
            ("labelab", &[b"c"]),
        ];
        for (label, parts) in others {
            assert_ne!(one, derive(&key, label, parts));
        }
        assert_ne!(one, derive(&[2; 32], "label", &[b"ab", b"c"]));
    }
}
