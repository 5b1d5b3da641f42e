//! The parser of the tree-sitter grammar, which `tree-sitter generate` writes.

use std::fs;
use std::path::Path;

use crate::chores::run;

const GRAMMAR: &str = "editors/tree-sitter-opal";

/// What is kept of what it writes: what a compiler needs.
const KEPT: [&str; 2] = ["src/parser.c", "src/tree_sitter/parser.h"];

/// From crates.io: the package of npm downloads a program.
const VERSION: &str = "0.27.1";
const TOOL: &str = "target/tools/tree-sitter";

/// What Neovim of the distributions can read.
const ABI: &str = "14";

/// The files that the tool writes: paths and texts.
pub(crate) fn generated(root: &Path) -> Result<Vec<(String, String)>, String> {
    let program = root.join(TOOL).join("bin/tree-sitter");
    if !program.exists() {
        let version = format!("tree-sitter-cli@{VERSION}");
        let install = ["cargo", "install", "--quiet", "--locked", "--no-default-features"];
        run(root, &[&install[..], &["--root", TOOL, &version]].concat())?;
    }
    let work = root.join("target/editors/tree-sitter-opal");
    let failed = |error: std::io::Error| format!("`{}`: {error}", work.display());
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(work.join("src")).map_err(failed)?;
    for name in ["grammar.js", "tree-sitter.json"] {
        fs::copy(root.join(GRAMMAR).join(name), work.join(name)).map_err(failed)?;
    }
    let program = program.display().to_string();
    run(&work, &[&program, "generate", "--abi", ABI])?;
    let read = |name: &str| {
        let text = fs::read_to_string(work.join(name)).map_err(failed)?;
        Ok((format!("{GRAMMAR}/{name}"), text))
    };
    KEPT.into_iter().map(read).collect()
}
