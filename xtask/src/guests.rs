//! What plugins in Python, JavaScript and C are built with: installed once, into `target/tools/guests`.

use std::path::Path;

use crate::chores::{self, run};
use crate::say;
use crate::tools::{self, pip};

pub(crate) const FOLDER: &str = "target/tools/guests";

/// From PyPI, and a program that shows that it is there.
const PYTHON: [(&str, &str); 2] =
    [("ziglang==0.17.0", "bin/python-zig"), ("componentize-py==0.25.1", "bin/componentize-py")];

/// From npm.
const NODE: [(&str, &str); 2] = [
    ("componentize-qjs@0.4.5", "node_modules/.bin/componentize-qjs"),
    ("@bytecodealliance/jco-transpile@0.15.0", "node_modules/@bytecodealliance/jco-transpile"),
];

/// The path, with their programs first.
pub(crate) fn path(root: &Path) -> Result<String, String> {
    let tools = root.join(FOLDER);
    let both = [tools.join("bin"), tools.join("node_modules/.bin")];
    let path = chores::before_others(&both)?;
    path.into_string().map_err(|_| "the path is not UTF-8".to_owned())
}

/// Without them the tests of templates in these languages are skipped, or fail in CI.
pub(crate) fn provide(root: &Path) {
    let is_there = |file: &str| root.join(FOLDER).join(file).exists();
    for (package, _) in PYTHON.iter().filter(|(_, file)| !is_there(file)) {
        if let Err(message) = pip(root, FOLDER, package) {
            say(&format!("{package} is missing: {message}"));
        }
    }
    tools::provide(root, &[("npm", "npm")]);
    for (package, _) in NODE.iter().filter(|(_, file)| !is_there(file)) {
        let line = ["npm", "install", "--silent", "--prefix", FOLDER, package];
        if let Err(message) = run(root, &line) {
            say(&format!("{package} is missing: {message}"));
        }
    }
}
