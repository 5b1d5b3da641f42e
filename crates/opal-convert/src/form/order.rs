//! The order of variables.

use std::collections::BTreeMap;

use super::{Expr, Sheet, Variable};

impl Sheet {
    /// The variables, each after those that it uses. In a cycle one comes too early.
    pub(crate) fn ordered(&self) -> Vec<&Variable> {
        let by_name: BTreeMap<&str, usize> = self
            .variables
            .iter()
            .enumerate()
            .map(|(index, it)| (it.name.as_str(), index))
            .collect();
        let uses = |index: usize| {
            let mut uses = Vec::new();
            self.variables[index].value.visit(&mut |it| {
                if let Expr::Name(name) = it {
                    uses.extend(by_name.get(name.as_str()).copied());
                }
            });
            uses
        };
        let mut is_seen = vec![false; self.variables.len()];
        let mut ordered = Vec::new();
        for index in 0..self.variables.len() {
            // What is still to do: to enter a variable, or to leave it.
            let mut open = vec![(index, false)];
            while let Some((index, is_done)) = open.pop() {
                if is_done {
                    ordered.push(&self.variables[index]);
                } else if !std::mem::replace(&mut is_seen[index], true) {
                    open.push((index, true));
                    open.extend(uses(index).into_iter().rev().map(|used| (used, false)));
                }
            }
        }
        ordered
    }
}
