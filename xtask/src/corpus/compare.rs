//! An exact task starts the same programs in both tools.
//!
//! Both run in an empty directory, as a user who owns nothing, without a network, and with nothing in
//! PATH but two shells and recorders: a script under each word of the file, which writes its name, its
//! directory and its arguments to a log, and prints a word.

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Task;
use crate::peers::TaskTools;

const RECORDER: &str = "#!/bin/sh
line=\"${0##*/}|$PWD\"
for argument; do line=\"$line|$argument\"; done
printf '%s\\n' \"$line\" >> \"$LOG\"
printf 'word\\n'
";
const NOBODY: &str = "65534";
/// Words of a file that get a recorder.
const MAX_WORDS: usize = 2_000;

/// What a shell does itself, and a tool may start as a program.
const BUILTINS: [&str; 10] =
    ["echo", "false", "kill", "printf", "pwd", "read", "test", "true", "type", "wait"];

/// How many tasks of a format behaved the same.
#[derive(Debug, Default)]
pub(super) struct Compared {
    equal: usize,
    /// The other tool started no program, or only some that compute values.
    silent: usize,
    different: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { equal, silent, different } = self;
        write!(
            f,
            "{equal} exact tasks started the same programs in both tools, {silent} started none, "
        )?;
        write!(f, "{} were different", different.len())?;
        different.iter().try_for_each(|task| write!(f, "\n  {task}"))
    }
}

impl Compared {
    pub(super) fn equal(&self) -> usize {
        self.equal
    }

    pub(super) fn different(&self) -> usize {
        self.different.len()
    }
}

/// The other tool: its program, the name of its file, and the arguments before the name of a task.
pub(super) struct Tool {
    program: PathBuf,
    file: &'static str,
    arguments: &'static [&'static str],
}

pub(super) fn compare<'t>(
    opal: &Path,
    tool: Option<Tool>,
    file: &Path,
    folder: &Path,
    tasks: impl Iterator<Item = &'t Task>,
    compared: &mut Compared,
) -> Result<(), String> {
    let Some(Tool { program: tool, file: name, arguments }) = tool else { return Ok(()) };
    let mut text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    match file.parent() == Some(folder) {
        true => texts(folder, &mut text),
        false => std::fs::write(folder.join(name), &text).map_err(|error| error.to_string())?,
    }
    let machine = Machine::new(folder, &text)?;
    let converted = std::fs::read_to_string(folder.join("commands.opl")).unwrap_or_default();
    let tasks: Vec<&Task> = tasks.collect();
    for task in &tasks {
        if !runs_only(&task.function, &tasks, &converted) {
            continue;
        }
        let (other, _) = machine.log(&tool, &[arguments, &[task.name.as_str()]].concat())?;
        let calls_itself =
            |line: &String| ["just|", "task|", "make|"].iter().any(|it| line.starts_with(it));
        if other.iter().any(calls_itself) {
            continue;
        }
        let (ours, said) = machine.log(opal, &["--yes", "run", &task.function])?;
        if other.is_empty() || ours.is_empty() && reads_values(&text) {
            compared.silent += 1;
        } else if other == ours || reads_values(&text) && is_part(&ours, &other) {
            compared.equal += 1;
        } else {
            let place = format!("{}: {}", file.display(), task.name);
            let said = said.lines().find(|line| line.starts_with("error")).unwrap_or_default();
            let logs = format!(
                "other tool: {other:?}
    opal:       {ours:?} {said}"
            );
            compared.different.push(format!(
                "{place}
    {logs}"
            ));
        }
    }
    Ok(())
}

/// The texts of all files of a project.
fn texts(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => texts(&path, into),
            false => into.push_str(&std::fs::read_to_string(&path).unwrap_or_default()),
        }
    }
}

/// Whether everything that a function calls is exact too.
fn runs_only(function: &str, exact: &[&Task], converted: &str) -> bool {
    let mut open = vec![function.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !exact.iter().any(|it| it.function == name) {
            return false;
        }
        let head = format!("\nfun {name}(");
        if !seen.insert(name) {
            continue;
        }
        let body = converted.split_once(&head).map_or("", |(_, rest)| rest);
        let body = body.split_once("\n}\n").map_or(body, |(body, _)| body);
        for mark in ["@needs.", "@cmd."] {
            let calls = body.split(mark).skip(1).filter_map(|it| it.split_once('('));
            open.extend(calls.map(|(name, _)| name.to_owned()));
        }
    }
    true
}

