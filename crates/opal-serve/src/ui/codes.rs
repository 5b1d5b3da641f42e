//! How `opal ui` ends.

/// `EX_UNAVAILABLE`, `EX_SOFTWARE`, `EX_IOERR`, `EX_NOPERM`.
pub(super) const UNAVAILABLE: u8 = 69;
pub(super) const BUG: u8 = 70;
pub(super) const UNWRITABLE: u8 = 74;
pub(super) const NOT_TRUSTED: u8 = 77;

/// The ticket was not used in time.
pub(super) const TIMED_OUT: u8 = 124;
