//! `SHA256SUMS`: a line for the archive of each platform.

use std::collections::BTreeMap;

use super::{Rejected, hex};

/// The list, at most.
const MAX: usize = 1 << 20;

/// SHA-256 digests by the names of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums(BTreeMap<String, [u8; 32]>);

impl Sums {
    /// Reads a list. A line that is not one makes the whole list invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, Rejected> {
        let invalid = |why: &str| Rejected::invalid(format!("its SHA256SUMS {why}"));
        if bytes.len() > MAX {
            return Err(invalid("is too long"));
        }
        let text = str::from_utf8(bytes).map_err(|_| invalid("is not text"))?;
        let mut all = BTreeMap::new();
        for line in text.lines() {
            let parts = line.split_once("  ").map(|(digest, name)| (digest_of(digest), name));
            let Some((Some(digest), name)) = parts.filter(|(_, name)| is_name(name)) else {
                return Err(invalid("has a line that is not a digest and a name"));
            };
            if all.insert(name.to_owned(), digest).is_some() {
                return Err(invalid("has a name twice"));
            }
        }
        Ok(Self(all))
    }

    #[must_use]
    pub fn digest(&self, name: &str) -> Option<[u8; 32]> {
        self.0.get(name).copied()
    }

    /// `zh:` of all archives of a version: what a lock keeps for other platforms.
    #[must_use]
    pub fn hashes(&self, start: &str) -> Vec<String> {
        let archives = self.0.iter().filter(|(name, _)| {
            name.strip_prefix(start).is_some_and(|rest| rest.ends_with(".zip"))
        });
        let mut all: Vec<String> =
            archives.map(|(_, digest)| format!("zh:{}", hex(digest))).collect();
        all.sort();
        all
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// 64 hexadecimal digits, in lower case.
#[must_use]
pub fn digest_of(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_whole_or_not_at_all() {
        let digest = "ab".repeat(32);
        let good = format!("{digest}  a_1.0.0_linux_amd64.zip\n{digest}  a_1.0.0_manifest.json\n");
        let sums = Sums::read(good.as_bytes()).unwrap();
        assert_eq!(sums.hashes("a_1.0.0_"), [format!("zh:{digest}")]);
        for bad in [
            format!("{digest} a.zip\n"),
            format!("{digest}  a.zip\n{digest}  a.zip\n"),
            format!("{digest}  ../a.zip\n"),
            format!("{digest}  a b.zip\n"),
            format!("{}  a.zip\n", "AB".repeat(32)),
            format!("{}  a.zip\n", "ab".repeat(31)),
            "\n".to_owned(),
            "x".repeat(MAX + 1),
        ] {
            assert!(Sums::read(bad.as_bytes()).is_err(), "{bad:.80}");
        }
    }
}
