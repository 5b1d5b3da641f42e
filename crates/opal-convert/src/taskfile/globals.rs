//! What all tasks share: the variables and the environment of all files are one.

use std::collections::BTreeSet;

use opal_config::document::Node;

use super::nodes::{self, get, text, texts};
use super::outside::{outside, without_itself};
use super::source::Source;
use crate::form::{Expr, Variable, VariablesFile};

/// Names for where a file is; a blank keeps them apart from names of the file.
pub(super) const FILE: &str = "the Taskfile";
pub(super) const FOLDER: &str = "the directory of the Taskfile";

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) variables: Vec<Variable>,
    pub(super) environment: Vec<(String, Expr)>,
    /// Files of variables, the last wins; or why they are not imported.
    pub(super) dotenv: Result<Vec<VariablesFile>, String>,
    /// Tasks run once, unless they say otherwise.
    pub(super) runs_once: bool,
}

impl Shared {
    pub(super) fn of(source: &Source) -> Self {
        let (mut variables, mut environment) = (Vec::new(), Vec::new());
        collect(source, &mut variables, &mut environment);
        // Variables can be read as such where they are in the environment: before all others.
        let known: BTreeSet<&String> = variables.iter().map(|(name, _)| name).collect();
        let mut earlier: Vec<String> = Vec::new();
        let mut all: Vec<(String, Expr)> = Vec::new();
        for (name, value) in environment.iter().filter(|(name, _)| !known.contains(name)) {
            let later = |it: &str| {
                let is_known = earlier.iter().any(|name| name == it) || it.contains(' ');
                (!is_known).then(|| outside(it))
            };
            all.push((name.clone(), value.with_names(&later)));
            earlier.push(name.clone());
        }
        all.extend(variables);
        let defined: BTreeSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
        let undefined = |name: &str| {
            let is_known = defined.contains(name) || name.contains(' ');
            (!is_known).then(|| outside(name))
        };
        let variable = |(name, value): (String, Expr)| {
            let value = value.with_names(&undefined);
            Variable { name, value, docs: Vec::new() }
        };
        let mut variables = vec![Variable::here()];
        variables.extend(all.into_iter().map(variable));
        let environment = environment.into_iter().map(|(name, value)| {
            let value = environment_value(&name, value.with_names(&undefined));
            (name, value)
        });
        let environment = environment.filter(|(name, _)| name != "PATH").collect();
        let runs_once = get(&source.root, "run").and_then(text).is_some_and(|it| it != "always");
        Self { variables, environment, dotenv: dotenv(&source.root), runs_once }
    }
}

/// What is in the environment already wins; so a `PATH` never has an effect.
pub(super) fn environment_value(name: &str, value: Expr) -> Expr {
    match outside(name) {
        _ if value.mentions_env(name) => value,
        Expr::Env(name, _) => Expr::Env(name, Some(Box::new(value))),
        _ => value,
    }
}

impl Expr {
    fn mentions_env(&self, name: &str) -> bool {
        let mut found = false;
        self.visit(&mut |it| found |= matches!(it, Self::Env(it, _) if it == name));
        found
    }
}

/// The variables of a file and of those that it includes, which win.
fn collect(
    source: &Source,
    variables: &mut Vec<(String, Expr)>,
    environment: &mut Vec<(String, Expr)>,
) {
    let places = places(source);
    for (name, value) in nodes::variables(&source.root, "vars") {
        let value = without_itself(&name, value, None).with_names(&places);
        set(variables, name, value);
    }
    for (name, value) in nodes::variables(&source.root, "env") {
        set(environment, name, value.with_names(&places));
    }
    for include in &source.includes {
        let (mut theirs, mut their_environment) = (Vec::new(), Vec::new());
        collect(&include.source, &mut theirs, &mut their_environment);
        let moved = |value: Expr| match &include.directory {
            Some(directory) => value.run_in(&Expr::text(directory)),
            None => value,
        };
        theirs.into_iter().for_each(|(name, value)| set(variables, name, moved(value)));
        their_environment
            .into_iter()
            .for_each(|(name, value)| set(environment, name, moved(value)));
    }
}

fn set(all: &mut Vec<(String, Expr)>, name: String, value: Expr) {
    match all.iter_mut().find(|(it, _)| *it == name) {
        Some((_, before)) => *before = value,
        None => all.push((name, value)),
    }
}

/// Where a file is.
pub(super) fn places(source: &Source) -> impl Fn(&str) -> Option<Expr> {
    move |name| match name {
        FILE => Some(Expr::below_here(&source.path)),
        FOLDER => Some(Expr::below_here(source.folder())),
        _ => None,
    }
}

/// In a Taskfile the first file wins, among imports the last.
fn dotenv(root: &Node) -> Result<Vec<VariablesFile>, String> {
    let paths = texts(get(root, "dotenv"));
    let file = |path: &String| VariablesFile::new(path, true).ok_or_else(|| format!("`{path}`"));
    paths.iter().rev().map(file).collect()
}
