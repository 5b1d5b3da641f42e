//! Everything that must hold, and the order in which it is tried.

use std::path::Path;

use crate::chores::{release, run, run_beside, run_with};
use crate::say;
use crate::tools::{provide, provide_all};

const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

/// The tests that depend on the speed of the machine: a binary of this name in some crates. All crates are
/// built as for the other tests, so that nothing is built twice.
const TIMING: [&str; 3] = ["--workspace", "--test", "timing"];

pub(crate) fn test(root: &Path) -> Result<(), String> {
    // What tests use comes from other machines: nothing waits for that yet.
    let ansible = std::thread::scope(|scope| {
        let tools = scope.spawn(|| provide_all(root));
        lints(root)?;
        tools.join().map_err(|_| "the tools of the tests could not be installed".to_owned())
    })?;
    ordinary(root, ansible.as_deref())?;
    over(root, "ssh")?;
    over(root, "podman")?;
    if root.join(FUZZ_MANIFEST).exists() {
        run(root, &["cargo", "check", "--manifest-path", FUZZ_MANIFEST])?;
    }
    crate::editors::make(root, true)?;
    crate::editors::pack(root)?;
    crate::editors::make_zed(root)?;
    crate::book::make(root)?;
    // Last and alone, so that nothing else of ours keeps the machine busy. Nothing is tried again.
    let alone = ["--no-fail-fast", "--", "--test-threads=1"];
    run(root, &[&["cargo", "test"], &TIMING[..], &alone].concat()).map_err(|message| {
        format!("the timing tests, which depend on the speed of the machine: {message}")
    })?;
    say("everything holds");
    Ok(())
}

fn lints(root: &Path) -> Result<(), String> {
    run(root, &["cargo", "fmt", "--all", "--check"])?;
    let denied = ["--", "-D", "warnings"];
    run(root, &[&["cargo", "clippy", "--workspace", "--all-targets"], &denied[..]].concat())?;
    // Those that run apart are tests that cargo leaves out of all targets.
    let apart = ["--workspace", "--test", "timing", "--test", "long"];
    run(root, &[&["cargo", "clippy"], &apart[..], &denied].concat())
}

/// All tests of opal-queue, which the long tests run with the newest server.
const QUEUE: [&str; 8] = [
    "acceptance::",
    "attacks::",
    "dispatching::",
    "ends::",
    "faults::",
    "hosts::",
    "refusals::",
    "runners::",
];

/// What reads `deny.toml`, from crates.io.
const DENY: &str = "0.20.2";

/// The tests that take long or change the network of this machine, one at a time. They say on standard
/// error what they count, and what they skip.
pub(crate) fn long(root: &Path) -> Result<(), String> {
    provide(
        root,
        &[
            ("iproute2", "/usr/sbin/ip"),
            ("iptables", "/usr/sbin/iptables"),
            ("docker.io", "/usr/sbin/dockerd"),
        ],
    );
    dependencies(root)?;
    crate::servers::provide(root);
    crate::tools::provide_long(root);
    crate::browsers::provide(root);
    crate::providers::provide_tofu(root);
    run(root, &["cargo", "build", "--workspace", "--bins"])?;
    crate::editors::try_out(root)?;
    let editors = ["cargo", "test", "--workspace", "--test", "it", "after_random_edits"];
    run_with(root, &[("OPAL_TEST_ROUNDS", "10000")], &editors)?;
    let queue = [&["cargo", "test", "--workspace", "--test", "it", "--"], &QUEUE[..]].concat();
    let newest = [("OPAL_TEST_ROUNDS", "100"), ("OPAL_TEST_NATS_NEWEST", "1")];
    run_with(root, &newest, &queue)?;
    let tests = ["--workspace", "--test", "long"];
    // Only such a helper compiles a package in Python in a short time.
    release(root)?;
    run(root, &[&["cargo", "test"], &tests[..], &["--", "--test-threads=1"]].concat())
}

/// Licences, sources and users of dependencies. Advisories need a database from elsewhere, so they are left out.
fn dependencies(root: &Path) -> Result<(), String> {
    let folder = format!("target/tools/cargo-deny-{DENY}");
    let program = root.join(&folder).join("bin/cargo-deny").display().to_string();
    if !Path::new(&program).exists() {
        let install = ["cargo", "install", "cargo-deny", "--locked", "--version", DENY];
        run(root, &[&install[..], &["--root", &folder]].concat())?;
    }
    run(root, &[&program, "check", "bans", "licenses", "sources"])
}

/// Runs the ordinary tests so many times, and stops at the first failure.
pub(crate) fn repeat(root: &Path, times: &str) -> Result<(), String> {
    let count: usize = (times.parse().ok().filter(|count| *count > 0))
        .ok_or_else(|| format!("`--repeat` expects a number of runs, got `{times}`"))?;
    let ansible = provide_all(root);
    for number in 1..=count {
        say(&format!("run {number} of {count}"));
        ordinary(root, ansible.as_deref())
            .map_err(|message| format!("run {number} of {count}: {message}"))?;
    }
    say(&format!("{count} runs in a row passed"));
    Ok(())
}

/// The tests that pass on a machine of any speed.
fn ordinary(root: &Path, ansible: Option<&Path>) -> Result<(), String> {
    run_beside(root, ansible, &["cargo", "test", "--workspace", "--no-fail-fast"])
}

/// What cannot be in a container that shares the files of this machine: what a test mounts here is not
/// mounted there.
const NOT_IN_CONTAINERS: [&str; 2] = ["--skip", "what_is_mounted_in_a_tree_keeps_all_of_it"];

/// The tests of sessions and resources, on a machine that is reached by ssh, or in a container.
fn over(root: &Path, way: &str) -> Result<(), String> {
    let tests = ["cargo", "test", "--workspace", "--test", "it", "--"];
    let skipped = if way == "podman" { &NOT_IN_CONTAINERS[..] } else { &[] };
    let line = [&tests[..], &["anywhere::"], skipped].concat();
    run_with(root, &[("OPAL_TEST_OVER", way)], &line)
}
