//! What each part needs in memory when it is read again, at most; texts need their length too.
//! Reader and writer count alike, so that what was written can be read.

pub(super) const STEP: usize = 232;
pub(super) const ARG: usize = 112;
pub(super) const ITEM: usize = 112;
pub(super) const MAP: usize = 1024;
