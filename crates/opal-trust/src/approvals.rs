//! Approvals: which people said yes or no to a contract, and whether that is enough.
//!
//! | what | where |
//! |---|---|
//! | the key of a person, and a signature that was checked | [`Signer`], [`Checked`] |
//! | a file with such a key | [`KeyFile`] |
//! | the lines beside a contract | [`read`] |
//! | what the rules of a policy demand of it, and what is missing | [`judge`] |
//!
//! Deliberately not here: the bytes of a line ([`opal_core::contract::approval`]), making a signature,
//! which is `ssh-keygen`'s work, and the rules themselves, which are `policy`.

mod judge;
mod key_file;
mod signer;

use opal_core::contract::approval::{Approval, MAX_LINE_BYTES, NotAnApproval};

pub use judge::{Claim, Counted, Ignored, Judged, Unmet, Why, judge, rejections};
pub use key_file::KeyFile;
pub use signer::{BadSignature, Checked, Signer, check};

/// What a signature of a statement is for. No other message that is signed has it.
pub const NAMESPACE: &str = "opal-approval-v1";

/// Bytes of a file of approvals.
pub const MAX_FILE_BYTES: usize = 256 * MAX_LINE_BYTES;

/// The lines of a file, and those that are none, by their number from 1.
#[must_use]
pub fn read(text: &str) -> (Vec<Approval>, Vec<(usize, NotAnApproval)>) {
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        match Approval::parse(line) {
            Ok(approval) => found.push(approval),
            Err(why) => broken.push((number, why)),
        }
    }
    // Two files that were joined may have a line twice.
    found.sort();
    found.dedup();
    (found, broken)
}
