//! Public task files, converted: how many tasks are exact, adapted and omitted.
//!
//! `cargo xtask convert-corpus DIR` reads `DIR/justfile/*`, `DIR/taskfile/*` and so on: a folder for
//! each format of `opal convert --from`. A folder in it is a project of several files. Public files are
//! never part of this repository; those in `xtask/corpus` are our own. Every result must pass `opal check`
//! and `opal fmt --check`. With `--run`, `compare` starts every exact task in both tools, which are
//! installed where they are missing.

mod compare;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::peers::TaskTools;
use crate::say;

/// The formats, and the share of tasks that may be omitted.
const FORMATS: [&str; 4] = ["justfile", "taskfile", "makefile", "package-json"];
const MOST_OMITTED_PERCENT: usize = 10;

/// What became of the files of a format.
#[derive(Debug, Default)]
struct Count {
    files: usize,
    unreadable: usize,
    exact: usize,
    adapted: usize,
    omitted: usize,
    others: usize,
    compared: compare::Compared,
}

pub(crate) fn measure(root: &Path, arguments: &[&str]) -> Result<(), String> {
    match arguments {
        [folder] => counts(root, Path::new(folder), false).map(drop),
        [folder, "--run"] => counts(root, Path::new(folder), true).map(drop),
        _ => Err("expected a folder, and perhaps `--run`".to_owned()),
    }
}

/// Our own files: every exact task starts the same programs in both tools.
pub(crate) fn own(root: &Path) -> Result<(), String> {
    for (format, count) in counts(root, &root.join("xtask/corpus"), true)? {
        let is_same = count.compared.different() == 0 && count.compared.equal() > 0;
        if count.unreadable > 0 || !is_same {
            return Err(format!("{format}: opal and the other tool do not run the same programs"));
        }
    }
    Ok(())
}

fn counts(root: &Path, folder: &Path, is_run: bool) -> Result<Vec<(&'static str, Count)>, String> {
    let folder =
        folder.canonicalize().map_err(|error| format!("`{}`: {error}", folder.display()))?;
    let opal = build(root)?;
    let tools = if is_run { Some(TaskTools::find(root)?) } else { None };
    let mut all = Vec::new();
    let mut lines = Vec::new();
    let mut wrong = Vec::new();
    for format in FORMATS {
        let folder = folder.join(format);
        if !folder.is_dir() {
            continue;
        }
        let mut count = Count::default();
        for file in files(&folder)? {
            if let Err(message) = convert(&opal, format, &file, tools.as_ref(), &mut count) {
                wrong.push(format!("{}: {message}", file.display()));
            }
        }
        lines.push(row(format, &count));
        let tasks = count.exact + count.adapted + count.omitted;
        let omitted = count.omitted;
        all.push((format, count));
        if omitted * 100 > tasks * MOST_OMITTED_PERCENT {
            wrong.push(format!(
                "{format}: more than {MOST_OMITTED_PERCENT} % of the tasks are omitted"
            ));
        }
    }
    say(
        "| format | files | no tasks, invalid | tasks | exact | adapted | omitted | other parts omitted |",
    );
    say("|---|---|---|---|---|---|---|---|");
    lines.iter().for_each(|(line, _)| say(line));
    if is_run {
        lines.iter().for_each(|(_, line)| say(line));
    }
    match wrong.is_empty() {
        true => Ok(all),
        false => Err(wrong.join("\n")),
    }
}

fn row(format: &str, count: &Count) -> (String, String) {
    let tasks = count.exact + count.adapted + count.omitted;
    let share = |part: usize| match tasks {
        0 => "0".to_owned(),
        _ => format!("{part} ({} %)", (part * 100 + tasks / 2) / tasks),
    };
    let Count { files, unreadable, others, compared, .. } = count;
    let (exact, adapted, omitted) =
        (share(count.exact), share(count.adapted), share(count.omitted));
    let line = format!(
        "| {format} | {files} | {unreadable} | {tasks} | {exact} | {adapted} | {omitted} | {others} |"
    );
    (line, format!("{format}: {compared}"))
}

