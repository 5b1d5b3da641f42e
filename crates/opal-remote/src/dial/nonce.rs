//! What tells the words of a target's shell from everything else that a login prints.

use opal_session::reach::Nonce;
use rustix::rand::{GetRandomFlags, getrandom};

/// A new one. It is not a secret: it only has to be one that nobody has printed before.
pub(crate) fn draw() -> std::io::Result<Nonce> {
    let mut bytes = [0; 16];
    let mut drawn = 0;
    while drawn < bytes.len() {
        drawn += getrandom(&mut bytes[drawn..], GetRandomFlags::empty())?;
    }
    Ok(Nonce(bytes))
}
