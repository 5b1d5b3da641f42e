//! Processes of the system, and waiting for what they do.
//!
//! A test waits for a fact, such as a file or a line of output, and never for a time: how long a
//! fact takes depends on the machine.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Far longer than anything takes that a test waits for, even on a busy machine.
const TOO_LONG: Duration = Duration::from_mins(2);

/// Waits until something holds; fails the test if that takes too long.
///
/// # Panics
/// If it still does not hold after two minutes.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + TOO_LONG;
    while !holds() {
        assert!(Instant::now() < end, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends the signal with this name to a process.
///
/// # Panics
/// If the process does not exist.
#[expect(clippy::disallowed_methods, reason = "`kill` is the program that sends signals")]
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Ends a process at once. It may be gone already.
#[expect(clippy::disallowed_methods, reason = "`kill` is the program that sends signals")]
pub fn kill(pid: &str) {
    let _ = Command::new("kill").args(["-KILL", pid]).stderr(std::process::Stdio::null()).status();
}

/// The same to all processes of its group, which it leads: as a terminal does it.
///
/// # Panics
/// If the group does not exist.
#[expect(clippy::disallowed_methods, reason = "`kill` is the program that sends signals")]
pub fn signal_group(child: &Child, name: &str) {
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args([&format!("-{name}"), "--", &group]).status();
    assert!(sent.unwrap().success());
}

/// Whether the process with this number exists and has not ended.
#[must_use]
pub fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Whether a process with this word in its command line exists.
#[must_use]
pub fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(word))
}

/// A word for the command lines of one test, made from its temporary directory.
#[must_use]
pub fn unique(directory: &Path) -> String {
    directory.file_name().unwrap().to_string_lossy().replace('.', "opal-test-")
}

/// The processes with this name that have this text in their environment: their numbers.
#[must_use]
pub fn named(name: &str, environment: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.map(|it| it.file_name().to_string_lossy().into_owned());
    let is_one = |pid: &String| {
        let has = |file: &str, text: &str| {
            let content = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&content).contains(text)
        };
        has("comm", name) && has("environ", environment)
    };
    numbers.filter(is_one).collect()
}

/// The processes of a user that have not ended: their numbers and command lines.
#[must_use]
pub fn owned_by(uid: u32) -> Vec<(String, String)> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = all.filter(|it| it.metadata().is_ok_and(|found| found.uid() == uid));
    let numbers = own.map(|it| it.file_name().to_string_lossy().into_owned());
    let with_line = |pid: String| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (pid, line)
    };
    numbers.filter(|pid| is_alive(pid)).map(with_line).collect()
}

/// Whether others use much of the machine: then a limit of seconds says nothing about a program.
#[must_use]
pub fn is_busy() -> bool {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Option<f64> = text.split(' ').next().and_then(|it| it.parse().ok());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    load.is_none_or(|load| load > cores as f64 / 2.0)
}
