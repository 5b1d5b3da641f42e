//! `serve port=port`: the default is a variable of the file, which the parameter hides.

use std::collections::BTreeSet;

use super::{Expr, Sheet, Task};

impl Sheet {
    /// Gives such variables another name. A default that can only mean the parameter itself has no
    /// value.
    pub(crate) fn separate_defaults(&mut self) {
        let hidden: BTreeSet<String> = self.tasks.iter().flat_map(Task::hidden_by_own).collect();
        for name in hidden {
            if !self.variables.iter().any(|it| it.name == name) {
                self.omit_self_references(&name);
                continue;
            }
            let mut other = format!("{name}_default");
            while self.variables.iter().any(|it| it.name == other) {
                other.push('_');
            }
            let renamed = |it: &str| (it == name).then(|| Expr::Name(other.clone()));
            for variable in &mut self.variables {
                variable.value = variable.value.with_names(&renamed);
                if variable.name == name {
                    variable.name.clone_from(&other);
                }
            }
            self.tasks.iter_mut().for_each(|task| *task = task.with_names(&renamed));
        }
    }

    fn omit_self_references(&mut self, name: &String) {
        for task in &mut self.tasks {
            if task.hidden_by_own().contains(name) {
                let why = format!("the default of `{name}` refers to itself");
                task.omitted.get_or_insert(why);
                task.params.iter_mut().for_each(|it| it.default = None);
            }
        }
    }
}

impl Task {
    /// Names in defaults that are those of the parameter itself or of a later one.
    fn hidden_by_own(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (index, param) in self.params.iter().enumerate() {
            let later = &self.params[index..];
            let Some(default) = &param.default else { continue };
            default.visit(&mut |it| match it {
                Expr::Name(name) if later.iter().any(|it| it.name == *name) => {
                    found.insert(name.clone());
                }
                _ => {}
            });
        }
        found
    }
}
