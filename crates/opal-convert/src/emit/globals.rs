//! What is known of the whole file.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::bare::bare_words;
use super::shape::{Lookup, Shape, shape};
use crate::form::{Expr, HERE, Param, Sheet, Step, Task};
use crate::names::Names;

#[derive(Debug)]
pub(crate) struct Globals<'s> {
    pub(super) variables: BTreeMap<&'s str, Global<'s>>,
    pub(super) tasks: BTreeMap<&'s str, String>,
    sheet: &'s Sheet,
    pub(super) names: Names,
    shapes: RefCell<BTreeMap<String, Shape>>,
}

#[derive(Debug)]
pub(super) struct Global<'s> {
    pub(super) name: String,
    pub(super) value: &'s Expr,
    /// It is declared in every function that uses it, because it needs statements.
    pub(super) is_local: bool,
    /// It is declared as a list of words.
    pub(super) is_list: bool,
    /// It has no value in the language; why.
    pub(super) broken: Option<String>,
}

impl<'s> Globals<'s> {
    pub(crate) fn new(sheet: &'s Sheet, broken: &BTreeMap<String, String>) -> Self {
        let mut names = Names::default();
        let mut variables = BTreeMap::new();
        for variable in &sheet.variables {
            let value = &variable.value;
            let broken = broken.get(&variable.name).cloned().or_else(|| value.unsupported());
            let is_local = value.needs_statements();
            let shown = if variable.name == HERE { "project_directory" } else { &variable.name };
            let name = names.variable(shown);
            let global = Global { name, value, is_local, is_list: false, broken };
            variables.insert(variable.name.as_str(), global);
        }
        let mut task_names = Names::default();
        let named = |it: &'s Task| (it.name.as_str(), task_names.task(&shown_name(it)));
        let tasks = sheet.tasks.iter().map(named).collect();
        let mut globals = Self { variables, tasks, sheet, names, shapes: RefCell::default() };
        globals.spread_locals(sheet);
        globals.find_lists(sheet);
        globals
    }

    /// What uses a local variable is local too.
    fn spread_locals(&mut self, sheet: &Sheet) {
        for variable in sheet.ordered() {
            let mut uses_local = false;
            variable.value.visit(&mut |it| {
                if let Expr::Name(name) = it {
                    uses_local |= self.is_local(name);
                }
            });
            if uses_local && let Some(global) = self.variables.get_mut(variable.name.as_str()) {
                global.is_local = true;
            }
        }
    }

    /// Constants of several words that are only pasted as words of their own.
    fn find_lists<'t>(&mut self, sheet: &'t Sheet) {
        // How often each name is read, and how often as a word of its own.
        let mut read: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut count = |value: &'t Expr| {
            if let Expr::Name(name) = value {
                read.entry(name).or_default().0 += 1;
            }
        };
        sheet.variables.iter().for_each(|it| it.value.visit(&mut count));
        sheet.tasks.iter().for_each(|task| task.visit(&mut count));
        for name in sheet.tasks.iter().flat_map(bare_words) {
            read.entry(name).or_default().1 += 1;
        }
        let is_list = |name: &str, global: &Global<'_>| {
            let is_words = matches!(shape(global.value, self), Shape::Words(_));
            is_words && read.get(name).is_some_and(|(all, bare)| all == bare)
        };
        let lists = self.variables.iter().filter(|(name, it)| is_list(name, it));
        let lists: Vec<&str> = lists.map(|(name, _)| *name).collect();
        for name in lists {
            if let Some(global) = self.variables.get_mut(name) {
                global.is_list = true;
            }
        }
    }

    /// Whether a call can pass a list to the parameter at this place: it is a rest parameter, and no
    /// script gets it as one argument.
    pub(super) fn takes_list(&self, task: &str, index: usize) -> bool {
        let task = self.sheet.tasks.iter().find(|it| it.name == task);
        let Some((task, param)) = task.and_then(|it| Some((it, it.params.get(index)?))) else {
            return true;
        };
        let is_it = |it: &Expr| matches!(it, Expr::Name(name) if *name == param.name);
        let is_argument =
            |it: &Step| matches!(it, Step::Script { args, .. } if args.iter().any(is_it));
        param.rest && !task.body.iter().any(is_argument)
    }

    pub(super) fn is_local(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|it| it.is_local)
    }
}

/// With `-` between its parts; `_` comes first where it is not listed.
fn shown_name(task: &Task) -> String {
    let name = task.name.replace("::", ":");
    if !task.is_private {
        return name;
    }
    match name.rsplit_once(':') {
        Some((path, last)) => format!("_{path}:{}", last.trim_start_matches('_')),
        None => format!("_{}", name.trim_start_matches('_')),
    }
}

impl Lookup for Globals<'_> {
    fn param(&self, _: &str) -> Option<&Param> {
        None
    }

    fn variable(&self, name: &str) -> Option<&Expr> {
        self.variables.get(name).map(|it| it.value)
    }

    fn shapes(&self) -> &RefCell<BTreeMap<String, Shape>> {
        &self.shapes
    }
}
