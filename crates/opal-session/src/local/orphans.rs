//! Processes that have lost their parent and come to opal.
//!
//! Where the system can do it (Linux), they do: otherwise nobody could find one that has made a
//! session of its own. Whoever adopts also has to bury: those that have ended are taken off the
//! system's list.

use rustix::process::{WaitId, WaitIdOptions, getpgrp, getpid, waitid};

use super::children;
use super::processes::processes;

/// From now on orphans come to this process.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    // Without it some orphans are not found; nothing else changes.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Buries the orphans that have ended, and nobody that is waited for.
pub(super) fn bury() {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if !matches!(waitid(WaitId::All, look), Ok(Some(_))) {
        return;
    }
    children::while_none_starts(|awaited| {
        let (own, group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
        for process in processes() {
            // What shares the group of opal was started while planning, and is waited for there.
            let is_orphan = process.parent == own
                && process.is_zombie
                && process.group != group
                && !awaited.contains(&process.pid);
            if let (true, Some(pid)) = (is_orphan, rustix::process::Pid::from_raw(process.pid)) {
                let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    });
}
