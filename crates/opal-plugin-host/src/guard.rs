//! `opal-plugin-host guard GROUP`: ends what a native program has started, should opal be killed.
//!
//! Its input is a pipe of which only opal has the other end. A byte says that opal has ended the group itself; an
//! end without one says that opal is gone. No program leaves its group: seccomp refuses that.

use std::io::Read as _;

use rustix::process::{Pid, Signal, kill_process_group};

pub(crate) fn watch(group: &str) -> Option<()> {
    let group = Pid::from_raw(group.parse::<i32>().ok().filter(|group| *group > 1)?)?;
    let said = std::io::stdin().read(&mut [0]);
    if !matches!(said, Ok(1)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    Some(())
}
