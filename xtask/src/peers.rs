//! opal beside its peers on the same tasks: interleaved runs, ratios of their medians.
//!
//! A machine is noisy, and a number of one machine means little on another; a ratio of runs that
//! took turns says something. Peers come from their packages.

mod cached;
pub(crate) mod editor;
mod listing;
mod pages;
pub(crate) mod plugins;
pub(crate) mod pool;
pub(crate) mod providers;
mod running;
pub(crate) mod runs;
mod targets;
mod tools;
mod verify;

pub(crate) use tools::TaskTools;

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::say;

/// One comparison: the same project for both, and the bar for the ratio.
struct Case {
    name: &'static str,
    project: fn() -> (String, String),
    bar: f64,
}

const CASES: [Case; 2] = [
    Case { name: "a file of 20 tasks, one target", project: small, bar: 1.5 },
    Case { name: "a file of 10,000 tasks, one target", project: large, bar: 0.3 },
];

const ROUNDS: usize = 41;

/// Compares planning with `just -n`, running with tools that run tasks, and verifying with dry runs;
/// says which bars are missed.
pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    let opal = installed(root)?;
    let tools = tools::Tools::find(root)?;
    let mut missed = planning(root, &opal, &tools)?;
    missed.extend(listing::compare(root, &opal, &tools)?);
    missed.extend(running::compare(root, &opal, &tools)?);
    missed.extend(verify::compare(root, &opal, &tools, quick)?);
    missed.extend(cached::compare(root, &opal)?);
    judge(bars, &missed)
}

/// Compares steps and resources on targets with the tools that reach them otherwise.
pub(crate) fn compare_targets(root: &Path, bars: bool) -> Result<(), String> {
    let opal = installed(root)?;
    let missed = targets::compare(root, &opal, &tools::Tools::find(root)?)?;
    judge(bars, &missed)
}

fn judge(bars: bool, missed: &[String]) -> Result<(), String> {
    match bars && !missed.is_empty() {
        true => Err(format!("bars that were missed: {}", missed.join("; "))),
        false => Ok(()),
    }
}

/// The binary as it is once it is installed, like its peers: a file that a linker has written bit by bit
/// is read in smaller pieces than a copy of it. Its helpers are beside it.
fn installed(root: &Path) -> Result<PathBuf, String> {
    let (folder, built) = (root.join("target/bench"), root.join("target/release"));
    let copy = |program: &str| std::fs::copy(built.join(program), folder.join(program));
    let made = std::fs::create_dir_all(&folder)
        .and_then(|()| copy("opal-commands"))
        .and_then(|_| copy("opal-extra"))
        .and_then(|_| copy("opal-queue"))
        .and_then(|_| copy("opal-serve"))
        .and_then(|_| copy("opal"));
    made.map_err(|error| format!("cannot copy `opal` into `{}`: {error}", folder.display()))?;
    Ok(folder.join("opal"))
}

fn planning(root: &Path, opal: &Path, tools: &tools::Tools) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/peers");
    let mut missed = Vec::new();
    for case in CASES {
        let (commands, justfile) = (case.project)();
        write(&folder, "commands.opl", &commands)?;
        write(&folder, "justfile", &justfile)?;
        let lines = [
            [text(opal)?, "main", "--dry-run"].map(str::to_owned).to_vec(),
            [text(&tools.just)?, "-n", "main"].map(str::to_owned).to_vec(),
        ];
        let took = medians(&folder, &lines, ROUNDS)?;
        let ratio = took[0].as_secs_f64() / took[1].as_secs_f64();
        say(&format!(
            "{:<36} opal --dry-run {:>7.2} ms   just -n {:>7.2} ms   × {ratio:.2} (bar {})",
            case.name,
            took[0].as_secs_f64() * 1000.0,
            took[1].as_secs_f64() * 1000.0,
            case.bar
        ));
        if ratio > case.bar {
            missed.push(format!("{}: × {ratio:.2}", case.name));
        }
    }
    Ok(missed)
}

/// The medians of runs that take turns, so that a slow moment of the machine hits all. Each round
/// has another order: whatever runs after a large program finds less in the caches.
fn medians(folder: &Path, lines: &[Vec<String>], rounds: usize) -> Result<Vec<Duration>, String> {
    let mut took = vec![Vec::new(); lines.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_cached_key(|at| {
            BuildHasherDefault::<DefaultHasher>::default().hash_one((round, at))
        });
        for at in order {
            let (line, took) = (&lines[at], &mut took[at]);
            let start = Instant::now();
            let status = command(line)
                .current_dir(folder)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .map_err(|error| format!("`{}` did not start: {error}", line[0]))?;
            took.push(start.elapsed());
            if !status.success() {
                return Err(format!("`{}` failed ({status})", line.join(" ")));
            }
        }
    }
    let median = |mut all: Vec<Duration>| {
        all.sort();
        all[all.len() / 2]
    };
    Ok(took.into_iter().map(median).collect())
}

fn small() -> (String, String) {
    project(20)
}

fn large() -> (String, String) {
    project(10_000)
}

/// The same tasks for both.
fn project(count: usize) -> (String, String) {
    let mut opal = String::from("var TAG = \"v1\"\n\n");
    let mut just = String::from("TAG := \"v1\"\n\n");
    for (text, open, close, tag) in
        [(&mut opal, " {", "}\n", "@var.TAG"), (&mut just, ":", "", "{{TAG}}")]
    {
        let function = if close.is_empty() { "" } else { "fun " };
        let call = if close.is_empty() { "" } else { "()" };
        for name in
            std::iter::once("main".to_owned()).chain((1..count).map(|index| format!("task{index}")))
        {
            let _ = writeln!(
                text,
                "{function}{name}{call}{open}\n    docker build --tag app:{tag} .\n    \
                 docker push app:{tag}\n    kubectl apply -f k8s/{name}\n{close}"
            );
        }
    }
    (opal, just)
}

fn write(folder: &Path, name: &str, content: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join(name), content))
        .map_err(|error| format!("`{}` cannot be written: {error}", folder.join(name).display()))
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| "the repository's path is not UTF-8".to_owned())
}

/// A port that a server of a measurement can have.
fn free_port() -> Result<u16, String> {
    let bound = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// What cargo gives to whatever it runs is taken away: a person's shell does not have it, and
/// libraries that every program looks for in cargo's folders first would be most of a small step.
#[expect(clippy::disallowed_methods, reason = "a benchmark runs programs and waits for them")]
fn command(line: &[impl AsRef<str>]) -> Command {
    let mut words = line.iter().map(AsRef::as_ref);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    for (name, _) in std::env::vars_os() {
        let is_cargos = |name: &str| {
            ["CARGO", "LD_LIBRARY_PATH"].contains(&name)
                || ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start))
        };
        if name.to_str().is_some_and(is_cargos) {
            command.env_remove(name);
        }
    }
    command
}
