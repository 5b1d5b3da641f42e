//! Reading what may be secret, without leaving copies of it.

use std::io::{ErrorKind, Read};

use zeroize::{Zeroize, Zeroizing};

/// What the first read may give. Wiping takes longer than reading, so there is little more than most
/// files need.
const FIRST: usize = 4 * 1024;

/// All that the reader gives, or the first `most` bytes of it.
pub fn read(reader: &mut dyn Read, most: u64) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = Zeroizing::new(Vec::new());
    let mut filled = 0;
    while filled < most {
        if filled == bytes.len() {
            let more = filled.max(FIRST).min(most - filled);
            reserve(&mut bytes, more);
            bytes.resize(filled + more, 0);
        }
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Makes room for `more` bytes.
///
/// A vector that grows by itself leaves its old memory as it was; here the old memory is wiped.
pub fn reserve(bytes: &mut Vec<u8>, more: usize) {
    if bytes.capacity() - bytes.len() < more {
        let mut larger = Vec::with_capacity(bytes.len() + more.max(bytes.len()));
        larger.extend_from_slice(bytes);
        std::mem::replace(bytes, larger).zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_up_to_the_limit() {
        let content: Vec<u8> = (0..100_000u32).map(|it| it as u8).collect();
        for most in [0, 1, 4_096, 4_097, 99_999, 100_000, 200_000] {
            let found = read(&mut content.as_slice(), most).unwrap();
            assert_eq!(*found, content[..content.len().min(most as usize)]);
        }
    }
}
