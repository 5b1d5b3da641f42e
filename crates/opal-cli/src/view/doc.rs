//! What `opal doc` shows: the tasks as Markdown.

use std::fmt::Write as _;

use super::diagnostics::visible;
use super::list::groups;
use super::print;
use crate::failure::{Exit, Failure};
use crate::tasks::{Task, TaskParam};

/// `opal` are the first words of a command for one of the tasks.
pub(crate) fn markdown(opal: &str, tasks: &[Task]) -> Result<Exit, Failure> {
    print(&document(opal, tasks))
}

fn document(opal: &str, tasks: &[Task]) -> String {
    let mut out = "# Tasks\n".to_owned();
    for (group, members) in groups(tasks) {
        let level = if group.is_empty() { "##" } else { "###" };
        if !group.is_empty() {
            let _ = write!(out, "\n## {}\n", text(group));
        }
        for task in members.into_iter().map(|index| &tasks[index]) {
            let _ = write!(out, "\n{level} {}\n\n", text(&task.name));
            for line in task.docs.lines() {
                let _ = writeln!(out, "{}", text(line));
            }
            if !task.docs.is_empty() {
                out.push('\n');
            }
            let _ = write!(out, "```sh\n{}\n```\n", visible(&task.usage(opal)));
            parameters(&mut out, &task.params);
        }
    }
    out
}

fn parameters(out: &mut String, params: &[TaskParam]) {
    if params.is_empty() {
        return;
    }
    out.push_str("\n| parameter | type | default | |\n|---|---|---|---|\n");
    for param in params {
        let default = match &param.default {
            Some(default) => code(default),
            None if param.rest => "none".to_owned(),
            None => "required".to_owned(),
        };
        let docs = param.docs.as_deref().map(|docs| text(docs).replace('|', "\\|"));
        let name = code(&param.name);
        let ty = code(&param.type_name());
        let _ = writeln!(out, "| {name} | {ty} | {default} | {} |", docs.unwrap_or_default());
    }
}

/// A text in code style, inside a table. A `|` ends a cell there even in code.
fn code(text: &str) -> String {
    let text = visible(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match text.starts_with('`') || text.ends_with('`') {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// A line of documentation, which is Markdown. Only `<` outside code is escaped: `<name>` is a name and
/// not HTML.
fn text(line: &str) -> String {
    let (mut out, mut is_code) = (String::new(), false);
    for c in visible(line).chars() {
        is_code ^= c == '`';
        match c {
            '<' if !is_code => out.push_str("&lt;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_and_cells_stay_cells() {
        assert_eq!(text("see <name> or `<name>`"), "see &lt;name> or `<name>`");
        assert_eq!(code("\"a\" | \"b\""), "`\"a\" \\| \"b\"`");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(text("a\u{1b}[2Jb"), "a␛[2Jb");
    }
}
