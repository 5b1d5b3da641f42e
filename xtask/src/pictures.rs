//! Pictures of opal in a terminal, from real runs: `cargo xtask pictures`.
//!
//! Each `docs/pictures/NAME.txt` is a script. Its commands run in tmux, which is a terminal of the
//! size that the script asks for, and what the terminal shows becomes `NAME-dark.svg` and
//! `NAME-light.svg` beside it.
//!
//! ```text
//! columns: 80
//! rows: 24                  50 without it; a program that fills the terminal needs less
//! === commands.opl          a file of the project, up to `===`
//! fun hello() = echo hello
//! ===
//! ! touch ready             a command that is run and not shown
//! $ opal hello              a command that is shown and run
//! ```
//!
//! A script with the line `page: PATH` is of a page of `opal ui`, which runs after the commands: Chromium takes
//! the pictures, `NAME-dark.png` and `NAME-light.png`. `*` in PATH is the first entry of the list before it.
//!
//! | what | where |
//! |---|---|
//! | the script | [`Script`] |
//! | colours of a terminal to styled text | [`ansi`] |
//! | styled text to a picture | [`svg`] |
//! | pages in a browser | [`page`] |

mod ansi;
mod page;
mod svg;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chores::{answers, command, run};
use crate::say;
use svg::Theme;

/// Where scripts and pictures are.
const FOLDER: &str = "docs/pictures";

/// Where a script runs. Its path can be seen in pictures, so it is the same everywhere.
const PLACE: &str = "/tmp/opal-pictures";

/// Rows of the terminal; what is longer scrolls, and is in the picture all the same.
const ROWS: usize = 50;

/// A server of our own, with no settings of whoever runs this.
const TMUX: [&str; 5] = ["tmux", "-L", "opal-pictures", "-f", "/dev/null"];

