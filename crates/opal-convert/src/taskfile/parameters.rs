//! Which variables are parameters, and what calls pass.

use std::collections::{BTreeMap, BTreeSet};

use super::outside::CLI_ARGS;
use super::task::Draft;
use crate::form::{Argument, Call, Expr, Param, Task, Variable};

/// The name by which a call passes what is after `--`.
const GIVEN_ARGS: &str = "CLI_ARGS";

/// The tasks, complete; `variables` are those of all files.
pub(super) fn decided(mut drafts: Vec<Draft>, variables: &[Variable]) -> Vec<Task> {
    let defined: BTreeMap<String, Expr> =
        variables.iter().map(|it| (it.name.clone(), it.value.clone())).collect();
    for draft in &mut drafts {
        draft.place_commands();
        draft.inherited = effective(&draft.inherited, variables);
    }
    let passed = passed(&drafts);
    let with_args = with_args(&drafts);
    let mut params: BTreeMap<String, Vec<Param>> = BTreeMap::new();
    for draft in &drafts {
        let none = BTreeSet::new();
        let name = draft.task.name.as_str();
        let given = passed.get(name).unwrap_or(&none);
        let mut own = draft.params(given, &draft.with_inherited(&defined));
        if with_args.contains(name) {
            own.push(Param { name: CLI_ARGS.to_owned(), rest: true, ..Param::default() });
        }
        params.insert(name.to_owned(), own.clone());
        for alias in &draft.aliases {
            params.insert(alias.clone(), own.clone());
        }
    }
    let mut tasks = Vec::new();
    for mut draft in drafts {
        let name = draft.task.name.clone();
        draft.task.params = params.get(&name).cloned().unwrap_or_default();
        let is_param = |name: &str| draft.task.params.iter().any(|it| it.name == name);
        draft.task.locals.retain(|(local, _)| !is_param(local));
        let is_own = |name: &String| draft.task.locals.iter().any(|(local, _)| local == name);
        let more = draft.inherited.iter().filter(|(name, _)| !is_param(name) && !is_own(name));
        let more: Vec<_> = more.cloned().collect();
        draft.task.locals.extend(more);
        draft.task.calls_mut(&mut |call| complete(call, params.get(&call.task), &defined));
        let task = &draft.task;
        let made =
            draft.aliases.iter().map(|it| task.alias(it.clone(), task.line, task.source.clone()));
        let made: Vec<_> = made
            .map(|alias| Task { is_private: task.is_private, file: task.file.clone(), ..alias })
            .collect();
        tasks.push(draft.task);
        tasks.extend(made);
    }
    tasks
}

/// The variables that an include sets: those that no file defines, those whose definition asks for
/// them, and what is made of them.
fn effective(given: &[(String, Expr)], variables: &[Variable]) -> Vec<(String, Expr)> {
    let mut effective: Vec<(String, Expr)> = Vec::new();
    for (name, value) in given {
        match variables.iter().find(|it| it.name == *name) {
            None => effective.push((name.clone(), value.clone())),
            Some(variable) if variable.value.asks_for(name) => {
                effective.push((name.clone(), variable.value.given(name, value)));
            }
            Some(_) => {}
        }
    }
    for variable in variables {
        let is_made = |(name, _): &(String, Expr)| variable.value.mentions(name) > 0;
        if effective.iter().any(is_made) && !effective.iter().any(|(it, _)| *it == variable.name) {
            effective.push((variable.name.clone(), variable.value.clone()));
        }
    }
    effective
}

impl Expr {
    fn asks_for(&self, name: &str) -> bool {
        let mut found = false;
        self.visit(&mut |it| found |= matches!(it, Self::Env(it, _) if it == name));
        found
    }

    /// With a value in the place of the one from outside.
    fn given(&self, name: &str, value: &Self) -> Self {
        self.rewritten(&|it| match it {
            Self::Env(it, _) if it == name => Some(value.clone()),
            _ => None,
        })
    }
}

/// The variables that each task is given by others.
fn passed(drafts: &[Draft]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut passed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for draft in drafts {
        draft.task.calls(&mut |call| {
            let names = call.args.iter().filter_map(|Argument { name, .. }| name.as_deref());
            let names = names.filter(|it| *it != GIVEN_ARGS);
            passed.entry(call.task.as_str()).or_default().extend(names);
        });
    }
    passed
}

/// The tasks that get what is after `--`: those that read it, and those that run them.
fn with_args(drafts: &[Draft]) -> BTreeSet<&str> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let reads = |task: &Task| {
        let mut found = false;
        task.visit(&mut |it| found |= matches!(it, Expr::Name(name) if name == CLI_ARGS));
        found
    };
    found.extend(drafts.iter().filter(|it| reads(&it.task)).map(|it| it.task.name.as_str()));
    // Each round finds one more, or is the last.
    for _ in 0..=drafts.len() {
        let before = found.len();
        for draft in drafts {
            draft.task.calls(&mut |call| {
                let is_given = call.args.iter().any(|it| it.name.as_deref() == Some(GIVEN_ARGS));
                let target = drafts
                    .iter()
                    .find(|it| it.task.name == call.task || it.aliases.contains(&call.task));
                if !is_given && target.is_some_and(|it| found.contains(it.task.name.as_str())) {
                    found.insert(&draft.task.name);
                }
            });
        }
        if found.len() == before {
            break;
        }
    }
    found
}

/// Drops what the task does not take, and passes on what is after `--`: by position, because what
/// follows a named argument must be named too.
fn complete(call: &mut Call, params: Option<&Vec<Param>>, defined: &BTreeMap<String, Expr>) {
    let Some(params) = params else { return };
    let args = std::mem::take(&mut call.args);
    let named = |name: &str| args.iter().find(|it| it.name.as_deref() == Some(name));
    let is_param = |it: &Argument| params.iter().any(|param| Some(&param.name) == it.name.as_ref());
    if params.last().is_none_or(|it| !it.rest) {
        call.args = args.iter().filter(|it| is_param(it)).cloned().collect();
        return;
    }
    let rest = match named(GIVEN_ARGS).map(|it| &it.value) {
        None => vec![Expr::Name(CLI_ARGS.to_owned())],
        Some(Expr::Text(text)) => text.split_whitespace().map(Expr::text).collect(),
        Some(value) => vec![value.clone()],
    };
    let is_known = |value: &Expr| {
        let mut known = true;
        value.visit(&mut |it| {
            known &= !matches!(it, Expr::Name(name) if !defined.contains_key(name))
        });
        known
    };
    let mut values = Vec::new();
    for param in params.iter().filter(|it| !it.rest) {
        let given = named(&param.name).map(|it| it.value.clone());
        match given.or_else(|| param.default.clone().filter(is_known)) {
            Some(value) => values.push(value),
            None => {
                call.args = args.iter().filter(|it| is_param(it)).cloned().collect();
                return;
            }
        }
    }
    let positional = |value: Expr| Argument { name: None, value };
    call.args = values.into_iter().chain(rest).map(positional).collect();
}
