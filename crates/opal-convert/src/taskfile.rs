//! Taskfiles.
//!
//! | what | where |
//! |---|---|
//! | the file: variables, tasks, which variables are parameters | here |
//! | what all tasks share; variables from outside | `globals`, `outside` |
//! | included files | `includes` |
//! | one task | `task` |
//! | YAML nodes as texts, lists and maps | `nodes` |
//! | `{{…}}` | `template`, its functions in `functions` |

mod files;
mod functions;
mod globals;
mod includes;
mod nodes;
mod outside;
mod task;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use opal_config::document;

use crate::files::Folder;
use crate::form::{Argument, Expr, HERE, Param, Sheet};
use crate::limits::MAX_TASKS;
use crate::outcome::Unreadable;
use globals::File;
use nodes::{Lines, entries, get};
use task::Draft;

pub(crate) fn read(source: &str, files: Folder<'_>) -> Result<Sheet, Unreadable> {
    sheet(source, "", files)
}

/// A Taskfile with the files that it includes. `folder` is its directory, from that of the main file.
fn sheet(source: &str, folder: &str, files: Folder<'_>) -> Result<Sheet, Unreadable> {
    let lines = Lines::new(source);
    let unreadable = |found: Box<opal_core::Diagnostic>| {
        Unreadable::new(lines.at(found.primary.span.start as usize), &found.message)
    };
    let root = document::read(source).map_err(unreadable)?;
    let root = root.ok_or_else(|| Unreadable::new(1, "the file is empty"))?;
    let tasks = get(&root, "tasks").map(entries).unwrap_or_default();
    if tasks.is_empty() && get(&root, "includes").is_none() {
        return Err(Unreadable::new(1, "the file has no `tasks`"));
    }
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
    let imports = file.dotenv.unwrap_or_default();
    let mut sheet = Sheet {
        variables: file.variables,
        environment: file.environment,
        imports,
        ..Sheet::default()
    };
    finish(drafts, &mut sheet);
    includes::add(&root, &lines, folder, files, &mut sheet);
    if sheet.tasks.is_empty() {
        return Err(Unreadable::new(1, "all tasks are in included files, which cannot be read"));
    }
    Ok(sheet)
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
