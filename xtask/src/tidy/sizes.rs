//! Files stay short enough to be read in one go. The length of functions is clippy's work.

use super::{Finding, Tree};

const MOST_LINES: usize = 400;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.texts(".rs").filter(|(path, _)| is_counted(path));
    let long = sources.filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > MOST_LINES).then(|| Finding {
            path: path.to_string(),
            line: MOST_LINES + 1,
            rule: "size",
            what: format!("{lines} lines; a source file has at most {MOST_LINES}"),
            help: "move a part that has a name to a file of that name",
        })
    });
    long.collect()
}

/// Tests and their data may be as long as the cases they list.
fn is_counted(path: &str) -> bool {
    let mut parts = path.split('/');
    let home = match parts.next() {
        Some("crates") => parts.nth(1),
        Some("xtask") => parts.next(),
        _ => None,
    };
    home == Some("src")
        && !parts.any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "test_data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_are_counted() {
        let long = "x\n".repeat(MOST_LINES + 1);
        let tree = Tree::of(&[
            ("crates/a/src/b/c.rs", &long),
            ("crates/a/src/b/tests.rs", &long),
            ("crates/a/tests/it/main.rs", &long),
            ("fuzz/src/a.rs", &long),
            ("xtask/src/main.rs", &long),
            ("xtask/src/short.rs", &long[2..]),
        ]);
        let paths: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/a/src/b/c.rs", "xtask/src/main.rs"]);
    }
}
