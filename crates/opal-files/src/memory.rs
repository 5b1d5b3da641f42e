//! What is in the memory of this process.

/// No core file shows the values that are in memory, and no other process of the user reads them
/// through `/proc`.
///
/// A limit on the size of core files would be inherited by the steps, whose business it is; this
/// ends with `exec`.
pub fn keep_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // A kernel that refuses this has no other way either.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
