//! Files stay short enough to be read in one go. The length of functions is clippy's work.

use super::{Finding, Tree};

const MOST_LINES: usize = 400;

/// A page that is read from the beginning to the end.
const MAP: (&str, usize) = ("ARCHITECTURE.md", 250);

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.texts(".rs").filter(|(path, _)| is_counted(path));
    let long = sources.filter_map(|(path, text)| {
        let help = "move a part that has a name to a file of that name";
        too_long(path, text, MOST_LINES, help)
    });
    let map = tree.texts(".md").filter(|(path, _)| *path == MAP.0);
    let help = "say less, or say it in CONTRIBUTING.md or in the map of a crate";
    long.chain(map.filter_map(|(path, text)| too_long(path, text, MAP.1, help))).collect()
}

fn too_long(path: &str, text: &str, most: usize, help: &'static str) -> Option<Finding> {
    let lines = text.lines().count();
    (lines > most).then(|| Finding {
        path: path.to_string(),
        line: most + 1,
        rule: "size",
        what: format!("{lines} lines; this file has at most {most}"),
        help,
    })
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
            ("ARCHITECTURE.md", &"x\n".repeat(MAP.1 + 1)),
            ("CONTRIBUTING.md", &long),
        ]);
        let paths: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/a/src/b/c.rs", "xtask/src/main.rs", "ARCHITECTURE.md"]);
    }
}
