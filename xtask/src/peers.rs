//! opal beside its peers on the same tasks: interleaved runs, ratios of their medians.
//!
//! A machine is noisy, and a number of one machine means little on another; a ratio of runs that
//! took turns says something. Peers come from their packages.

use std::fmt::Write as _;
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

/// Compares planning with `just -n`; says which bars are missed.
pub(crate) fn compare(root: &Path, bars: bool) -> Result<(), String> {
    let opal = root.join("target/release/opal");
    let just = just(root)?;
    let mut missed = Vec::new();
    for case in CASES {
        let folder = root.join("target/bench/peers");
        let (commands, justfile) = (case.project)();
        write(&folder, "commands.opl", &commands)?;
        write(&folder, "justfile", &justfile)?;
        let lines: [Vec<&str>; 2] =
            [vec![text(&opal)?, "main", "--dry-run"], vec![text(&just)?, "-n", "main"]];
        let [ours, theirs] = medians(&folder, &lines)?;
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        say(&format!(
            "{:<36} opal --dry-run {:>7.2} ms   just -n {:>7.2} ms   × {ratio:.2} (bar {})",
            case.name,
            ours.as_secs_f64() * 1000.0,
            theirs.as_secs_f64() * 1000.0,
            case.bar
        ));
        if ratio > case.bar {
            missed.push(format!("{}: × {ratio:.2}", case.name));
        }
    }
    if bars && !missed.is_empty() {
        return Err(format!("bars that were missed: {}", missed.join("; ")));
    }
    Ok(())
}

/// `just` from the path, or from its package on PyPI in a folder of our own.
fn just(root: &Path) -> Result<PathBuf, String> {
    if command(&["just", "--version"]).output().is_ok_and(|output| output.status.success()) {
        return Ok(PathBuf::from("just"));
    }
    let folder = root.join("target/bench/python");
    let just = folder.join("bin/just");
    if !just.exists() {
        let pip = folder.join("bin/pip");
        for line in [
            vec!["python3", "-m", "venv", text(&folder)?],
            vec![text(&pip)?, "install", "--quiet", "rust-just"],
        ] {
            say(&format!("$ {}", line.join(" ")));
            let status = command(&line).status().map_err(|error| error.to_string())?;
            if !status.success() {
                return Err(format!("`{}` failed; install just and try again", line.join(" ")));
            }
        }
    }
    Ok(just)
}

/// The medians of runs that take turns, so that a slow moment of the machine hits both.
fn medians(folder: &Path, lines: &[Vec<&str>; 2]) -> Result<[Duration; 2], String> {
    let mut took: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        for (line, took) in lines.iter().zip(&mut took) {
            let start = Instant::now();
            let status = command(line)
                .current_dir(folder)
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
    Ok(took.map(|mut all| {
        all.sort();
        all[all.len() / 2]
    }))
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

#[expect(clippy::disallowed_methods, reason = "a benchmark runs programs and waits for them")]
fn command(line: &[&str]) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]);
    command
}
