//! What `opal list` and bare `opal` show.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opal_core::message::counted;
use opal_ops::source::Loaded;
use serde_json::json;

use super::diagnostics::visible;
use super::ink::Ink;
use super::{print, print_json, say};
use crate::failure::{Exit, Failure};
use crate::project::DEFAULT_FILE;
use crate::tasks::{Task, TaskParam, path_word};

/// `opal` are the first words of a command for one of the tasks.
pub(crate) fn human(file: &str, opal: &str, tasks: &[Task], ink: Ink) -> Result<Exit, Failure> {
    let file = visible(file);
    let (bold, dim, reset) =
        if ink.colour { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    if tasks.is_empty() {
        return print(&format!(
            "{file} has no tasks yet. A task is a function:\n\n    fun hello() = echo hello\n"
        ));
    }
    let forms: Vec<String> =
        tasks.iter().map(|task| task.name.clone() + &task.signature()).collect();
    let width =
        forms.iter().map(|form| form.chars().count()).filter(|w| *w <= 40).max().unwrap_or(0);
    let mut out = format!("{bold}Tasks{reset} in {file}\n");
    for (group, members) in groups(tasks) {
        out.push('\n');
        if !group.is_empty() {
            let _ = writeln!(out, "  {bold}{}{reset}", visible(group));
        }
        for index in members {
            let (task, form) = (&tasks[index], &forms[index]);
            let pad = width.saturating_sub(form.chars().count());
            let rest = form.strip_prefix(task.name.as_str()).unwrap_or_default();
            let mut line = format!("    {bold}{}{reset}{rest}{:pad$}", task.name, "");
            if !task.summary().is_empty() {
                let _ = write!(line, "  {dim}# {}{reset}", visible(task.summary()));
            }
            if task.is_reserved() {
                let _ =
                    write!(line, "  {dim}(run it with: {}){reset}", visible(&task.command(opal)));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    let _ =
        writeln!(out, "\n{dim}{} TASK -h shows the parameters of a task.{reset}", visible(opal));
    print(&out)
}

/// What a task is grouped by: its heading, or else what related names begin with.
fn key(task: &Task) -> (bool, &str) {
    match task.group.as_deref() {
        Some(heading) => (true, heading),
        None => (false, task.prefix()),
    }
}

/// Tasks under one heading are together. So are, without one, those that share a namespace or the part
/// before their first `-`, if there are several; the others are before them.
pub(super) fn groups(tasks: &[Task]) -> Vec<(&str, Vec<usize>)> {
    let mut alike: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        alike.entry(key(task)).or_default().push(index);
    }
    let mut groups: Vec<(&str, Vec<usize>)> = vec![("", Vec::new())];
    for (index, task) in tasks.iter().enumerate() {
        let (is_heading, name) = key(task);
        let members = &alike[&(is_heading, name)];
        if members.len() == 1 && !is_heading {
            groups[0].1.push(index);
        } else if members[0] == index {
            groups.push((name, members.clone()));
        }
    }
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

pub(crate) fn json(file: &Loaded, tasks: &[Task]) -> Result<Exit, Failure> {
    let lines = file.lines();
    let places: Vec<(&str, u32)> = tasks.iter().map(|task| lines.of(task.offset)).collect();
    json_at(&file.name, tasks, &places)
}

/// The same, with the file and the line of each task.
pub(crate) fn json_at(
    source: &str,
    tasks: &[Task],
    places: &[(&str, u32)],
) -> Result<Exit, Failure> {
    let all = groups(tasks);
    let group_of = |index: usize| {
        all.iter().find(|(_, members)| members.contains(&index)).map_or("", |(group, _)| group)
    };
    let tasks: Vec<serde_json::Value> = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| {
            json!({
                "name": task.name,
                "summary": task.summary(),
                "docs": task.docs,
                "group": group_of(index),
                "line": places[index].1,
                "private": task.is_private(),
                "reserved": task.is_reserved(),
                "params": task.params.iter().map(param_json).collect::<Vec<_>>(),
                "file": places[index].0,
                "namespace": task.namespace,
            })
        })
        .collect();
    print_json(&json!({"version": 1, "file": source, "tasks": tasks}))
}

fn param_json(param: &TaskParam) -> serde_json::Value {
    let mut document = json!({
        "name": param.name,
        "type": param.type_name(),
        "required": param.default.is_none() && !param.rest,
        "rest": param.rest,
    });
    if let Some(default) = &param.default {
        document["default"] = json!(default);
    }
    if let Some(docs) = &param.docs {
        document["docs"] = json!(docs);
    }
    if !param.choices.is_empty() {
        document["choices"] = json!(param.choices);
    }
    document
}

/// What is listed may not be all.
pub(crate) fn warn_broken(file: &str, errors: usize, check: &str) {
    say(&format!("warning: {}\n", broken(file, errors, check)));
}

/// `check` is the command that shows the errors.
pub(crate) fn broken(file: &str, errors: usize, check: &str) -> String {
    let (file, errors) = (visible(file), counted(errors, "syntax error"));
    format!("{file} has {errors}, so tasks may be missing: see `{}`", visible(check))
}

/// `convertible` is a file here that has tasks of another tool.
pub(crate) fn how_to_start(convertible: Option<&str>, ink: Ink) -> Result<Exit, Failure> {
    let (bold, reset) = if ink.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let convert = convertible.map_or(String::new(), |name| {
        format!(
            "{bold}opal convert {} -o {DEFAULT_FILE}{reset} converts the tasks of that file.\n",
            visible(&path_word(name))
        )
    });
    print(&format!(
        "No {bold}{DEFAULT_FILE}{reset} here or in a parent directory.\n\n{convert}\
         {bold}opal init{reset} writes one, with tasks for what is in this directory. Or write it \
         yourself:\n\n    // Says hello.\n    \
         fun hello(name = \"world\") {{\n        echo \"hello, @var.name\"\n    }}\n\nthen\n\n    \
         opal                 lists the tasks\n    \
         opal pick            chooses one by typing\n    \
         opal hello --help    shows the parameters of a task\n    \
         opal check           checks for errors\n    \
         opal --help          shows everything else\n"
    ))
}
