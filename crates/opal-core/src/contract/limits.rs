//! How much a contract may hold, and what is said of a plan that cannot be one.

/// Bytes that a file may have with everything unpacked.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Unpacked bytes and what the steps and values need in memory, together, for a file of which
/// nothing is known.
pub(super) const MAX_MEMORY: usize = 64 * 1024 * 1024;

/// The same for a file that is whole and sealed to the runner that reads it: room for a plan of the
/// largest size. It says nothing about who wrote it; everyone who knows the runner's public key
/// could. So it is a limit like the other, only wider, for those who are about to run the plan.
pub(super) const MAX_SEALED_MEMORY: usize = 512 * 1024 * 1024;

/// Bytes of STEPS and VALUES from which on packing pays.
pub(super) const WORTH_PACKING_BYTES: usize = 4096;

/// Seconds up to the end of the year 9999.
pub(super) const MAX_TIME: i64 = 253_402_300_799;

pub(super) const TOO_LARGE: &str =
    "the plan is too large for a contract; make one contract for each part of the work";

pub(super) const QUICK: &str = "a quick plan is not a contract; make one with `--resolve`";
