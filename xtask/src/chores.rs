//! What the commands run. Each command line is printed before it runs, so that it can be repeated
//! by hand.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::say;

const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

pub(crate) fn test(root: &Path) -> Result<(), String> {
    provide(root, "valgrind");
    provide(root, "age");
    run(root, &["cargo", "fmt", "--all", "--check"])?;
    run(root, &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run(root, &["cargo", "test", "--workspace"])?;
    if root.join(FUZZ_MANIFEST).exists() {
        run(root, &["cargo", "check", "--manifest-path", FUZZ_MANIFEST])?;
    }
    say("everything holds");
    Ok(())
}

pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Result<(), String> {
    for (package, bench) in [
        ("opal-syntax", "parse"),
        ("opal-core", "contract"),
        ("opal-runtime", "plan"),
        ("opal-runtime", "scrub"),
    ] {
        let line = ["cargo", "bench", "-p", package, "--bench", bench, "--"];
        run(root, &[&line, arguments].concat())?;
    }
    run(root, &["cargo", "build", "--release", "-p", "opal-cli"])?;
    crate::peers::compare(root, arguments.contains(&"--bars"))
}

/// The tests that count instructions need valgrind, and those that open envelopes with another
/// implementation need age. Without them they are skipped, except in CI, so a machine that cannot
/// have them is told, not failed.
fn provide(root: &Path, program: &str) {
    if answers(&[program, "--version"]).is_some() {
        return;
    }
    let can_install = answers(&["apt-get", "--version"]).is_some()
        && answers(&["id", "-u"]).is_some_and(|user| user.trim() == "0");
    let missing = format!("{program} is missing");
    if !can_install {
        say(&format!("{missing} and cannot be installed here (that takes apt-get and root)"));
        return;
    }
    let installed = run(root, &["apt-get", "update"])
        .and_then(|()| run(root, &["apt-get", "install", "--yes", program]));
    if let Err(message) = installed {
        say(&format!("{missing}: {message}"));
    }
}

/// Runs one command with the terminal's own streams.
fn run(root: &Path, line: &[&str]) -> Result<(), String> {
    let shown = line.join(" ");
    say(&format!("$ {shown}"));
    let status = command(&[usual_signals(), line].concat()).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed ({status}); mend what it names and try again")),
        Err(error) => Err(format!("`{shown}` did not start ({error}); is `{}` there?", line[0])),
    }
}

/// What gives signals their usual meaning: started in the background of a script, a process has some
/// of them ignored, and so have all it starts, which the tests of signals would notice.
fn usual_signals() -> &'static [&'static str] {
    const USUAL: [&str; 2] = ["/usr/bin/env", "--default-signal=HUP,INT,QUIT,TERM"];
    // Not every system's `env` can do this.
    if answers(&[&USUAL[..], &["true"]].concat()).is_some() { &USUAL } else { &[] }
}

/// What a command prints, if it is there and succeeds.
fn answers(line: &[&str]) -> Option<String> {
    let output = command(line).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "xtask runs cargo and waits for it; it has no session to keep processes in"
)]
fn command(line: &[&str]) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]);
    command
}
