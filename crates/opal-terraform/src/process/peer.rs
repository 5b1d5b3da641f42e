//! Who is a process: ours, or a descendant of ours.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// How many generations are followed.
const GENERATIONS: usize = 64;

/// Whether a process is another one, or descends from it.
pub(super) fn descends(mut id: i32, from: i32) -> bool {
    for _ in 0..GENERATIONS {
        if id == from {
            return true;
        }
        match parent(id) {
            Some(parent) if parent > 1 => id = parent,
            _ => return false,
        }
    }
    false
}

fn parent(id: i32) -> Option<i32> {
    stat(id)?.split(' ').nth(1)?.parse().ok()
}

/// What follows the name of a process, which may have spaces and brackets in it.
fn stat(id: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

/// Processes, each by its number and the moment of its start: numbers are used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Family(Vec<(i32, String)>);

impl Family {
    /// What descends from a process now, without itself: also what left its group.
    #[must_use]
    pub(super) fn of(from: i32) -> Self {
        let Ok(all) = fs::read_dir("/proc") else { return Self::default() };
        let ids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let members = ids.filter(|id| *id != from && descends(*id, from));
        Self(members.filter_map(|id| Some((id, started(id)?))).collect())
    }

    /// Kills those that still live.
    pub(super) fn kill(&self) {
        for (id, start) in &self.0 {
            if started(*id).as_ref() == Some(start)
                && let Some(id) = Pid::from_raw(*id)
            {
                let _ = kill_process(id, Signal::KILL);
            }
        }
    }
}

/// When a process started, in ticks since the machine did.
fn started(id: i32) -> Option<String> {
    stat(id)?.split(' ').nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_descends_from_its_parents_and_not_from_others() {
        let own = i32::try_from(std::process::id()).unwrap();
        let above = parent(own).unwrap();
        assert!(descends(own, own) && descends(own, above));
        assert!(!descends(above, own));
        assert!(!descends(i32::MAX, own));
    }
}
