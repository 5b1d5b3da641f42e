//! Nothing unfinished is committed: it belongs in an issue, where it is found again.

use super::{Finding, Tree};

/// Written in two pieces, so that this file does not hold what it looks for.
const LEFTOVERS: [&str; 6] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("TO", "DO"),
    concat!("#[ig", "nore"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts(".rs") {
        for (index, line) in text.lines().enumerate() {
            for leftover in LEFTOVERS.iter().filter(|leftover| holds(line, leftover)) {
                findings.push(Finding {
                    path: path.to_string(),
                    line: index + 1,
                    rule: "leftovers",
                    what: format!("`{leftover}`"),
                    help: "finish it, or write it down as an issue and take it out",
                });
            }
        }
    }
    findings
}

/// Whether `word` is in `line` on its own: a file name template ending in `XXXXXX` does not count.
fn holds(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let ends_open = word.ends_with('(') || word.starts_with('#');
        !before.is_some_and(joins) && (ends_open || !after.is_some_and(joins))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_found_as_words() {
        for leftover in LEFTOVERS {
            assert!(holds(&format!("  {leftover}) now"), leftover), "{leftover}");
            assert!(!holds(&format!("x{leftover}x"), leftover), "{leftover}");
        }
        assert!(!holds("mktemp a.XXXXXX", LEFTOVERS[3]));
    }

    #[test]
    fn a_finding_names_the_line() {
        let text = format!("fn a() {{\n    {})\n}}\n", LEFTOVERS[0]);
        let findings = check(&Tree::of(&[("fuzz/a.rs", &text)]));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].path.as_str(), findings[0].line), ("fuzz/a.rs", 2));
    }
}