/// Makes the pictures of all scripts, or of those that are named.
pub(crate) fn make(root: &Path, names: &[&str]) -> Result<(), String> {
    if answers(&["tmux", "-V"]).is_none() {
        return Err("tmux is missing: install it, as with `apt-get install tmux`".to_owned());
    }
    run(root, &["cargo", "build", "--package", "opal-cli", "--package", "opal-serve"])?;
    let folder = root.join(FOLDER);
    for path in scripts(&folder)? {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if !names.is_empty() && !names.contains(&name.as_str()) {
            continue;
        }
        let text = read(&path)?;
        let script = Script::parse(&text).map_err(|what| format!("{}: {what}", path.display()))?;
        if let Some(page) = script.page {
            let to = |theme: Theme| folder.join(format!("{name}-{}.png", theme.name()));
            let files = [to(Theme::Dark), to(Theme::Light)];
            perform(root, &script, &mut |shown| page::take(root, shown, page, &files))?;
            files.iter().for_each(|path| say(&format!("wrote {}", path.display())));
            continue;
        }
        let mut shown = String::new();
        perform(root, &script, &mut |text| {
            shown = text.to_owned();
            Ok(())
        })?;
        for theme in [Theme::Dark, Theme::Light] {
            let picture = svg::picture(&ansi::lines(&shown), script.columns, theme);
            let path = folder.join(format!("{name}-{}.svg", theme.name()));
            write(&path, &picture)?;
            say(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

fn scripts(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut scripts: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect();
    scripts.sort();
    Ok(scripts)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[derive(Debug, PartialEq, Eq)]
struct Script<'a> {
    columns: usize,
    rows: usize,
    /// Paths and texts.
    files: Vec<(&'a str, String)>,
    commands: Vec<Line<'a>>,
    /// A page of `opal ui` instead of the terminal.
    page: Option<&'a str>,
}

#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Shown(&'a str),
    Hidden(&'a str),
}

impl<'a> Script<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let (files, commands) = (Vec::new(), Vec::new());
        let mut script = Self { columns: 80, rows: ROWS, files, commands, page: None };
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(path) = line.strip_prefix("=== ") {
                let text: String = lines
                    .by_ref()
                    .take_while(|line| *line != "===")
                    .flat_map(|it| [it, "\n"])
                    .collect();
                script.files.push((path, text));
            } else if let Some(columns) = line.strip_prefix("columns: ") {
                let number = columns.parse().ok().filter(|columns| (20..=400).contains(columns));
                script.columns = number.ok_or(format!("`{line}`: expected 20 to 400"))?;
            } else if let Some(rows) = line.strip_prefix("rows: ") {
                let number = rows.parse().ok().filter(|rows| (5..=100).contains(rows));
                script.rows = number.ok_or(format!("`{line}`: expected 5 to 100"))?;
            } else if let Some(page) = line.strip_prefix("page: ") {
                script.page = Some(page);
            } else if let Some(command) = line.strip_prefix("$ ") {
                script.commands.push(Line::Shown(command));
            } else if let Some(command) = line.strip_prefix("! ") {
                script.commands.push(Line::Hidden(command));
            } else if !line.trim().is_empty() && !line.starts_with('#') {
                return Err(format!(
                    "`{line}`: expected `columns: N`, `rows: N`, `page: PATH`, `=== FILE`, `$ …` or `! …`"
                ));
            }
        }
        Ok(script)
    }

    /// What runs in the terminal.
    fn program(&self, root: &Path) -> String {
        let mut program = format!(
            "cd {PLACE}/shop || exit\n\
             export HOME={PLACE} LC_ALL=C.UTF-8 PATH={}/target/debug:/usr/local/bin:/usr/bin:/bin\n\
             unset OPAL_ROOT GITHUB_ACTIONS NO_COLOR\n",
            root.display()
        );
        for (index, line) in self.commands.iter().enumerate() {
            match line {
                Line::Shown(text) => {
                    let gap = if index > 0 && program.contains("printf") { "\\n" } else { "" };
                    let quoted = text.replace('\'', "'\\''");
                    let prompt = format!("{gap}\\033[32m$\\033[0m \\033[1m%s\\033[0m\\n");
                    program.push_str(&format!("printf '{prompt}' '{quoted}'\n{text}\n"));
                }
                Line::Hidden(text) => program.push_str(&format!("{{ {text}; }} >/dev/null 2>&1\n")),
            }
        }
        if self.page.is_some() {
            program.push_str("exec opal ui --no-open\n");
            return program;
        }
        program.push_str(&format!("{} wait-for -S over\nexec sleep 60\n", TMUX.join(" ")));
        program
    }
}

/// Runs a script in a terminal; hands on what that shows at the end, with its colours.
fn perform(
    root: &Path,
    script: &Script<'_>,
    then: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<(), String> {
    let place = Path::new(PLACE);
    if place.exists() {
        return Err(format!("{PLACE} exists: remove it, it is where pictures are made"));
    }
    let _removed = Removed(place);
    let project = place.join("shop");
    for (path, text) in &script.files {
        let path = project.join(path);
        let folder = path.parent().unwrap_or(&project);
        std::fs::create_dir_all(folder).map_err(|it| format!("{}: {it}", folder.display()))?;
        write(&path, text)?;
    }
    let program = place.join("program.sh");
    write(&program, &script.program(root))?;
    let columns = script.columns.to_string();
    let shell = format!("bash {}", program.display());
    // The session ends with the server, whatever happens to it.
    let _ = tmux(&["kill-server"]).output();
    let rows = script.rows.to_string();
    let started = tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, &shell]).status();
    let _ended = Ended;
    started.ok().filter(std::process::ExitStatus::success).ok_or("tmux did not start")?;
    if script.page.is_some() {
        return then(&page::served(&shown)?);
    }
    tmux(&["wait-for", "over"]).status().map_err(|error| format!("tmux: {error}"))?;
    then(&shown()?)
}

/// What the terminal shows.
fn shown() -> Result<String, String> {
    let all = ["capture-pane", "-e", "-p", "-S", "-", "-E", "-"];
    let shown = tmux(&all).output().map_err(|error| format!("tmux: {error}"))?;
    Ok(String::from_utf8_lossy(&shown.stdout).trim_end().to_owned())
}

fn tmux(words: &[&str]) -> Command {
    command(&[&TMUX[..], words].concat())
}

struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0);
    }
}

struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = tmux(&["kill-server"]).output();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_files_and_commands() {
        let text =
            "# why\ncolumns: 100\nrows: 20\n=== a.opl\nfun a() = b\n\n===\n\n! touch x\n$ opal a\n";
        let script = Script::parse(text).unwrap();
        assert_eq!((script.columns, script.rows), (100, 20));
        assert_eq!(script.files, [("a.opl", "fun a() = b\n\n".to_owned())]);
        assert_eq!(script.commands, [Line::Hidden("touch x"), Line::Shown("opal a")]);
        assert_eq!(Script::parse("page: inbox\n").unwrap().page, Some("inbox"));
        assert!(Script::parse("opal a\n").is_err());
        assert!(Script::parse("columns: 5\n").is_err());
        assert!(Script::parse("rows: 500\n").is_err());
    }
}
