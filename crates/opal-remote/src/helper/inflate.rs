//! Unpacking what `gzip -n` has packed.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Without a name, a comment or other fields.
const HEADER: usize = 10;

/// A checksum and a length. What is embedded is known by its digest.
const END: usize = 8;

/// The content, which has this length; none where it is broken.
pub(super) fn gunzip(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let packed = packed.strip_prefix(&[0x1f, 0x8b, 8, 0])?.get(HEADER - 4..)?;
    let packed = packed.get(..packed.len().checked_sub(END)?)?;
    decompress_to_vec_with_limit(packed, bytes).ok().filter(|content| content.len() == bytes)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the real program packs")]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    fn gzip(bytes: &[u8], level: &str) -> Vec<u8> {
        let mut child = Command::new("gzip")
            .args(["-n", "-c", level])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let packed = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap().unwrap();
        packed
    }

    /// Without a pattern, and the same each time.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn what_the_real_gzip_has_packed_is_unpacked() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let contents = [
            Vec::new(),
            b"a".to_vec(),
            b"abcabcabcabcabcabcabcabc".to_vec(),
            vec![0; 100_000],
            noise(200_000),
            program[..program.len().min(2_000_000)].to_vec(),
        ];
        for content in contents {
            for level in ["-1", "-9"] {
                let packed = gzip(&content, level);
                assert_eq!(gunzip(&packed, content.len()).as_deref(), Some(&*content));
                assert_eq!(gunzip(&packed, content.len() + 1), None);
            }
        }
    }

    #[test]
    fn what_is_broken_is_nothing_and_never_a_panic() {
        let content = b"some text, some text, some more text".repeat(30);
        let packed = gzip(&content, "-9");
        for cut in 0..packed.len() {
            assert_eq!(gunzip(&packed[..cut], content.len()), None, "{cut}");
        }
        for at in 0..packed.len() {
            for bit in 0..8 {
                let mut broken = packed.clone();
                broken[at] ^= 1 << bit;
                let _ = gunzip(&broken, content.len());
            }
        }
    }
}
