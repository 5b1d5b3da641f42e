//! Every kind of message that is signed begins with bytes that no other kind begins with, so a signature of
//! one is never taken for a signature of another.

/// A contract: its magic.
pub const CONTRACT: &[u8] = b"OPAL";

/// An approval: an SSHSIG, whose signed bytes begin so; its namespace is [`crate::approvals::NAMESPACE`].
pub const APPROVAL: &[u8] = b"SSHSIG";

/// Statements, indexes and attestations: DSSE's encoding of a type and a payload.
pub const DSSE: &str = "DSSEv1 ";

/// An export of records.
pub const AUDIT: &[u8] = b"opal-audit-v1\n";

/// An order to the runners of a pool.
pub const ORDER: &[u8] = b"opal-order-v1\n";

/// What a runner says about a share.
pub const EVENT: &[u8] = b"opal-event-v1\n";

/// Who works on a share, and how far all runners are.
pub const CLAIM: &[u8] = b"opal-claim-v1\n";

/// What ends an order early.
pub const STOP: &[u8] = b"opal-stop-v1\n";

/// All of them.
pub const ALL: [&[u8]; 8] = [CONTRACT, APPROVAL, DSSE.as_bytes(), AUDIT, ORDER, EVENT, CLAIM, STOP];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_begins_like_another() {
        for (index, one) in ALL.iter().enumerate() {
            for other in &ALL[index + 1..] {
                assert!(!one.starts_with(other) && !other.starts_with(one));
            }
        }
    }
}
