//! Taskfiles.
//!
//! | what | where |
//! |---|---|
//! | the file: variables, tasks, which variables are parameters | here |
//! | what all tasks share; variables from outside | `globals`, `outside` |
//! | one task | `task` |
//! | YAML nodes as texts, lists and maps | `nodes` |
//! | `{{…}}` | `template`, its functions in `functions` |

mod files;
mod functions;
mod globals;
mod nodes;
mod outside;
mod task;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use opal_config::document::{self, Node};

use crate::form::{Argument, Expr, HERE, Leftover, Param, Sheet};
use crate::limits::MAX_TASKS;
use crate::outcome::Unreadable;
use globals::File;
use nodes::{Lines, entries, get};
use task::Draft;

pub(crate) fn read(source: &str) -> Result<Sheet, Unreadable> {
    let lines = Lines::new(source);
    let unreadable = |found: Box<opal_core::Diagnostic>| {
        Unreadable::new(lines.at(found.primary.span.start as usize), &found.message)
    };
    let root = document::read(source).map_err(unreadable)?;
    let root = root.ok_or_else(|| Unreadable::new(1, "the file is empty"))?;
    let Some(tasks) = get(&root, "tasks").filter(|it| !entries(it).is_empty()) else {
        let includes = get(&root, "includes").is_some();
        let why =
            if includes { "all tasks are in included files" } else { "the file has no `tasks`" };
        return Err(Unreadable::new(1, why));
    };
    let tasks = entries(tasks);
    if tasks.len() > MAX_TASKS {
        return Err(Unreadable::new(1, &format!("the file has more than {MAX_TASKS} tasks")));
    }
    let mut file = File::default();
    file.globals(&root);
    let mut drafts = Vec::new();
    for (index, (key, node)) in tasks.iter().enumerate() {
        let start = key.span.start as usize;
        let end = tasks.get(index + 1).map(|(key, _)| key.span.start as usize);
        let source = lines.block(start, end);
        drafts.push(Draft::new(
            key.word().unwrap_or_default(),
            lines.at(start),
            source,
            node,
            &file,
        ));
    }
    let mut sheet = Sheet { variables: file.variables, ..Sheet::default() };
    includes(&root, &lines, &mut sheet);
    finish(drafts, &mut sheet);
    Ok(sheet)
}

fn includes(root: &Node, lines: &Lines<'_>, sheet: &mut Sheet) {
    let Some(includes) = get(root, "includes") else { return };
    for (key, _) in entries(includes) {
        let name = format!("includes: {}", key.word().unwrap_or_default());
        let line = lines.at(key.span.start as usize);
        let why = "included files are not converted".to_owned();
        sheet.leftovers.push(Leftover { line, source: name.clone(), name, why });
    }
}

/// Decides which variables are parameters, and completes the calls.
fn finish(drafts: Vec<Draft>, sheet: &mut Sheet) {
    let passed = passed(&drafts);
    let defined: BTreeMap<String, Expr> =
        sheet.variables.iter().map(|it| (it.name.clone(), it.value.clone())).collect();
    let mut params: BTreeMap<String, Vec<Param>> = BTreeMap::new();
    for draft in &drafts {
        let none = BTreeSet::new();
        let given = passed.get(draft.task.name.as_str()).unwrap_or(&none);
        params.insert(draft.task.name.clone(), draft.params(given, &defined));
    }
    for mut draft in drafts {
        let name = draft.task.name.clone();
        draft.task.params = params.get(&name).cloned().unwrap_or_default();
        draft
            .task
            .locals
            .retain(|(local, _)| !draft.task.params.iter().any(|it| it.name == *local));
        for call in draft.calls_mut() {
            let known = params.get(&call.task);
            call.args.retain(|arg| {
                let is_param = |it: &&Param| Some(&it.name) == arg.name.as_ref();
                known.is_none_or(|params| params.iter().any(|it| is_param(&it)))
            });
        }
        let aliases = std::mem::take(&mut draft.aliases);
        let source = draft.task.source.clone();
        let made =
            aliases.into_iter().map(|it| draft.task.alias(it, draft.task.line, source.clone()));
        let made: Vec<_> = made.collect();
        sheet.tasks.push(draft.task);
        sheet.tasks.extend(made);
    }
    let mut reads_here = false;
    let mut look = |it: &Expr| reads_here |= *it == Expr::here();
    sheet.tasks.iter().for_each(|it| it.visit(&mut look));
    sheet.variables.iter().for_each(|it| it.value.visit(&mut look));
    if !reads_here {
        sheet.variables.retain(|it| it.name != HERE);
    }
}

/// The variables that each task is given by others.
fn passed(drafts: &[Draft]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut passed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for draft in drafts {
        draft.task.calls(&mut |call| {
            let names = call.args.iter().filter_map(|Argument { name, .. }| name.as_deref());
            passed.entry(call.task.as_str()).or_default().extend(names);
        });
    }
    passed
}
