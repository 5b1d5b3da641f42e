//! Why an order is refused, in words.

use std::fmt;

use crate::keys::PublicKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The bytes are not an order, or not as opal writes them.
    NotAnOrder(&'static str),
    TooLong,
    /// It names a key, and the signature is not of that key.
    Signature(PublicKey),
    /// Its signature holds, and the key may not give orders here.
    NotAllowed(PublicKey),
    /// In Unix seconds.
    Ended {
        end: i64,
    },
    InTheFuture {
        made: i64,
    },
}

impl Refused {
    /// The way forward.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotAnOrder(_) | Self::TooLong | Self::Signature(_) | Self::Ended { .. } => {
                "dispatch the contract again"
            }
            Self::NotAllowed(_) => {
                "to accept its orders, add the key to `dispatchers` of the policy of this runner"
            }
            Self::InTheFuture { .. } => "check the clocks of both machines",
        }
    }

    /// Whether it is a question of trust, and not of damage or time.
    #[must_use]
    pub const fn is_trust(&self) -> bool {
        matches!(self, Self::NotAllowed(_) | Self::Signature(_))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnOrder(why) => write!(f, "not an order: {why}"),
            Self::TooLong => f.write_str("not an order: it is larger than 4 MiB"),
            Self::Signature(key) => write!(f, "the order is not signed by `{key}`, as it says"),
            Self::NotAllowed(key) => {
                write!(f, "the order is signed by a key that may not dispatch here: `{key}`")
            }
            Self::Ended { .. } => f.write_str("the order is past its end"),
            Self::InTheFuture { .. } => f.write_str("the order is dated in the future"),
        }
    }
}

impl std::error::Error for Refused {}
