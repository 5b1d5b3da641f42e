//! The paths that documents name exist.

use super::{Finding, Tree};

const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];
const FOLDERS: [&str; 6] = ["crates/", "docs/", "examples/", "xtask/", "fuzz/", ".ci/"];
/// From here on, a path stands for several.
const PATTERN: [char; 4] = ['*', '…', '{', '<'];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts(".md") {
        if !DOCUMENTS.contains(&path) && !path.starts_with("docs/") {
            continue;
        }
        for (line, named) in named_paths(text) {
            if !exists(tree, named) {
                findings.push(Finding {
                    path: path.to_string(),
                    line,
                    rule: "paths",
                    what: format!("`{named}` does not exist"),
                    help: "name the place where it is now, or take the sentence out",
                });
            }
        }
    }
    findings
}

/// The words between single backticks that look like paths of this repository, with their lines.
/// Fenced blocks are examples, not references.
fn named_paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    let lines = text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    });
    lines.flat_map(|(index, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        let words = quoted.flat_map(str::split_whitespace);
        let named = words.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)));
        named.map(move |word| (index + 1, word))
    })
}

fn exists(tree: &Tree, named: &str) -> bool {
    // `path:12` names a line.
    let path = named.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(':');
    match named.find(PATTERN) {
        Some(at) => named[..at].rsplit_once('/').is_some_and(|(fixed, _)| tree.holds(fixed)),
        None => tree.holds(named) || tree.holds(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_patterns_are_looked_up() {
        let text = "`crates/a/b.rs` and `crates/a/b.rs:3` in `crates/a/`\n\
                    `docs/*.md`, `crates/a/…`, `crates/a/{b,c}.rs`, `docs/decisions/<name>.md`\n\
                    ```\n`crates/gone` in a block\n```\n\
                    crates/gone unquoted, `cat crates/gone.rs` and `crates/gone/*.rs`, `and/or`\n";
        let tree = Tree::of(&[
            ("README.md", text),
            ("notes.md", "`crates/gone`"),
            ("crates/a/b.rs", ""),
            ("docs/decisions/0001.md", "`crates/none`"),
        ]);
        let found = check(&tree).into_iter().map(|finding| (finding.line, finding.what));
        let missing = |line, path| (line, format!("`{path}` does not exist"));
        let expected = [
            missing(6, "crates/gone.rs"),
            missing(6, "crates/gone/*.rs"),
            missing(1, "crates/none"),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
