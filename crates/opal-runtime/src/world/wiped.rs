//! Reading what may be secret, without leaving copies of it behind.

use std::io::{ErrorKind, Read};

use zeroize::{Zeroize, Zeroizing};

/// All that the reader gives, or the first `most` bytes of it.
///
/// A vector that grows by itself leaves its old memory as it was; here the old memory is wiped.
pub(crate) fn read(reader: &mut dyn Read, most: u64) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = Zeroizing::new(Vec::with_capacity(4 * 1024));
    let mut buffer = Zeroizing::new([0; 16 * 1024]);
    while bytes.len() < most {
        let free = buffer.len().min(most - bytes.len());
        match reader.read(&mut buffer[..free]) {
            Ok(0) => break,
            Ok(count) => append(&mut bytes, &buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

fn append(bytes: &mut Vec<u8>, more: &[u8]) {
    if bytes.capacity() - bytes.len() < more.len() {
        let mut larger = Vec::with_capacity(2 * (bytes.len() + more.len()));
        larger.extend_from_slice(bytes);
        std::mem::replace(bytes, larger).zeroize();
    }
    bytes.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_up_to_the_limit() {
        let content: Vec<u8> = (0..100_000u32).map(|it| it as u8).collect();
        for most in [0, 1, 4_096, 99_999, 100_000, 200_000] {
            let found = read(&mut content.as_slice(), most).unwrap();
            assert_eq!(*found, content[..content.len().min(most as usize)]);
        }
    }
}
