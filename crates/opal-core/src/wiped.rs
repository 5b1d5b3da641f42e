//! Memory that may hold a secret: it is wiped when it is given back.
//!
//! `zeroize` wipes a vector byte by byte, so that no compiler leaves that out: for what a step prints, that
//! took longer than reading it. Here memory is filled at once, and a barrier of `zeroize` after that makes
//! the compiler keep it.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::ops::{Deref, DerefMut};

/// What the first read may give: little more than most files need.
const FIRST: usize = 4 * 1024;

/// What can be wiped. It is empty, or zero, after that.
pub trait Wipe {
    fn wipe(&mut self);
}

impl Wipe for [u8] {
    fn wipe(&mut self) {
        self.fill(0);
        zeroize::optimization_barrier(self);
    }
}

impl<const LENGTH: usize> Wipe for [u8; LENGTH] {
    fn wipe(&mut self) {
        self.as_mut_slice().wipe();
    }
}

/// With the memory that is not in use, and is kept.
impl Wipe for Vec<u8> {
    fn wipe(&mut self) {
        self.clear();
        self.resize(self.capacity(), 0);
        zeroize::optimization_barrier(self.as_slice());
        self.clear();
    }
}

impl Wipe for String {
    fn wipe(&mut self) {
        std::mem::take(self).into_bytes().wipe();
    }
}

/// Wiped when it is dropped. Nothing prints it by mistake.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wiped<T: Wipe>(T);

impl<T: Wipe> Wiped<T> {
    #[must_use]
    pub fn new(it: T) -> Self {
        Self(it)
    }
}

impl<T: Wipe> Drop for Wiped<T> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl<T: Wipe> Deref for Wiped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Wipe> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Wipe + Clone> Clone for Wiped<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Wipe> From<T> for Wiped<T> {
    fn from(it: T) -> Self {
        Self(it)
    }
}

impl<T: Wipe> fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wiped(…)")
    }
}

/// All that the reader gives, or the first `most` bytes of it.
pub fn read(reader: &mut dyn Read, most: u64) -> std::io::Result<Wiped<Vec<u8>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = Wiped::new(Vec::new());
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
        std::mem::replace(bytes, larger).wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memory_of_a_vector_is_wiped_and_kept() {
        let mut bytes = b"a secret".to_vec();
        bytes.reserve(100);
        bytes.truncate(3);
        let capacity = bytes.capacity();
        bytes.wipe();
        assert_eq!((bytes.len(), bytes.capacity()), (0, capacity));
        bytes.resize(8, 1);
        bytes.truncate(0);
    }

    #[test]
    fn what_is_wiped_is_not_printed() {
        assert_eq!(format!("{:?}", Wiped::new("a secret".to_owned())), "Wiped(…)");
    }

    #[test]
    fn everything_is_read_up_to_the_limit() {
        let content: Vec<u8> = (0..100_000u32).map(|it| it as u8).collect();
        for most in [0, 1, 4_096, 4_097, 99_999, 100_000, 200_000] {
            let found = read(&mut content.as_slice(), most).unwrap();
            assert_eq!(*found, content[..content.len().min(most as usize)]);
        }
    }
}
