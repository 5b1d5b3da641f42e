//! Walls inside of crates: what a module must not know, and what only a few may say.

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

const WALLS: [Wall; 4] = [
    Wall {
        word: concat!("Shown::", "vouch("),
        within: &[
            "crates/opal-core/src/",
            "crates/opal-runtime/src/",
            "crates/opal-modules/src/",
            "crates/opal-cli/src/",
        ],
        except: &[
            "crates/opal-core/src/record.rs",
            // What opal says itself, around what the scrubber has seen.
            "crates/opal-modules/src/module/keep/file.rs",
            "crates/opal-runtime/src/vault.rs",
            "crates/opal-runtime/src/vault/",
            // What was shown before is read back from the disk.
            "crates/opal-runtime/src/execute/hold.rs",
        ],
        mend: "only the scrubber says that bytes may be seen",
    },
    Wall {
        word: "crate::plan",
        within: &["crates/opal-runtime/src/execute", "crates/opal-runtime/src/session"],
        except: &[],
        mend: "the executor knows a plan as `opal_core::plan` has it, and never the planner",
    },
    Wall {
        word: "crate::execute",
        within: &["crates/opal-runtime/src/plan"],
        except: &[],
        mend: "the planner never knows who runs its plans",
    },
    Wall {
        word: "crate::session",
        within: &["crates/opal-runtime/src/plan", "crates/opal-runtime/src/decorators/value"],
        except: &[],
        mend: "what plans has a probe, which only looks",
    },
];

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
    findings.retain(|finding| !finding.path.ends_with("/tests.rs"));
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
        let text = "use a;\nuse crate::execute::Job;\n#[cfg(test)]\nuse crate::execute::Job;\n";
        assert_eq!(found("crates/opal-runtime/src/plan/a.rs", text), [2]);
        assert_eq!(found("crates/opal-runtime/src/record.rs", text), []);
        let text = format!("fn a() {{ {} }}\n", WALLS[0].word);
        assert_eq!(found("crates/opal-cli/src/view.rs", &text), [1]);
        assert_eq!(found("crates/opal-runtime/src/vault/scan.rs", &text), []);
    }
}
