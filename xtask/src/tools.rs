//! What the tests and benchmarks need that a machine may lack: programs, compilers and servers, installed
//! as far as they can be.

use std::path::{Path, PathBuf};

use crate::chores::{answers, run};
use crate::say;

/// The Ansible that the tests of its driver are written for.
const ANSIBLE: &str = "2.19.14";

/// Packages of Debian that tests use, each with a program of it. The tests that count instructions need
/// valgrind, those that open envelopes with another implementation need age, an independent reader of packed
/// plans needs zstd, completion is tested in zsh and fish, and a release is installed with curl and wget.
const PACKAGES: [(&str, &str); 25] = [
    ("valgrind", "valgrind"),
    ("age", "age"),
    ("zstd", "zstd"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("curl", "curl"),
    ("wget", "wget"),
    // The login shells and programs that are on the way to a target.
    ("tcsh", "/usr/bin/tcsh"),
    ("mksh", "/bin/mksh"),
    ("sudo", "/usr/bin/sudo"),
    ("opendoas", "/usr/bin/doas"),
    ("openssl", "/usr/bin/openssl"),
    ("openssh-client", "/usr/bin/ssh-keygen"),
    ("neovim", "/usr/bin/nvim"),
    ("emacs-nox", "/usr/bin/emacs"),
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
    // The queue of `opal dispatch`, and a clock that is wrong.
    ("nats-server", "/usr/sbin/nats-server"),
    ("faketime", "/usr/bin/faketime"),
];

/// Servers and engines that targets are reached by.
const FOR_TARGETS: [(&str, &str); 4] = [
    ("openssh-server", "/usr/sbin/sshd"),
    ("busybox", "/bin/busybox"),
    ("podman", "/usr/bin/podman"),
    ("runc", "/usr/sbin/runc"),
];

/// What the tests need that a machine may lack, as far as it can be installed. Answers where the programs of
/// Ansible are.
pub(crate) fn provide_all(root: &Path) -> Option<PathBuf> {
    provide(root, &[&PACKAGES[..], &FOR_TARGETS].concat());
    provide_rust(root, GUESTS);
    crate::providers::provide(root);
    crate::guests::provide(root);
    provide_packages(root, &FOR_TESTS);
    crate::grammars::provide(root);
    ansible(root)
}

pub(crate) fn provide_targets(root: &Path) {
    provide(root, &FOR_TARGETS);
}

/// What releases and target helpers are built with, as far as it can be installed.
pub(crate) fn provide_musl(root: &Path) {
    provide(root, &[("musl-tools", "musl-gcc")]);
    provide_rust(root, &musl(std::env::consts::ARCH));
}

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

/// Installs the packages whose program is missing. Without some of them tests are skipped, without others they
/// fail, so a machine that cannot have them gets a message first.
pub(crate) fn provide(root: &Path, packages: &[(&str, &str)]) {
    let is_missing = |program: &str| !is_there(program);
    let missing: Vec<&str> = (packages.iter())
        .filter(|(_, program)| is_missing(program))
        .map(|(package, _)| *package)
        .collect();
    if missing.is_empty() {
        return;
    }
    if let Err(message) = install(root, &missing) {
        say(&format!("missing: {}: {message}", missing.join(", ")));
    }
}

/// A path, or a name that may be anywhere on the path.
fn is_there(program: &str) -> bool {
    if program.starts_with('/') {
        return Path::new(program).is_file();
    }
    answers(&["which", program]).is_some()
}

fn install(root: &Path, packages: &[&str]) -> Result<(), String> {
    let can_install = answers(&["apt-get", "--version"]).is_some()
        && answers(&["id", "-u"]).is_some_and(|user| user.trim() == "0");
    if !can_install {
        return Err("that requires apt-get and root".to_owned());
    }
    run(root, &["apt-get", "update"])?;
    run(root, &[&["apt-get", "install", "--yes"], packages].concat())
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

/// A package of PyPI, the directory of its environment, and what Python imports of it.
type Package = (&'static str, &'static str, &'static str);

/// The official SDK for agents, a client of `opal mcp`; the official messages of OpenTelemetry, which decode what
/// `--otlp` sends; a database that runs are imported into.
const FOR_TESTS: [Package; 3] = [
    ("mcp==2.3.0", "target/tools/mcp", "mcp"),
    ("opentelemetry-proto==1.45.2", "target/tools/otlp", "opentelemetry.proto.trace.v1.trace_pb2"),
    ("duckdb==2.0.0", "target/tools/duckdb", "duckdb"),
];

/// ClickHouse in a process: 800 MB.
const FOR_LONG_TESTS: [Package; 1] = [("chdb==4.4.0", "target/tools/clickhouse", "chdb")];

/// The inspector of the Model Context Protocol, another client of `opal mcp`, and the Node that it needs: of npm.
const INSPECTOR: [(&str, &str); 2] = [
    ("@modelcontextprotocol/inspector@2.12.0", "node_modules/.bin/mcp-inspector"),
    ("node@24.21.0", "node_modules/.bin/node"),
];

/// What only the long tests use.
pub(crate) fn provide_long(root: &Path) {
    provide_packages(root, &FOR_LONG_TESTS);
    provide(root, &[("npm", "npm")]);
    provide_node(root, "target/tools/inspector", &INSPECTOR);
}

/// Packages of npm, each with a file of it.
pub(crate) fn provide_node(root: &Path, folder: &str, packages: &[(&str, &str)]) {
    let is_there = |file: &str| root.join(folder).join(file).exists();
    for (package, _) in packages.iter().filter(|(_, file)| !is_there(file)) {
        let line = ["npm", "install", "--silent", "--prefix", folder, package];
        if let Err(message) = run(root, &line) {
            say(&format!("{package} is missing: {message}"));
        }
    }
}

fn provide_packages(root: &Path, packages: &[Package]) {
    for (package, folder, module) in packages {
        let python = root.join(folder).join("bin/python");
        let imports = format!("import {module}");
        let is_there = python.to_str().is_some_and(|it| answers(&[it, "-c", &imports]).is_some());
        if !is_there && let Err(message) = pip(root, folder, package) {
            say(&format!("{package} is missing: {message}"));
        }
    }
}

/// Installs a package of PyPI into an environment of its own, `folder`.
pub(crate) fn pip(root: &Path, folder: &str, package: &str) -> Result<(), String> {
    let pip = format!("{folder}/bin/pip");
    if !root.join(&pip).exists() {
        let environment = ["python3", "-m", "venv", folder];
        // Debian has this part of Python in a package of its own.
        run(root, &environment)
            .or_else(|_| install(root, &["python3-venv"]).and_then(|()| run(root, &environment)))?;
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
