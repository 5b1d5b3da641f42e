//! Above each function what can be done with it: see its plan, run it, verify its resources. The client
//! does that, and only after a click.

use std::collections::BTreeSet;

use gen_lsp_types::{CodeLens, Command};
use opal_core::Span;
use opal_plan::check::observer::Callee;
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
        if has_resources(files, view, function) {
            all.push(lens("verify", "opal.verify"));
        }
    }
    all
}

/// Whether a function, or one that it calls, describes states of the world.
fn has_resources(files: &Files, view: &View, function: &Function) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![(view.clone(), function.name.clone())];
    while let Some((view, name)) = open.pop() {
        if !seen.insert((view.path.clone(), name.clone())) {
            continue;
        }
        let facts = &view.analysis.facts;
        let Some(function) = facts.own_functions().find(|it| it.name == name) else { continue };
        if has_own(facts, function) {
            return true;
        }
        for (file, name) in calls(facts, function) {
            let there = match file {
                None => Some(view.clone()),
                Some(file) => files.view(&file),
            };
            open.extend(there.map(|view| (view, name)));
        }
    }
    false
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
    let mut of = facts.arguments.iter().filter(|it| it.call.start == path.start);
    of.any(|it| match (it.callee, it.param) {
        (Callee::Decorator(found), Some(param)) => found.params[param].name == "check",
        _ => false,
    })
}

/// The functions that a function calls, with the file of each that is another one.
fn calls(facts: &Facts, function: &Function) -> Vec<(Option<std::path::PathBuf>, String)> {
    let first = facts.uses.partition_point(|it| it.span.start < function.body.start);
    let inside = facts.uses[first..].iter().take_while(|it| it.span.end <= function.body.end);
    let called = inside.filter_map(|it| match it.target {
        Target::Own(index) => {
            let span = facts.definitions[index].span;
            let found = facts.own_functions().find(|it| it.span == span)?;
            Some((None, found.name.clone()))
        }
        Target::Foreign(index, None) => {
            let found = &facts.functions[index];
            Some((found.file.clone(), found.name.clone()))
        }
        Target::Foreign(..) => None,
    });
    called.collect()
}