/// Whether commands of the file compute values. The other tool runs all of them, opal those that the
/// task uses.
fn reads_values(text: &str) -> bool {
    ["`", "$(shell", "sh:"].iter().any(|mark| text.contains(mark))
}

/// Whether every line is among those of the other log. Both are sorted.
fn is_part(ours: &[String], other: &[String]) -> bool {
    let mut rest = other.iter();
    ours.iter().all(|line| rest.any(|it| it == line))
}

/// A line without what is different in each run: the file of a script.
fn plain(line: &str) -> String {
    let is_script = |word: &&str| {
        word.starts_with("/tmp/just-") || word.starts_with("/tmp/opal-") && !word.contains("corpus")
    };
    let words = line.split('|').map(|it| if is_script(&it) { "SCRIPT" } else { it });
    let words: Vec<&str> = words.collect();
    words.join("|")
}

/// The name of the file of a format.
pub(super) fn file_name(format: &str) -> Option<&'static str> {
    match format {
        "justfile" => Some("justfile"),
        "taskfile" => Some("Taskfile.yml"),
        "makefile" => Some("Makefile"),
        _ => None,
    }
}

/// The tool of a format; none for those that are not compared.
pub(super) fn tool(format: &str, tools: &TaskTools) -> Option<Tool> {
    let (program, arguments): (_, &'static [&'static str]) = match format {
        "justfile" => (&tools.just, &["--yes"]),
        "taskfile" => (&tools.task, &["--yes"]),
        "makefile" => (&tools.make, &["--always-make"]),
        _ => return None,
    };
    Some(Tool { program: program.clone(), file: file_name(format)?, arguments })
}

struct Machine<'m> {
    folder: &'m Path,
}

impl<'m> Machine<'m> {
    #[expect(clippy::disallowed_methods, reason = "a chore starts programs")]
    fn new(folder: &'m Path, text: &str) -> Result<Self, String> {
        let bin = folder.join("bin");
        let failed = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&bin).map_err(failed)?;
        std::fs::write(bin.join("recorder"), RECORDER).map_err(failed)?;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join("recorder"), executable).map_err(failed)?;
        let is_builtin = |word: &&str| BUILTINS.contains(word);
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
        let words: BTreeSet<&str> =
            text.split(|c| !is_word(c)).filter(|it| it.len() > 1 && it.len() < 60).collect();
        for word in
            words.into_iter().filter(|it| !it.starts_with('.') && !is_builtin(it)).take(MAX_WORDS)
        {
            let _ = symlink("recorder", bin.join(word));
        }
        for shell in ["sh", "bash"] {
            let _ = std::fs::remove_file(bin.join(shell));
            symlink(Path::new("/bin").join(shell), bin.join(shell)).map_err(failed)?;
        }
        let owned =
            Command::new("chown").args(["-R", NOBODY]).arg(folder).status().map_err(failed)?;
        match owned.success() {
            true => Ok(Self { folder }),
            false => {
                Err("`--run` needs root, to run the tasks as a user who owns nothing".to_owned())
            }
        }
    }

    /// What the programs that a task starts have written, sorted: those of a pipe start at once. And
    /// what the tool said.
    #[expect(clippy::disallowed_methods, reason = "a chore starts programs")]
    fn log(&self, program: &Path, arguments: &[&str]) -> Result<(Vec<String>, String), String> {
        let log = self.folder.join("log");
        let _ = std::fs::remove_file(&log);
        let mut command = Command::new("timeout");
        command.args([
            "20",
            "unshare",
            "--net",
            "setpriv",
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
        ]);
        command.arg("env").arg("-i");
        command.arg(format!("PATH={}", self.folder.join("bin").display()));
        command.arg(format!("HOME={}", self.folder.display()));
        command.arg(format!("LOG={}", log.display()));
        command.arg("LC_ALL=C.UTF-8").arg(program).args(arguments);
        command.current_dir(self.folder).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("`timeout`: {error}"))?;
        let text = std::fs::read(&log).unwrap_or_default();
        let mut lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(plain).collect();
        lines.sort();
        Ok((lines, String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}
