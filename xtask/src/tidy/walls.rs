//! Walls inside of crates: what only a few may say. Which crate may use which is in `arrows`.

use super::{Finding, Tree};

/// A word that may stand in some files only.
struct Wall {
    /// Written in two pieces where this file would hold it otherwise.
    word: &'static str,
    /// Where it counts: the beginnings of paths.
    within: &'static [&'static str],
    /// Where it may stand all the same.
    except: &'static [&'static str],
    mend: &'static str,
}

const WALLS: [Wall; 1] = [Wall {
    word: concat!("Shown::", "vouch("),
    within: &["crates/"],
    except: &[
        "crates/opal-core/src/record.rs",
        // What opal says itself, around what the scrubber has seen.
        "crates/opal-modules/src/keep/file.rs",
        "crates/opal-vault/src/vault.rs",
        "crates/opal-vault/src/vault/",
        // What was shown before is read back from the disk.
        "crates/opal-exec/src/execute/hold.rs",
        "crates/opal-testing/",
    ],
    mend: "only the scrubber says that bytes may be seen",
}];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts(".rs") {
        let within = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        for wall in WALLS.iter().filter(|wall| within(wall.within) && !within(wall.except)) {
            let lines = text.lines().enumerate().take_while(|(_, line)| !begins_tests(line));
            for (index, _) in lines.filter(|(_, line)| line.contains(wall.word)) {
                findings.push(Finding {
                    path: path.to_string(),
                    line: index + 1,
                    rule: "walls",
                    what: format!("`{}`", wall.word),
                    mend: wall.mend,
                });
            }
        }
    }
    findings.retain(|finding| {
        !finding.path.ends_with("/tests.rs") && !finding.path.contains("/tests/")
    });
    findings
}

/// Tests stand at the end of their file.
fn begins_tests(line: &str) -> bool {
    line.trim() == "#[cfg(test)]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_behind_its_wall_is_found_and_elsewhere_it_is_not() {
        let found = |path: &str, text: &str| {
            check(&Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        let text = format!("fn a() {{ {} }}\n", WALLS[0].word);
        assert_eq!(found("crates/opal-cli/src/view.rs", &text), [1]);
        assert_eq!(found("crates/opal-vault/src/vault/scan.rs", &text), []);
    }
}
