//! Resources on targets.

use opal_testing::{LoggedReach, LoggedSession};

use crate::verify::verifying::{Looked, Verifying};

fn look(source: &str, reach: LoggedReach) -> (Looked, LoggedReach) {
    let mut verifying = Verifying::new(source);
    verifying.reach = reach;
    let looked = verifying.look();
    (looked, verifying.reach)
}

/// `target id status`, in the order of the plan.
fn rows(looked: &Looked) -> Vec<String> {
    let all = looked.report.verifications.iter();
    let target = |it: &opal_vault::verification::Verification| it.target.clone();
    all.map(|it| {
        let target = target(it).unwrap_or_else(|| "-".into());
        format!("{target} {} {}", it.id, it.status.name())
    })
    .collect()
}

#[test]
fn each_target_of_a_fleet_has_a_row_and_one_that_is_not_reached_blocks_only_its_own() {
    let source = "@file.directory(\"/srv\", id=\"here\")\n@ssh.hosts([\"a\", \"b\", \"c\"]) {\n    \
                  @file.directory(\"/srv\", id=\"top\")\n    \
                  @file.directory(\"/srv/app\", id=\"app\", depends_on=[\"top\"])\n}\n";
    let reach = LoggedReach::default().absent("b");
    let (looked, reach) = look(source, reach);
    let expected = [
        "- here missing",
        "a top missing",
        "a app missing",
        "b top blocked",
        "b app blocked",
        "c top missing",
        "c app missing",
    ];
    assert_eq!(rows(&looked), expected);
    // Nothing that could act was opened, and each was asked for once.
    assert_eq!(reach.asked(), ["a ReadOnly", "b ReadOnly", "c ReadOnly"]);
}

#[test]
fn users_on_the_targets_of_a_fleet_are_reached_at_the_same_time() {
    let source = "@ssh.hosts([\"a\", \"b\", \"c\"]) {\n    @as(\"root\") {\n        \
                  @file.directory(\"/srv\", id=\"top\")\n    }\n}\n";
    let (looked, reach) = look(source, LoggedReach::default().meeting("root", 3));
    assert_eq!(rows(&looked), ["a/root top missing", "b/root top missing", "c/root top missing"]);
    assert_eq!(reach.asked().len(), 6);
    // A limit of the block holds here too: nobody waits for more than it lets in.
    let source = source.replace("]) {", "], max_concurrency=2) {");
    let (looked, _) = look(&source, LoggedReach::default().meeting("root", 2));
    assert_eq!(rows(&looked).len(), 3);
}

#[test]
fn what_is_inside_a_target_that_is_not_reached_is_blocked_too() {
    let source = "@ssh.host(\"a\") {\n    @as(\"root\") {\n        @file.directory(\"/srv\", id=\"top\")\n    }\n}\n";
    let (looked, reach) = look(source, LoggedReach::default().absent("a"));
    assert_eq!(rows(&looked), ["a/root top blocked"]);
    assert_eq!(reach.asked(), ["a ReadOnly"]);
    let reach = LoggedReach::default().target("a/root", LoggedSession::new());
    let (looked, _) = look(source, reach);
    assert_eq!(rows(&looked), ["a/root top missing"]);
}
