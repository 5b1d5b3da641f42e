//! The tasks of another file, under a name of their own: modules of justfiles, includes of Taskfiles.

use std::collections::{BTreeMap, BTreeSet};

use super::substitute::in_directory;
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
}

impl Place<'_> {
    /// What is not in the result of the other file.
    pub(crate) fn leftover(&self, it: Leftover) -> Leftover {
        Leftover { file: it.file.or_else(|| Some(self.file.to_owned())), ..it }
    }
}

impl Sheet {
    /// Takes over the tasks and variables of another file.
    pub(crate) fn absorb(&mut self, mut other: Self, place: &Place<'_>) {
        other.rename_variables(self, place);
        self.pass_environment(&mut other);
        let names: BTreeSet<String> = other.tasks.iter().map(|it| it.name.clone()).collect();
        for mut task in std::mem::take(&mut other.tasks) {
            if let Some(directory) = place.directory {
                task = task.with_commands_in(&Expr::text(directory));
            }
            task.move_to(place, &names);
            if !self.tasks.iter().any(|it| it.name == task.name) {
                self.tasks.push(task);
            }
        }
        let has_here = self.variables.iter().any(|it| it.name == HERE);
        for mut variable in other.variables {
            let is_known = self.variables.iter().any(|it| it.name == variable.name);
            match (variable.name == HERE, has_here) {
                (true, false) => self.variables.insert(0, variable),
                (false, _) if !is_known => {
                    if let Some(directory) = place.directory {
                        variable.value = variable.value.run_in(&Expr::text(directory));
                    }
                    self.variables.push(variable);
                }
                _ => {}
            }
        }
        self.leftovers.extend(other.leftovers.into_iter().map(|it| place.leftover(it)));
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
    /// With the commands of its values run in another directory.
    pub(crate) fn with_commands_in(&self, directory: &Expr) -> Self {
        self.rewritten(&|it| match it {
            Expr::Output(pieces) => Some(Expr::Output(in_directory(pieces, directory))),
            _ => None,
        })
    }

    /// Becomes a task of the file that names its file; `names` are the tasks of its file.
    pub(crate) fn move_to(&mut self, place: &Place<'_>, names: &BTreeSet<String>) {
        let renamed = |name: &str| match name.strip_prefix(':') {
            Some(outer) => outer.to_owned(),
            None if names.contains(name) => format!("{}{name}", place.prefix),
            None => name.to_owned(),
        };
        self.name = format!("{}{}", place.prefix, self.name);
        self.file.get_or_insert_with(|| place.file.to_owned());
        self.calls_mut(&mut |call| call.task = renamed(&call.task));
        if let Some(directory) = place.directory {
            self.start_in(directory);
        }
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
            // Where the other tool was called, or below the directory of the file.
            Some(absolute) if absolute.is_absolute() => absolute,
            Some(computed) => {
                self.differs(format!("its directory must be relative to `{directory}`"));
                Expr::concat(vec![Expr::text(format!("{directory}/")), computed])
            }
        });
    }
}

impl Expr {
    fn is_absolute(&self) -> bool {
        match self {
            Self::Fact(_) => true,
            Self::Name(name) => name == HERE,
            Self::Concat(parts) => parts.first().is_some_and(Self::is_absolute),
            _ => false,
        }
    }
}
