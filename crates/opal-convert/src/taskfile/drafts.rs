//! The tasks of all files, before their parameters are decided.

use std::collections::BTreeSet;

use super::globals::{Shared, places};
use super::nodes::{Lines, entries, get};
use super::options;
use super::source::{Include, Source};
use super::task::Draft;
use crate::form::{Expr, Leftover, Place};

/// The tasks of a file, and of those that it includes.
pub(super) fn drafts(
    source: &Source,
    shared: &Shared,
    leftovers: &mut Vec<Leftover>,
) -> Vec<Draft> {
    let mut drafts = own(source, shared);
    leftovers.extend(source.leftovers.iter().cloned());
    for include in &source.includes {
        let moved = included(include, source, shared, leftovers);
        for draft in moved {
            if !drafts.iter().any(|it| it.task.name == draft.task.name) {
                drafts.push(draft);
            }
        }
    }
    call_defaults(&mut drafts);
    drafts
}

fn own(source: &Source, shared: &Shared) -> Vec<Draft> {
    let lines = Lines::new(&source.text);
    let tasks = get(&source.root, "tasks").map(entries).unwrap_or_default();
    let places = places(source);
    let mut drafts = Vec::new();
    for (index, (key, node)) in tasks.iter().enumerate() {
        let start = key.span.start as usize;
        let end = tasks.get(index + 1).map(|(key, _)| key.span.start as usize);
        let text = lines.block(start, end);
        let name = key.word().unwrap_or_default();
        let mut draft = Draft::new(name, lines.at(start), text, node, shared);
        options::report(&mut draft.task, &source.root, node);
        draft.task = draft.task.with_names(&places);
        drafts.push(draft);
    }
    drafts
}

fn included(
    include: &Include,
    outer: &Source,
    shared: &Shared,
    leftovers: &mut Vec<Leftover>,
) -> Vec<Draft> {
    let (prefix, directory) = (include.prefix.as_str(), include.directory.as_deref());
    let place = Place { prefix, directory, file: &include.source.path };
    let mut left = Vec::new();
    let mut drafts = drafts(&include.source, shared, &mut left);
    leftovers.extend(left.into_iter().map(|it| place.leftover(it)));
    drafts.retain(|it| !include.excluded.contains(&it.task.name));
    let names: BTreeSet<String> = drafts.iter().map(|it| it.task.name.clone()).collect();
    let places = places(outer);
    let given = include.variables.iter();
    let given: Vec<(String, Expr)> =
        given.map(|(name, value)| (name.clone(), value.with_names(&places))).collect();
    for draft in &mut drafts {
        draft.task.move_to(&place, &names);
        draft.task.creates_directory |= directory.is_some();
        draft.task.is_private |= include.is_internal;
        let name = draft.task.name.strip_prefix(prefix).unwrap_or_default();
        let names: Vec<String> = std::iter::once(name)
            .chain(draft.aliases.iter().map(String::as_str))
            .map(str::to_owned)
            .collect();
        draft.aliases.iter_mut().for_each(|it| it.insert_str(0, prefix));
        for alias in &include.aliases {
            draft.aliases.extend(names.iter().map(|name| format!("{alias}:{name}")));
        }
        for (name, value) in &given {
            if !draft.inherited.iter().any(|(it, _)| it == name) {
                draft.inherited.push((name.clone(), value.clone()));
            }
        }
    }
    drafts
}

/// `task: docs` runs the task `default` of the file that is included as `docs`.
fn call_defaults(drafts: &mut [Draft]) {
    let mut names: BTreeSet<String> = drafts.iter().map(|it| it.task.name.clone()).collect();
    names.extend(drafts.iter().flat_map(|it| it.aliases.iter().cloned()));
    for draft in drafts {
        draft.task.calls_mut(&mut |call| {
            let default = format!("{}:default", call.task);
            if !names.contains(&call.task) && names.contains(&default) {
                call.task = default;
            }
        });
    }
}
