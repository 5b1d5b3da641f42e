//! Plans as fixtures: a source with what surrounds it, and the plan or the errors that come of it.
//!
//! `test_data/plan/NAME.opl` begins with directives; `NAME.plan` is what is expected, and is
//! rewritten with `UPDATE_EXPECT=1`.
//!
//! | directive | what it says |
//! |---|---|
//! | `//@ target NAME` | the function; the script without it |
//! | `//@ mode quick\|run\|contract` | what the plan is for; `run` without it |
//! | `//@ arg NAME VALUE` | an argument: an Int, `true`, `false`, or text |
//! | `//@ env NAME VALUE`, `//@ file PATH CONTENT`, `//@ run COMMAND => OUTPUT` | the world |

use opal_testing::expect::Differences;
use opal_testing::planning;

use std::fs;
use std::path::PathBuf;

use planning::Project;

#[expect(clippy::unwrap_used, reason = "a test without its fixtures has failed")]
fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/test_data/plan");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "opl")).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

#[test]
fn fixtures_give_the_plans_beside_them() {
    let mut differences = Differences::default();
    for path in fixtures() {
        let project = Project::read(&fs::read_to_string(&path).unwrap());
        let shown = project.shown();
        assert_eq!(shown, project.shown(), "{} twice", path.display());
        differences.compare(&path.with_extension("plan"), &shown);
    }
    differences.none();
}
