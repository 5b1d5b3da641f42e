//! Above each function what can be done with it: see its plan, run it, verify its resources. The client
//! does that, and only after a click.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gen_lsp_types::{CodeLens, Command};
use opal_core::Span;
use opal_plan::check::observer::{Callee, DefinitionKind};
use serde_json::json;

use super::Client;
use crate::facts::{Facts, Function, Target};
use crate::files::{Files, View};

pub(crate) fn of(files: &Files, client: Client, view: &View) -> Vec<CodeLens> {
    let facts = &view.analysis.facts;
    let mut all = Vec::new();
    if !client.commands || !view.path.is_absolute() {
        return all;
    }
    let resources = resources(files, view);
    for function in facts.own_functions().filter(|it| !it.name.starts_with('_')) {
        let range = view.text.range(function.span);
        let lens = |title: &str, command: &str| CodeLens {
            range,
            command: Some(Command {
                title: title.to_owned(),
                tooltip: None,
                command: command.to_owned(),
                arguments: Some(vec![json!(view.uri), json!(function.name)]),
            }),
            data: None,
        };
        all.push(lens("plan", "opal.plan"));
        all.push(lens("run", "opal.run"));
        if resources.contains(function.name.as_str()) {
            all.push(lens("verify", "opal.verify"));
        }
    }
    all
}

/// A function, by its file and its name.
type Name = (PathBuf, String);

/// The functions of a file that describe states of the world, or call one that does.
fn resources(files: &Files, view: &View) -> BTreeSet<String> {
    let mut callers: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    let mut found: Vec<Name> = Vec::new();
    let mut read = BTreeSet::from([view.path.clone()]);
    let mut open = vec![view.clone()];
    // The whole of each file that is called: a graph with every function once.
    while let Some(view) = open.pop() {
        let facts = &view.analysis.facts;
        for function in facts.own_functions() {
            let name = (view.path.clone(), function.name.clone());
            for (file, called) in calls(facts, function) {
                let path = file.unwrap_or_else(|| view.path.clone());
                if !read.contains(&path) {
                    read.insert(path.clone());
                    open.extend(files.view(&path));
                }
                callers.entry((path, called)).or_default().push(name.clone());
            }
            if has_own(facts, function) {
                found.push(name);
            }
        }
    }
    let mut all: BTreeSet<Name> = found.iter().cloned().collect();
    while let Some(name) = found.pop() {
        for caller in callers.remove(&name).into_iter().flatten() {
            if all.insert(caller.clone()) {
                found.push(caller);
            }
        }
    }
    all.into_iter().filter(|(path, _)| *path == view.path).map(|(_, name)| name).collect()
}

fn has_own(facts: &Facts, function: &Function) -> bool {
    let first = facts.calls.partition_point(|it| it.path.start < function.body.start);
    let mut inside = facts.calls[first..].iter().take_while(|it| it.path.end <= function.body.end);
    inside.any(|it| match it.callee {
        Callee::Decorator(found) if found.path == "shell" => says_when(facts, it.path),
        Callee::Decorator(found) => found.resource.is_some(),
        _ => false,
    })
}

/// Whether a command says how to see that it is not needed: only then it describes a state.
fn says_when(facts: &Facts, path: Span) -> bool {
    facts.arguments_of(path.start).any(|it| match (it.callee, it.param) {
        (Callee::Decorator(found), Some(param)) => found.params[param].name == "check",
        _ => false,
    })
}

/// The functions that a function calls, with the file of each that is another one.
fn calls(facts: &Facts, function: &Function) -> Vec<(Option<PathBuf>, String)> {
    let first = facts.uses.partition_point(|it| it.span.start < function.body.start);
    let inside = facts.uses[first..].iter().take_while(|it| it.span.end <= function.body.end);
    let called = inside.filter_map(|it| match it.target {
        Target::Own(index) => {
            let definition = &facts.definitions[index];
            let is_function = definition.kind == DefinitionKind::Function;
            is_function.then(|| (None, definition.name.clone()))
        }
        Target::Foreign(index, None) => {
            let found = &facts.functions[index];
            Some((found.file.clone(), found.name.clone()))
        }
        Target::Foreign(..) => None,
    });
    called.collect()
}
