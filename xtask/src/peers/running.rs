//! Running the same work: start-up, many small steps, steps in parallel, much output, memory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::tools::Tools;
use super::{command, medians, text, write};
use crate::say;

/// The same project for every tool, and the bar for opal beside just.
struct Case {
    name: &'static str,
    rounds: usize,
    steps: Steps,
    bar: f64,
}

/// What a project consists of.
enum Steps {
    InOrder {
        count: usize,
        command: &'static str,
    },
    /// So many at a time.
    Beside {
        count: usize,
        most: usize,
        command: &'static str,
    },
}

const CASES: [Case; 5] = [
    Case {
        name: "one step of `true`",
        rounds: 301,
        steps: Steps::InOrder { count: 1, command: "true" },
        bar: 1.1,
    },
    Case {
        name: "1,000 steps of `true`",
        rounds: 7,
        steps: Steps::InOrder { count: 1_000, command: "true" },
        bar: 0.6,
    },
    Case {
        name: "1,000 steps of `echo`",
        rounds: 7,
        steps: Steps::InOrder { count: 1_000, command: "echo hello" },
        bar: 0.6,
    },
    Case {
        name: "1,000 steps of `/bin/true`",
        rounds: 7,
        steps: Steps::InOrder { count: 1_000, command: "/bin/true" },
        bar: 0.5,
    },
    Case {
        name: "200 steps of `sleep 0.05`, 50 in parallel",
        rounds: 9,
        steps: Steps::Beside { count: 200, most: 50, command: "sleep 0.05" },
        bar: 1.02,
    },
];

const OUTPUT_MEGABYTES: usize = 200;

/// Output beside `cat` through a pipe: how many secrets are known, and the bar.
const OUTPUTS: [(usize, f64); 2] = [(0, 1.5), (10, 5.0)];

/// Peak memory of opal, in kilobytes: for one task, which is the first case, and for everything
/// measured here.
const MEMORY: (u64, u64) = (8_192, 20_480);

/// Says how long each tool takes; gives the bars that are missed.
pub(super) fn compare(root: &Path, opal: &Path, tools: &Tools) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/running");
    let mut missed = Vec::new();
    let mut memory = 0;
    for (index, case) in CASES.iter().enumerate() {
        project(&folder, &case.steps)?;
        let mut lines = vec![opal_line(opal, &folder)?];
        lines.extend(tools.lines(&folder)?);
        let medians = medians(&folder, &lines, case.rounds)?;
        let just = lines.iter().position(|line| line[0].ends_with("just"));
        let ratio = just.map(|at| medians[0].as_secs_f64() / medians[at].as_secs_f64());
        let mut row = format!("{:<38}", case.name);
        for (line, took) in lines.iter().zip(&medians) {
            let name = Path::new(&line[0]).file_name().unwrap_or_default().to_string_lossy();
            let _ = write!(row, " {name} {:.2} ms ", took.as_secs_f64() * 1000.0);
        }
        if let Some(ratio) = ratio {
            let _ = write!(row, " × {ratio:.2} of just (bar {})", case.bar);
            if ratio > case.bar {
                missed.push(format!("{}: × {ratio:.2}", case.name));
            }
        }
        say(&row);
        let peak = peak(&folder, &lines[0])?;
        if index == 0 {
            say(&format!("peak memory of one task: {peak} kB (bar {} kB)", MEMORY.0));
            if peak > MEMORY.0 {
                missed.push(format!("peak memory of one task: {peak} kB"));
            }
        }
        memory = memory.max(peak);
    }
    memory = memory.max(output(opal, &folder, &mut missed)?);
    say(&format!("peak memory of opal: {memory} kB (bar {} kB)", MEMORY.1));
    if memory > MEMORY.1 {
        missed.push(format!("peak memory: {memory} kB"));
    }
    Ok(missed)
}

/// A large file through a step, beside `cat` through a pipe; the peak memory.
fn output(opal: &Path, folder: &Path, missed: &mut Vec<String>) -> Result<u64, String> {
    let line = "2026-01-31T14:05:00Z INFO  request 4711 took 12ms path=/api/v1/orders status=200\n";
    write(folder, "large.log", &line.repeat(OUTPUT_MEGABYTES * 1_000_000 / line.len()))?;
    let mut memory = 0;
    for (secrets, bar) in OUTPUTS {
        let mut source = String::from("fun main() {\n");
        for index in 0..secrets {
            let _ = writeln!(source, "    @environ(S{index}=@env.SECRET_{index}) {{ true }}");
        }
        source.push_str("    cat large.log\n}\n");
        write(folder, "commands.opl", &source)?;
        let mut ours = vec!["env".to_owned()];
        ours.extend(
            (0..secrets).map(|index| format!("SECRET_{index}=correct-horse-{index}-battery")),
        );
        ours.extend(opal_line(opal, folder)?);
        let theirs = ["sh", "-c", "cat large.log | cat"].map(str::to_owned).to_vec();
        let medians = medians(folder, &[ours.clone(), theirs], 7)?;
        let ratio = medians[0].as_secs_f64() / medians[1].as_secs_f64();
        say(&format!(
            "{OUTPUT_MEGABYTES} MB of output, {secrets} secrets           opal {:.0} ms   cat {:.0} ms   × {ratio:.2} (bar {bar})",
            medians[0].as_secs_f64() * 1000.0,
            medians[1].as_secs_f64() * 1000.0,
        ));
        if ratio > bar {
            missed.push(format!("output with {secrets} secrets: × {ratio:.2}"));
        }
        memory = memory.max(peak(folder, &ours)?);
    }
    Ok(memory)
}

