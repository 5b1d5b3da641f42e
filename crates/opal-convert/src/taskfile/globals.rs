//! What all tasks of a Taskfile share.

use std::collections::BTreeSet;

use opal_config::document::Node;

use super::nodes::{self, get, texts};
use super::outside::{outside, without_itself};
use crate::form::{Expr, Variable, VariablesFile};

#[derive(Debug)]
pub(super) struct File {
    pub(super) variables: Vec<Variable>,
    pub(super) environment: Vec<(String, Expr)>,
    /// Files of variables, the last wins; or why they are not imported.
    pub(super) dotenv: Result<Vec<VariablesFile>, String>,
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
        self.dotenv = dotenv(root);
    }
}

impl Default for File {
    fn default() -> Self {
        Self { variables: Vec::new(), environment: Vec::new(), dotenv: Ok(Vec::new()) }
    }
}

/// In a Taskfile the first file wins, among imports the last.
fn dotenv(root: &Node) -> Result<Vec<VariablesFile>, String> {
    let paths = texts(get(root, "dotenv"));
    let file = |path: &String| VariablesFile::new(path, true).ok_or_else(|| format!("`{path}`"));
    paths.iter().rev().map(file).collect()
}
