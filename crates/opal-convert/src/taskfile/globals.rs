//! What all tasks of a Taskfile share.

use std::collections::BTreeSet;

use opal_config::document::Node;

use super::nodes::{self, get};
use super::outside::{outside, without_itself};
use crate::form::{Expr, Variable};

#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) variables: Vec<Variable>,
    pub(super) environment: Vec<(String, Expr)>,
    pub(super) dotenv: bool,
}

impl File {
    pub(super) fn globals(&mut self, root: &Node) {
        self.variables.push(Variable::here());
        for (name, value) in nodes::variables(root, "vars") {
            let value = without_itself(&name, value, None);
            self.variables.push(Variable { name, value, docs: Vec::new() });
        }
        let defined: BTreeSet<String> = self.variables.iter().map(|it| it.name.clone()).collect();
        let undefined = |name: &str| (!defined.contains(name)).then(|| outside(name));
        for variable in &mut self.variables {
            variable.value = variable.value.with_names(&undefined);
        }
        let environment = nodes::variables(root, "env").into_iter();
        self.environment =
            environment.map(|(name, value)| (name, value.with_names(&undefined))).collect();
        self.dotenv = get(root, "dotenv").is_some();
    }
}
