//! The tasks of another file, under a name of their own: modules of justfiles, includes of Taskfiles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Expr, HERE, Leftover, Sheet, Task};

/// How the tasks of another file become part of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    /// What precedes their names, with what separates it; empty for none.
    pub(crate) prefix: &'p str,
    /// Where they start, from the directory of this file; none where that is the same.
    pub(crate) directory: Option<&'p str>,
    /// The path of the file.
    pub(crate) file: &'p str,
    /// The line that names it.
    pub(crate) line: usize,
    /// Both files have the same variables: those of the other file win.
    pub(crate) is_shared: bool,
}

impl Sheet {
    /// Takes over the tasks and variables of another file.
    pub(crate) fn absorb(&mut self, mut other: Self, place: &Place<'_>) {
        match place.is_shared {
            true => self.share(&mut other),
            false => other.rename_variables(self, place),
        }
        self.pass_environment(&mut other);
        let names: BTreeSet<String> = other.tasks.iter().map(|it| it.name.clone()).collect();
        let renamed = |name: &str| match name.strip_prefix(':') {
            Some(outer) => outer.to_owned(),
            None if names.contains(name) => format!("{}{name}", place.prefix),
            None => name.to_owned(),
        };
        let computed = other.computed_variables();
        for mut task in std::mem::take(&mut other.tasks) {
            task.name = format!("{}{}", place.prefix, task.name);
            task.file.get_or_insert_with(|| place.file.to_owned());
            task.calls_mut(&mut |call| call.task = renamed(&call.task));
            if let Some(directory) = place.directory {
                task.start_in(directory);
                if task.reads_any(&computed) {
                    task.differs("commands of its variables run in the directory of this file");
                }
            }
            if !self.tasks.iter().any(|it| it.name == task.name) {
                self.tasks.push(task);
            }
        }
        let has_here = self.variables.iter().any(|it| it.name == HERE);
        for variable in other.variables {
            let is_known = self.variables.iter().any(|it| it.name == variable.name);
            match (variable.name == HERE, has_here) {
                (true, false) => self.variables.insert(0, variable),
                (false, _) if !is_known => self.variables.push(variable),
                _ => {}
            }
        }
        let file = place.file;
        self.leftovers.extend(other.leftovers.into_iter().map(|it| Leftover {
            line: place.line,
            name: format!("{file}:{}: {}", it.line, it.name),
            ..it
        }));
    }

    /// The variables that a command computes, or that are made of such.
    fn computed_variables(&self) -> BTreeSet<String> {
        let mut computed = BTreeSet::new();
        for variable in self.ordered() {
            let mut is_computed = variable.value.runs_commands();
            variable.value.visit(&mut |it| {
                is_computed |= matches!(it, Expr::Name(name) if computed.contains(name));
            });
            if is_computed && variable.name != HERE {
                computed.insert(variable.name.clone());
            }
        }
        computed
    }

    /// One set of variables and one environment for the tasks of both files.
    fn share(&mut self, other: &mut Self) {
        for variable in &mut self.variables {
            if let Some(wins) = other.variables.iter().find(|it| it.name == variable.name) {
                variable.value = wins.value.clone();
            }
        }
        for (name, value) in &other.environment {
            let before =
                self.environment.iter().find(|(it, _)| it == name).map(|(_, it)| it.clone());
            for task in &mut self.tasks {
                match task.environment.iter_mut().find(|(it, _)| it == name) {
                    None => task.environment.insert(0, (name.clone(), value.clone())),
                    // What a task sets itself stays.
                    Some((_, own)) if Some(&*own) == before.as_ref() => own.clone_from(value),
                    Some(_) => {}
                }
            }
            self.environment.retain(|(it, _)| it != name);
            self.environment.push((name.clone(), value.clone()));
        }
    }

    /// The tasks of the other file have the environment of this one, too.
    fn pass_environment(&self, other: &mut Self) {
        for task in &mut other.tasks {
            for (name, value) in self.environment.iter().rev() {
                if !task.environment.iter().any(|(it, _)| it == name) {
                    task.environment.insert(0, (name.clone(), value.clone()));
                }
            }
        }
    }

    /// Gives the variables names that `outer` does not use for something else.
    fn rename_variables(&mut self, outer: &Self, place: &Place<'_>) {
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for variable in self.variables.iter().filter(|it| it.name != HERE) {
            let same = outer.variables.iter().find(|it| it.name == variable.name);
            let is_same = |it: &Expr| matches!(it, Expr::Text(_)) && *it == variable.value;
            if same.is_some_and(|it| !is_same(&it.value)) {
                let prefix = place.prefix.trim_end_matches(':');
                let prefix = if prefix.is_empty() { "other" } else { prefix };
                let mut name = format!("{prefix}_{}", variable.name);
                while outer.variables.iter().chain(&self.variables).any(|it| it.name == name) {
                    name.push('_');
                }
                renamed.insert(variable.name.clone(), name);
            }
        }
        let other = |name: &str| renamed.get(name).cloned().map(Expr::Name);
        for variable in &mut self.variables {
            variable.value = variable.value.with_names(&other);
            if let Some(name) = renamed.get(&variable.name) {
                variable.name.clone_from(name);
            }
        }
        for task in &mut self.tasks {
            *task = task.with_names(&other);
        }
        for (_, value) in &mut self.environment {
            *value = value.with_names(&other);
        }
    }
}

impl Task {
    fn reads_any(&self, names: &BTreeSet<String>) -> bool {
        let mut found = false;
        self.visit(&mut |it| found |= matches!(it, Expr::Name(name) if names.contains(name)));
        found
    }

    /// Starts below another directory.
    fn start_in(&mut self, directory: &str) {
        let below = |path: &str| match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("{directory}/{path}"),
        };
        for pattern in
            self.cached.iter_mut().flat_map(|it| it.inputs.iter_mut().chain(&mut it.outputs))
        {
            *pattern = below(pattern.trim_start_matches("./"));
        }
        self.directory = Some(match self.directory.take() {
            None => Expr::text(directory),
            Some(Expr::Text(path)) => Expr::Text(below(&path)),
            // Where the other tool was called.
            Some(absolute @ Expr::Fact(_)) => absolute,
            Some(computed) => {
                self.differs(format!("its directory must be relative to `{directory}`"));
                Expr::concat(vec![Expr::text(format!("{directory}/")), computed])
            }
        });
    }
}

impl Expr {
    fn runs_commands(&self) -> bool {
        let mut found = false;
        self.visit(&mut |it| found |= matches!(it, Self::Output(_)));
        found
    }
}