fn opal_line(opal: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let root = folder.join("root");
    Ok([text(opal)?, "--root", text(&root)?, "main"].map(str::to_owned).to_vec())
}

/// What opal says about its own memory, in kilobytes.
pub(super) fn peak(folder: &Path, line: &[String]) -> Result<u64, String> {
    let mut line = line.to_vec();
    line.push("--telemetry=basic".to_owned());
    let output = command(&line).current_dir(folder).output().map_err(|error| error.to_string())?;
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = reported.lines().find_map(|line| {
        let words = line.trim().strip_prefix("peak memory")?;
        words.trim().strip_suffix("kB")?.trim().parse().ok()
    });
    found.ok_or_else(|| format!("opal does not report its memory:\n{reported}"))
}

/// The files of all tools.
fn project(folder: &Path, steps: &Steps) -> Result<(), String> {
    let (count, command) = match steps {
        Steps::InOrder { count, command } | Steps::Beside { count, command, .. } => {
            (count, command)
        }
    };
    let repeat = |before: &str, after: &str| format!("{before}{command}{after}\n").repeat(*count);
    let [opal, just, make, task, mise, bash] = match steps {
        Steps::InOrder { .. } => [
            format!("fun main() {{\n{}}}\n", repeat("    ", "")),
            format!("main:\n{}", repeat("    @", "")),
            format!("main:\n{}", repeat("\t@", "")),
            format!(
                "version: '3'\ntasks:\n  main:\n    silent: true\n    cmds:\n{}",
                repeat("      - '", "'")
            ),
            format!("[tasks.main]\nquiet = true\nrun = [\n{}]\n", repeat("  \"", "\",")),
            repeat("", ""),
        ],
        Steps::Beside { most, .. } => beside(*count, *most, command),
    };
    let files: [(&str, &String); 6] = [
        ("commands.opl", &opal),
        ("justfile", &just),
        ("Makefile", &make),
        ("Taskfile.yml", &task),
        ("mise.toml", &mise),
        ("main.sh", &bash),
    ];
    files.into_iter().try_for_each(|(name, content)| write(folder, name, content))
}

/// Tools without a limit of their own get waves of as many.
fn beside(count: usize, most: usize, command: &str) -> [String; 6] {
    let waves: Vec<Vec<usize>> =
        (0..count).collect::<Vec<_>>().chunks(most).map(<[usize]>::to_vec).collect();
    let mut just = String::new();
    let mut task = String::from("version: '3'\ntasks:\n");
    let mut bash = String::new();
    for (wave, members) in waves.iter().enumerate() {
        let names: Vec<String> = members.iter().map(|member| format!("s{member}")).collect();
        let _ = writeln!(just, "[parallel]\nw{wave}: {}\n", names.join(" "));
        let _ = writeln!(task, "  w{wave}:\n    deps: [{}]", names.join(", "));
        for name in &names {
            let _ = writeln!(just, "{name}:\n    @{command}\n");
            let _ = writeln!(task, "  {name}:\n    silent: true\n    cmds: ['{command}']");
            let _ = writeln!(bash, "{command} &");
        }
        bash.push_str("wait\n");
    }
    let names: Vec<String> = (0..waves.len()).map(|wave| format!("w{wave}")).collect();
    let just = format!("main: {}\n\n{just}", names.join(" "));
    let calls: String = names.iter().map(|name| format!("      - task: {name}\n")).collect();
    let task = format!("{task}  main:\n    cmds:\n{calls}");
    let all: Vec<String> = (0..count).map(|member| format!("s{member}")).collect();
    let make = format!("main: {}\ns%:\n\t@{command}\n.PHONY: main\n", all.join(" "));
    let tasks: String = all
        .iter()
        .map(|name| format!("[tasks.{name}]\nquiet = true\nrun = \"{command}\"\n"))
        .collect();
    let quoted: Vec<String> = all.iter().map(|name| format!("\"{name}\"")).collect();
    let mise = format!("{tasks}[tasks.main]\ndepends = [{}]\n", quoted.join(", "));
    let opal = format!(
        "fun main() {{\n    @parallel(max={most}) {{\n        for i in 1...{count} {{\n            \
         {command}\n        }}\n    }}\n}}\n"
    );
    [opal, just, make, task, mise, bash]
}

/// Where a tool's programs are kept.
pub(super) fn folder(root: &Path) -> PathBuf {
    root.join("target/bench")
}
