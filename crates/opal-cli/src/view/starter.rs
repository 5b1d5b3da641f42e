//! What `opal init` shows.

use std::fmt::Write as _;

use serde_json::json;

use super::ink::Ink;
use super::{print, print_json};
use crate::failure::{Exit, Failure};
use crate::project::DEFAULT_FILE;
use crate::starter::Starter;
use crate::tasks::path_word;
use crate::view::diagnostics::visible;

/// The file that was written, and what else there is to say.
#[derive(Debug)]
pub(crate) struct Written<'w> {
    pub(crate) made: &'w Starter,
    /// Files with tasks of other tools.
    pub(crate) convertible: &'w [String],
    /// The first words of commands to type.
    pub(crate) opal: &'w str,
    /// The file that was used here before.
    pub(crate) above: Option<&'w str>,
}

pub(crate) fn show(written: &Written<'_>, json: bool, ink: Ink) -> Result<Exit, Failure> {
    let Written { made, convertible, opal, above } = written;
    if json {
        return print_json(&json!({
            "version": 1,
            "file": DEFAULT_FILE,
            "tasks": made.tasks,
            "because": made.because,
            "convertible": convertible,
            "above": above,
        }));
    }
    let (bold, dim, reset) =
        if ink.colour { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let what = match made.because.as_slice() {
        [] => "with an example: opal found no project files that it knows".to_owned(),
        files => format!("for {}", files.join(", ")),
    };
    let mut out = format!("Wrote {bold}{DEFAULT_FILE}{reset}, {what}.\n\n");
    for task in &made.tasks {
        let _ = writeln!(out, "    {bold}{task}{reset}");
    }
    let first = made.tasks.first().map_or("", String::as_str);
    let lines = [
        ((*opal).to_owned(), "lists the tasks"),
        (format!("{opal} {first} --dry-run"), "shows what a task would do"),
        (format!("{opal} {first}"), "runs it"),
    ];
    let width = lines.iter().map(|(words, _)| words.len()).max().unwrap_or_default();
    out.push_str("\nNext:\n\n");
    for (words, what) in &lines {
        let _ = writeln!(out, "    {bold}{words:width$}{reset}  {dim}{what}{reset}");
    }
    if !convertible.is_empty() {
        out.push_str("\nTo use the tasks that are already here instead of these:\n\n");
    }
    for name in *convertible {
        let name = visible(&path_word(name));
        let _ = writeln!(out, "    {bold}{opal} convert {name} -o {DEFAULT_FILE} --force{reset}");
    }
    if let Some(above) = above {
        let above = visible(above);
        let _ = writeln!(out, "\nThe tasks of {above} are no longer found here; `-f` names it.");
    }
    print(&out)
}
