//! What the commands run. Each command line is printed before it runs, so that it can be repeated
//! by hand.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::say;

const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

/// The Ansible that the tests of its driver are written for.
const ANSIBLE: &str = "2.19.14";

/// The tests that depend on the speed of the machine: the name of their binary in each crate.
const TIMING: &str = "timing";

pub(crate) fn test(root: &Path) -> Result<(), String> {
    let ansible = provide_all(root);
    let timing = timing(root)?;
    let timing: Vec<&str> = timing.iter().map(String::as_str).collect();
    run(root, &["cargo", "fmt", "--all", "--check"])?;
    let denied = ["--", "-D", "warnings"];
    run(root, &[&["cargo", "clippy", "--workspace", "--all-targets"], &denied[..]].concat())?;
    run(root, &[&["cargo", "clippy"], &timing[..], &denied].concat())?;
    ordinary(root, ansible.as_deref())?;
    over(root, "ssh")?;
    over(root, "podman")?;
    if root.join(FUZZ_MANIFEST).exists() {
        run(root, &["cargo", "check", "--manifest-path", FUZZ_MANIFEST])?;
    }
    crate::book::make(root)?;
    // Last and alone, so that nothing else of ours keeps the machine busy. Nothing is tried again.
    let alone = ["--no-fail-fast", "--", "--test-threads=1"];
    run(root, &[&["cargo", "test"], &timing[..], &alone].concat()).map_err(|message| {
        format!("the timing tests, which depend on the speed of the machine: {message}")
    })?;
    say("everything holds");
    Ok(())
}

/// The tests that take long or change the network of this machine, one at a time. They say on standard
/// error what they count, and what they skip.
pub(crate) fn long(root: &Path) -> Result<(), String> {
    for (package, program) in [
        ("iproute2", "/usr/sbin/ip"),
        ("iptables", "/usr/sbin/iptables"),
        ("docker.io", "/usr/sbin/dockerd"),
    ] {
        provide(root, package, &["test", "-x", program]);
    }
    crate::vault::provide(root);
    crate::browsers::provide(root);
    crate::providers::provide_tofu(root);
    run(root, &["cargo", "build", "--bins"])?;
    let editors = ["cargo", "test", "-p", "opal-lsp", "-p", "opal-serve", "--test", "it", "random"];
    run_with(root, &[("OPAL_TEST_ROUNDS", "10000")], &editors)?;
    let tests = ["-p", "opal-cli", "--test", "long"];
    run(root, &[&["cargo", "clippy"], &tests[..], &["--", "-D", "warnings"]].concat())?;
    // Only such a helper compiles a package in Python in a short time.
    run(root, &[&["cargo", "build", "--release"], &PROGRAMS_OF_PACKAGES[..]].concat())?;
    run(root, &[&["cargo", "test"], &tests[..], &["--", "--test-threads=1"]].concat())
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
    let tests = ["cargo", "test", "-p", "opal-target", "--test", "it", "--"];
    let skipped = if way == "podman" { &NOT_IN_CONTAINERS[..] } else { &[] };
    let line = [&tests[..], &["session::", "resources::"], skipped].concat();
    run_with(root, &[("OPAL_TEST_OVER", way)], &line)
}

