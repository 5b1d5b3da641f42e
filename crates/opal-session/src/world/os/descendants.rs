//! The end of a command that takes too long, with everything that it started.
//!
//! Its processes share the group of opal, so they are found one by one: the children of its
//! children, and whoever still holds its output, which is how one that has lost its
//! parent is known. They are stopped before they are ended, so that none can start another in
//! between. The second way needs Linux; elsewhere a process without its parent is left alone.
//!
//! A command that opal is just starting beside this one holds the pipe as well, until it becomes its
//! own program: it is spared.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// How often to look for processes that were started during the previous search.
const MAX_LOOKS: usize = 16;

/// Ends the process `root` and its descendants, and all others that hold one of the pipes.
pub(super) fn end(root: Option<Pid>, pipes: &[u64]) {
    let mut found: BTreeSet<i32> = root.iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    for _ in 0..MAX_LOOKS {
        let before = found.len();
        found.iter().for_each(|pid| signal(*pid, Signal::STOP));
        grow(&mut found, &processes());
        found.extend(pipes.iter().flat_map(|pipe| holders(*pipe)));
        found.remove(&getpid().as_raw_nonzero().get());
        if found.len() == before {
            break;
        }
    }
    found.iter().for_each(|pid| signal(*pid, Signal::KILL));
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

/// Adds the children of what is there, and theirs.
fn grow(found: &mut BTreeSet<i32>, processes: &[(i32, i32)]) {
    loop {
        let before = found.len();
        let children = processes.iter().filter(|(_, parent)| found.contains(parent));
        let children: Vec<i32> = children.map(|(pid, _)| *pid).collect();
        found.extend(children);
        if found.len() == before {
            return;
        }
    }
}

/// Every process and its parent, from `/proc`, or from `ps` where there is none.
fn processes() -> Vec<(i32, i32)> {
    let listed = pids();
    if listed.is_empty() {
        return ps().unwrap_or_default();
    }
    let parent = |pid: i32| parent(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    listed.into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The fourth field; the second one is a name in brackets that may hold anything.
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "where there is no /proc, only ps knows who started whom; it is waited for"
)]
fn ps() -> Option<Vec<(i32, i32)>> {
    let mut command = std::process::Command::new("/bin/ps");
    command.args(["-A", "-o", "pid=,ppid="]).stdin(Stdio::null()).stdout(Stdio::piped());
    let listing = opal_core::starting::shared(|| command.spawn()).ok()?.wait_with_output();
    Some(table(&String::from_utf8(listing.ok()?.stdout).ok()?))
}

fn table(listing: &str) -> Vec<(i32, i32)> {
    let row = |line: &str| {
        let (pid, parent) = line.trim().split_once(char::is_whitespace)?;
        Some((pid.parse().ok()?, parent.trim().parse().ok()?))
    };
    listing.lines().filter_map(row).collect()
}

/// Who has the pipe open.
fn holders(pipe: u64) -> Vec<i32> {
    let pipe = PathBuf::from(format!("pipe:[{pipe}]"));
    let holds = |pid: &i32| {
        let mut open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == pipe))
    };
    pids().into_iter().filter(holds).filter(|pid| !is_starting(*pid)).collect()
}

/// Whether it is a child of opal that still is opal. One that lost its parent and was given to opal,
/// as in a container where opal comes first, has a program of its own.
fn is_starting(pid: i32) -> bool {
    let program = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let own = getpid().as_raw_nonzero().get();
    parent(&stat) == Some(own) && program(pid) == program(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_hides_no_parent() {
        assert_eq!(parent("12 (a) R 7 (b) S 41 12 12 0 -1"), Some(41));
        assert_eq!(parent("12 sh S 41"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test needs children of its own")]
    fn a_child_that_is_still_opal_is_spared_and_others_are_not() {
        use std::process::{Command, Stdio};
        const AS_CHILD: &str = "as-a-child";
        if std::env::args().any(|argument| argument == AS_CHILD) {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
            return;
        }
        let own = std::env::current_exe().unwrap();
        let again = ["a_child_that_is_still_opal_is_spared", AS_CHILD];
        for (program, arguments, spared) in [(own, &again[..], true), ("cat".into(), &[], false)] {
            let mut child = Command::new(program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let pid = i32::try_from(child.id()).unwrap();
            let pipe = rustix::fs::fstat(child.stdout.as_ref().unwrap()).unwrap().st_ino;
            assert_eq!(is_starting(pid), spared);
            assert_eq!(holders(pipe).contains(&pid), !spared);
            drop(child.stdin.take());
            child.wait_with_output().unwrap();
        }
    }

    #[test]
    fn children_of_children_are_found_whatever_their_order() {
        let mut found = BTreeSet::from([10]);
        grow(&mut found, &table("  14 13\n 13   11\n11 10\n12 1\nheading\n"));
        assert_eq!(found, BTreeSet::from([10, 11, 13, 14]));
    }
}
