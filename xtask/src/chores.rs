//! What the benchmarks run, and how the commands of all chores run: each command line is printed before it
//! runs, so that it can be repeated by hand.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::say;
use crate::tools::{provide_musl, provide_targets, static_target};

/// What a release has. All benchmarks build and measure these, so that nothing is built with other features, or
/// twice.
pub(crate) const RELEASED: [&str; 12] = [
    "-p",
    "opal-cli",
    "-p",
    "opal-extra",
    "-p",
    "opal-plugin-host",
    "-p",
    "opal-queue",
    "-p",
    "opal-serve",
    "-p",
    "opal-terraform",
];

/// Builds what a release has, for this machine, with the target helper of this kind of machine in it.
pub(crate) fn release(root: &Path) -> Result<(), String> {
    provide_musl(root);
    let helper = static_target(std::env::consts::ARCH);
    let build = [&["cargo", "build", "--release"], &RELEASED[..]].concat();
    run_with(root, &[("OPAL_TARGET_HELPERS", &helper)], &build)
}

/// Peers that take a second for each file get some of them.
const QUICK: &str = "--quick";

/// The benchmarks of our own code: the name, and the crate that has it.
const BENCHES: [(&str, &str); 4] = [
    ("parse", "opal-syntax"),
    ("contract", "opal-core"),
    ("plan", "opal-plan"),
    ("scrub", "opal-vault"),
];

/// The measurements beside other tools: on this machine, and on targets.
const PEERS: &str = "peers";
const TARGETS: &str = "targets";

/// What packages of decorators cost, and opal with Terraform providers beside Terraform.
const PLUGINS: &str = "plugins";
const PROVIDERS: &str = "providers";

/// The language server beside `opal check`.
const EDITOR: &str = "editor";

/// Questions about many runs beside `sqlite3`.
const RUNS: &str = "runs";

/// A contract on many runners beside the same in one run.
const RUNNERS: &str = "runners";

pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (options, parts): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    let others = [PEERS, TARGETS, PLUGINS, PROVIDERS, RUNS, RUNNERS, EDITOR];
    let names = || BENCHES.iter().map(|(name, _)| *name).chain(others);
    if let Some(unknown) = parts.iter().find(|part| names().all(|name| name != **part)) {
        let names: Vec<&str> = names().collect();
        return Err(format!(
            "unknown benchmark `{unknown}`; expected one of: {}",
            names.join(", ")
        ));
    }
    let is_required = |name: &str| parts.is_empty() || parts.contains(&name);
    for (bench, package) in BENCHES.into_iter().filter(|(name, _)| is_required(name)) {
        let line = ["cargo", "bench", "-p", package, "--bench", bench, "--"];
        let own = options.iter().copied().filter(|word| *word != QUICK);
        run(root, &line.into_iter().chain(own).collect::<Vec<_>>())?;
    }
    let bars = options.contains(&"--bars");
    if is_required(PEERS) {
        release(root)?;
        crate::peers::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(EDITOR) {
        crate::peers::editor::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(RUNS) {
        crate::peers::runs::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(RUNNERS) {
        crate::peers::pool::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(PLUGINS) {
        crate::peers::plugins::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(PROVIDERS) {
        crate::peers::providers::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(TARGETS) {
        provide_targets(root);
        release(root)?;
        crate::peers::compare_targets(root, bars)?;
    }
    Ok(())
}

/// Runs one command with the terminal's own streams.
pub(crate) fn run(root: &Path, line: &[&str]) -> Result<(), String> {
    run_beside(root, None, line)
}

/// The same, with variables.
pub(crate) fn run_with(root: &Path, set: &[(&str, &str)], line: &[&str]) -> Result<(), String> {
    let mut command = command(&[usual_signals(), line].concat());
    command.envs(set.iter().copied());
    finish(root, command, &line.join(" "), line[0])
}

/// The same, with a directory before all others on the path.
pub(crate) fn run_beside(root: &Path, first: Option<&Path>, line: &[&str]) -> Result<(), String> {
    let mut command = command(&[usual_signals(), line].concat());
    let mut shown = line.join(" ");
    if let Some(first) = first {
        command.env("PATH", before_others(&[first.to_owned()])?);
        shown = format!("PATH={}:$PATH {shown}", first.display());
    }
    finish(root, command, &shown, line[0])
}

/// What takes longer says how long it took.
const REPORTED_SECONDS: u64 = 10;

fn finish(root: &Path, mut command: Command, shown: &str, program: &str) -> Result<(), String> {
    say(&format!("$ {shown}"));
    let since = Instant::now();
    let status = command.current_dir(root).status();
    let took = since.elapsed().as_secs();
    if took >= REPORTED_SECONDS {
        say(&format!("  {} min {} s", took / 60, took % 60));
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed ({status}); fix what it names and try again")),
        Err(error) => Err(format!("`{shown}` did not start ({error}); is `{program}` installed?")),
    }
}

#[expect(clippy::disallowed_methods, reason = "xtask passes its own environment on")]
pub(crate) fn before_others(first: &[PathBuf]) -> Result<OsString, String> {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = first.iter().cloned().chain(std::env::split_paths(&others));
    std::env::join_paths(all).map_err(|error| format!("the path cannot be set: {error}"))
}

/// What gives signals their usual meaning: started in the background of a script, a process has some
/// of them ignored, and so have all it starts, which the tests of signals would notice.
fn usual_signals() -> &'static [&'static str] {
    const USUAL: [&str; 2] = ["/usr/bin/env", "--default-signal=HUP,INT,QUIT,TERM"];
    // Not every system's `env` can do this.
    if answers(&[&USUAL[..], &["true"]].concat()).is_some() { &USUAL } else { &[] }
}

/// What a command prints, if it is there and succeeds.
pub(crate) fn answers(line: &[&str]) -> Option<String> {
    let output = command(line).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "xtask runs cargo and waits for it; it has no session to keep processes in"
)]
pub(crate) fn command(line: &[&str]) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]);
    // What cargo says of xtask to xtask. A build script that reads it would run again.
    for (name, _) in std::env::vars_os().filter(|(name, _)| describes_package(name)) {
        command.env_remove(name);
    }
    command
}

fn describes_package(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
}