/// What names the timing tests to cargo: `-p opal-cli … --test timing`.
fn timing(root: &Path) -> Result<Vec<String>, String> {
    let crates = root.join("crates");
    let found = std::fs::read_dir(&crates).map_err(|error| format!("`crates`: {error}"))?;
    let mut names: Vec<String> = (found.flatten())
        .filter(|folder| folder.path().join("tests").join(TIMING).is_dir())
        .map(|folder| folder.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let packages = names.into_iter().flat_map(|name| ["-p".to_owned(), name]);
    Ok(packages.chain(["--test".to_owned(), TIMING.to_owned()]).collect())
}

/// What the tests need that a machine may lack, as far as it can be installed.
fn provide_all(root: &Path) -> Option<PathBuf> {
    for program in ["valgrind", "age", "zstd", "zsh", "fish", "curl", "wget"] {
        provide(root, program, &[program, "--version"]);
    }
    provide_targets(root);
    provide_rust(root, GUESTS);
    crate::providers::provide(root);
    crate::guests::provide(root);
    sdk(root);
    for (package, program) in [
        // The login shells and programs that are on the way to a target.
        ("tcsh", "/usr/bin/tcsh"),
        ("mksh", "/bin/mksh"),
        ("sudo", "/usr/bin/sudo"),
        ("opendoas", "/usr/bin/doas"),
        ("openssl", "/usr/bin/openssl"),
        ("openssh-client", "/usr/bin/ssh-keygen"),
        ("neovim", "/usr/bin/nvim"),
        ("strace", "/usr/bin/strace"),
        // A registry of packages, signatures of providers, a pager, and what is converted from.
        ("docker-registry", "/usr/bin/docker-registry"),
        ("gnupg", "/usr/bin/gpg"),
        ("less", "/usr/bin/less"),
        ("make", "/usr/bin/make"),
        // Clients and servers of `@sqlite`, `@psql` and `@mysql`.
        ("sqlite3", "/usr/bin/sqlite3"),
        ("postgresql", "/usr/bin/psql"),
        ("mariadb-server", "/usr/sbin/mariadbd"),
    ] {
        provide(root, package, &["test", "-x", program]);
    }
    ansible(root)
}

/// Servers and engines that targets are reached by.
fn provide_targets(root: &Path) {
    for (package, program) in [
        ("openssh-server", "/usr/sbin/sshd"),
        ("busybox", "/bin/busybox"),
        ("podman", "/usr/bin/podman"),
        ("runc", "/usr/sbin/runc"),
    ] {
        provide(root, package, &["test", "-x", program]);
    }
}

/// What releases and target helpers are built with, as far as it can be installed.
fn provide_musl(root: &Path) {
    provide(root, "musl-tools", &["musl-gcc", "--version"]);
    provide_rust(root, &musl(std::env::consts::ARCH));
}

/// What packages need: opal, and its helpers for registries and for code.
pub(crate) const PROGRAMS_OF_PACKAGES: [&str; 6] =
    ["-p", "opal-cli", "-p", "opal-extra", "-p", "opal-plugin-host"];

/// What plugins are built for.
const GUESTS: &str = "wasm32-wasip2";

/// The standard library for another target.
fn provide_rust(root: &Path, target: &str) {
    if answers(&["rustup", "--version"]).is_some()
        && let Err(message) = run(root, &["rustup", "target", "add", target])
    {
        say(&format!("{target} is missing: {message}"));
    }
}

fn musl(machine: &str) -> String {
    format!("{machine}-unknown-linux-musl")
}

/// musl, where its target and its C compiler are installed; otherwise the C library of this machine,
/// which makes static programs larger.
pub(crate) fn static_target(machine: &str) -> String {
    let musl = musl(machine);
    let is_installed = answers(&["rustc", "--print", "target-libdir", "--target", &musl])
        .is_some_and(|path| Path::new(path.trim()).is_dir());
    match is_installed && answers(&["musl-gcc", "--version"]).is_some() {
        true => musl,
        false => format!("{machine}-unknown-linux-gnu"),
    }
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

pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (options, parts): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    let names =
        || BENCHES.iter().map(|(name, _)| *name).chain([PEERS, TARGETS, PLUGINS, PROVIDERS]);
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
    let build = ["cargo", "build", "--release", "-p", "opal-cli"];
    if is_required(PEERS) {
        run(root, &build)?;
        crate::peers::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(PLUGINS) {
        crate::peers::plugins::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(PROVIDERS) {
        crate::peers::providers::compare(root, bars, options.contains(&QUICK))?;
    }
    if is_required(TARGETS) {
        provide_targets(root);
        provide_musl(root);
        // As a release is, with the helper in it.
        let helper = static_target(std::env::consts::ARCH);
        run_with(root, &[("OPAL_TARGET_HELPERS", &helper)], &build)?;
        crate::peers::compare_targets(root, bars)?;
    }
    Ok(())
}

/// The tests that count instructions need valgrind, those that open envelopes with another
/// implementation need age, an independent reader of packed plans needs zstd, completion is tested in zsh
/// and fish, and a release is installed with curl and wget. Without them these tests are skipped or fail,
/// so a machine that cannot have them gets a message first.
pub(crate) fn provide(root: &Path, package: &str, question: &[&str]) {
    if answers(question).is_some() {
        return;
    }
    if let Err(message) = install(root, package) {
        say(&format!("{package} is missing: {message}"));
    }
}

fn install(root: &Path, package: &str) -> Result<(), String> {
    let can_install = answers(&["apt-get", "--version"]).is_some()
        && answers(&["id", "-u"]).is_some_and(|user| user.trim() == "0");
    if !can_install {
        return Err("it cannot be installed here (that requires apt-get and root)".to_owned());
    }
    run(root, &["apt-get", "update"])?;
    run(root, &["apt-get", "install", "--yes", package])
}

/// A directory with Ansible's programs, from an environment of our own that stays for the next time.
/// Without it the tests of its driver take what is on the path, or are skipped as above.
fn ansible(root: &Path) -> Option<PathBuf> {
    let folder = format!("target/tools/ansible-core-{ANSIBLE}");
    let found = linked(root, &folder);
    if found.is_some() {
        return found;
    }
    let package = format!("ansible-core=={ANSIBLE}");
    if let Err(message) = pip(root, &folder, &package) {
        let takes = "that requires PyPI, and Python 3.11 or newer";
        say(&format!("{package} cannot be installed ({takes}): {message}"));
    }
    linked(root, &folder)
}

/// The official SDK for agents in Python, which the tests of `opal mcp` use as a client.
fn sdk(root: &Path) {
    const FOLDER: &str = "target/tools/mcp";
    const PACKAGE: &str = "mcp==2.3.0";
    if !root.join(FOLDER).join("bin/mcp").exists()
        && let Err(message) = pip(root, FOLDER, PACKAGE)
    {
        say(&format!("{PACKAGE} is missing: {message}"));
    }
}

/// Installs a package of PyPI into an environment of its own, `folder`.
pub(crate) fn pip(root: &Path, folder: &str, package: &str) -> Result<(), String> {
    let pip = format!("{folder}/bin/pip");
    if !root.join(&pip).exists() {
        let environment = ["python3", "-m", "venv", folder];
        // Debian has this part of Python in a package of its own.
        run(root, &environment)
            .or_else(|_| install(root, "python3-venv").and_then(|()| run(root, &environment)))?;
    }
    run(root, &[&pip, "install", "--quiet", "--disable-pip-version-check", package])
}

/// Links to its programs, where they answer: Python, which is beside them, stays the one of the system.
fn linked(root: &Path, folder: &str) -> Option<PathBuf> {
    let programs = root.join(folder).join("programs");
    std::fs::create_dir_all(&programs).ok()?;
    for name in ["ansible-inventory", "ansible-playbook", "ansible-vault"] {
        let program = root.join(folder).join("bin").join(name);
        answers(&[program.to_str()?, "--version"])?;
        let _ = std::fs::remove_file(programs.join(name));
        std::os::unix::fs::symlink(program, programs.join(name)).ok()?;
    }
    Some(programs)
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
fn run_beside(root: &Path, first: Option<&Path>, line: &[&str]) -> Result<(), String> {
    let mut command = command(&[usual_signals(), line].concat());
    let mut shown = line.join(" ");
    if let Some(first) = first {
        command.env("PATH", before_others(&[first.to_owned()])?);
        shown = format!("PATH={}:$PATH {shown}", first.display());
    }
    finish(root, command, &shown, line[0])
}

fn finish(root: &Path, mut command: Command, shown: &str, program: &str) -> Result<(), String> {
    say(&format!("$ {shown}"));
    let status = command.current_dir(root).status();
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
