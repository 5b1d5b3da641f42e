//! What the grammars of editors are tried with: the libraries of VS Code, from npm, and tree-sitter, from PyPI, in
//! `target/tools/grammars`.

use std::path::Path;

use crate::chores::{answers, run};
use crate::{say, tools};

const FOLDER: &str = "target/tools/grammars";

/// From npm: the engine of TextMate grammars, its regular expressions, the grammar of the shell that VS Code has.
const NODE: [(&str, &str); 3] = [
    ("vscode-textmate@9.3.2", "node_modules/vscode-textmate"),
    ("vscode-oniguruma@2.0.1", "node_modules/vscode-oniguruma"),
    ("tm-grammars@1.32.22", "node_modules/tm-grammars"),
];

/// From PyPI: tree-sitter, for a driver in Python.
const PYTHON: &str = "tree-sitter==0.26.0";

/// Without them the tests of the grammars are skipped, or fail in CI.
pub(crate) fn provide(root: &Path) {
    tools::provide(root, &[("nodejs", "node"), ("npm", "npm")]);
    let is_there = |file: &str| root.join(FOLDER).join(file).exists();
    for (package, _) in NODE.iter().filter(|(_, file)| !is_there(file)) {
        let line = ["npm", "install", "--silent", "--prefix", FOLDER, package];
        if let Err(message) = run(root, &line) {
            say(&format!("{package} is missing: {message}"));
        }
    }
    let python = root.join(FOLDER).join("bin/python").display().to_string();
    if answers(&[&python, "-c", "import tree_sitter"]).is_none()
        && let Err(message) = tools::pip(root, FOLDER, PYTHON)
    {
        say(&format!("{PYTHON} is missing: {message}"));
    }
}
