//! Who answers at the end of a way.

use super::HostKey;

/// Who answers: an address may belong to another machine by the time of the next connection. Only the
/// host key is proven; all else is the target's own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number; none in a container that is not made yet.
    pub user: Option<u32>,
    /// Its machine ID, or the ID of its image; empty where it has none.
    pub machine: String,
    pub os: String,
    pub arch: String,
    pub host_key: Option<HostKey>,
}