/// The binary of this tree.
#[expect(clippy::disallowed_methods, reason = "a chore starts programs")]
fn build(root: &Path) -> Result<PathBuf, String> {
    let built = Command::new("cargo")
        .args(["build", "--quiet", "-p", "opal-cli", "--bins"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("`cargo`: {error}"))?;
    match built.success() {
        true => Ok(root.join("target/debug/opal")),
        false => Err("opal does not build".to_owned()),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let found =
        std::fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        found.flatten().map(|it| it.path()).filter(|it| it.is_file() || it.is_dir()).collect();
    files.sort();
    Ok(files)
}

#[expect(clippy::disallowed_methods, reason = "a chore starts programs")]
fn run(program: &Path, arguments: &[&str], folder: &Path) -> Result<Output, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().map_err(|error| format!("`{}`: {error}", program.display()))
}

fn convert(
    opal: &Path,
    format: &str,
    file: &Path,
    tools: Option<&TaskTools>,
    count: &mut Count,
) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("opal-corpus-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    count.files += 1;
    let file = match file.is_dir() {
        true => {
            copy(file, &folder)?;
            let name = compare::file_name(format).ok_or("this format has no projects")?;
            folder.join(name)
        }
        false => file.to_owned(),
    };
    let file = file.to_string_lossy();
    let converted =
        run(opal, &["convert", "--from", format, &file, "-o", "commands.opl", "--json"], &folder)?;
    match converted.status.code() {
        Some(0 | 1) => {}
        Some(2) => {
            count.unreadable += 1;
            return Ok(());
        }
        _ => return Err(format!("`opal convert` ended with {}", converted.status)),
    }
    let report = String::from_utf8_lossy(&converted.stdout).into_owned();
    let tasks = tasks(&report);
    for task in &tasks {
        let counted = match (task.is_task, task.outcome.as_str()) {
            (false, _) => &mut count.others,
            (true, "exact") => &mut count.exact,
            (true, "adapted") => &mut count.adapted,
            _ => &mut count.omitted,
        };
        *counted += 1;
    }
    imported(&folder)?;
    for arguments in [["check", "commands.opl"].as_slice(), &["fmt", "--check", "commands.opl"]] {
        let checked = run(opal, arguments, &folder)?;
        if !checked.status.success() {
            let said = String::from_utf8_lossy(&checked.stdout).into_owned();
            let first = said.lines().find(|line| line.starts_with("error")).unwrap_or_default();
            return Err(format!("`opal {}`: {first}", arguments.join(" ")));
        }
    }
    if let Some(tools) = tools {
        let exact = tasks.iter().filter(|it| it.is_task && it.outcome == "exact");
        let tool = compare::tool(format, tools);
        let file = Path::new(&*file);
        compare::compare(opal, tool, file, &folder, exact, &mut count.compared)?;
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

/// Files of variables that must be there, in the project and in the result, are there.
fn imported(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let source = std::fs::read_to_string(folder.join("commands.opl")).map_err(failed)?;
    for path in source.lines().filter_map(|it| it.strip_prefix("import \"")) {
        let path = folder.join(path.trim_end_matches('"'));
        if !path.exists() {
            let parent = path.parent().ok_or("an import without a directory")?;
            std::fs::create_dir_all(parent).map_err(failed)?;
            std::fs::write(&path, "").map_err(failed)?;
        }
    }
    Ok(())
}

/// The files of a folder, and those in its folders.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}`: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target)?,
            false => drop(std::fs::copy(&path, &target).map_err(failed)?),
        }
    }
    Ok(())
}

/// A line of the report.
#[derive(Debug, Default)]
struct Task {
    name: String,
    function: String,
    outcome: String,
    is_task: bool,
}

/// The members of `tasks`: opal prints one on each line, in the order of their names.
fn tasks(report: &str) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut task = Task::default();
    for line in report.lines() {
        let Some((key, value)) = line.trim().strip_prefix('"').and_then(|it| it.split_once("\": "))
        else {
            continue;
        };
        let value = value.trim_end_matches(',').trim_matches('"').to_owned();
        match key {
            "function" => task.function = value,
            "kind" => task.is_task = value == "task",
            "name" => task.name = value,
            "outcome" => {
                task.outcome = value;
                tasks.push(std::mem::take(&mut task));
            }
            _ => {}
        }
    }
    tasks
}
