use std::time::{Duration, SystemTime};

use opal_core::Secret;
use opal_core::resource::details::{Around, Diff, Hunk, Line, Side};
use opal_core::resource::{Details, Direction};
use opal_vault::verification::Blocked;
use opal_vault::{Shown, Vault};

use super::*;
use opal_ops::preview::Effect;

fn text(text: &str) -> Shown<'static> {
    opal_testing::shown(text)
}

/// From one line to another.
fn difference(expected: &str, actual: &str) -> ShownDetails {
    let lines = vec![Line::new(Side::Expected, expected), Line::new(Side::Actual, actual)];
    let hunks = vec![Hunk { expected: 0, actual: 0, lines }];
    let [expected, actual] = ["a", "b"].map(Secret::new);
    let around = [Side::Expected, Side::Actual].map(|side| Around::of(&hunks, side));
    let diff = Diff { expected, actual, hunks, omitted: 0, is_private: false, around };
    ShownDetails::new(&Details::from(diff).written(Direction::Report), &Vault::new())
}

fn found(id: &str, status: Status, message: &str) -> Verification {
    let blocked = (status == Status::Blocked).then(|| Blocked {
        error: text(message),
        help: vec![text("look there")],
        by_prerequisite: message.starts_with("dependencies"),
    });
    Verification {
        id: id.to_owned(),
        name: (id == "conf").then(|| text("Web server")),
        path: format!("script.{id}").into(),
        target: None,
        key: text(&format!("file:/{id}")),
        status,
        message: text(message),
        details: (status == Status::Drifted).then(|| difference("a\tb\n", "\u{1b}[2J\n")),
        blocked,
        refusal: None,
        unmet: Vec::new(),
        digest: None,
        identity: None,
        account: None,
        took: Duration::from_millis(3),
        at: SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000),
    }
}

fn report(verifications: Vec<Verification>) -> Report {
    Report { verifications, took: Duration::from_millis(12), stopped: None, targets: Vec::new() }
}

fn all() -> Report {
    report(vec![
        found("nginx", Status::Satisfied, "nginx is installed"),
        found("conf", Status::Missing, "/etc/app.conf is not there"),
        found("motd", Status::Drifted, "1 line differs"),
        found("user", Status::Blocked, "/etc/shadow may not be read"),
        found("site", Status::Blocked, "dependencies not satisfied: conf (missing)"),
        found("migrate", Status::Unknown, "there is no check"),
    ])
}

fn shown(report: &Report, verbose: bool) -> String {
    let findings = Findings {
        file: "a.yaml",
        report,
        others: 2,
        is_part: false,
        apply_command: "opal apply a.yaml",
    };
    human(&findings, verbose, Ink::new(false))
}

#[test]
fn the_table_has_a_row_a_step_and_says_what_to_do() {
    let expected = "\
\x20  STEP               STATUS     TOOK  MESSAGE
✓  nginx              satisfied  3ms   nginx is installed
+  conf (Web server)  missing    3ms   /etc/app.conf is not there
~  motd               drifted    3ms   1 line differs
✗  user               blocked    3ms   /etc/shadow may not be read
✗  site               blocked    3ms   dependencies not satisfied: conf (missing)
?  migrate            unknown    3ms   there is no check

6 resources: 1 satisfied, 1 missing, 1 drifted, 2 blocked, 1 unknown in 12ms
2 more steps only act: they are not verified
to apply what is not in the desired state: `opal apply a.yaml`
to see the differences: `--verbose`
blocked resources stay blocked until the reason is fixed; `--verbose` shows how
";
    assert_eq!(shown(&all(), false), expected);
}

#[test]
fn verbose_shows_differences_that_cannot_do_anything_and_the_help_of_what_is_blocked() {
    let shown = shown(&all(), true);
    let difference =
        "\nmotd: drifted, file:/motd\n--- expected: a\n+++ actual: b\n@@ -1 +1 @@\n-a\tb\n+␛[2J\n";
    assert!(shown.contains(difference), "{shown}");
    assert!(shown.contains("\nuser: blocked, file:/user\n  help: look there\n"), "{shown}");
    assert!(!shown.contains("\nsite: "), "{shown}");
}

#[test]
fn where_all_is_well_nothing_is_to_be_done() {
    let report = report(vec![found("a", Status::Satisfied, "it is there")]);
    assert!(shown(&report, false).ends_with("everything is in the desired state\n"));
}

#[test]
fn rows_stay_in_the_order_of_the_plan() {
    let rows = (0..1_000).map(|n| found(&format!("step-{n}"), Status::Missing, "is not there"));
    let shown = shown(&report(rows.collect()), false);
    let ids = shown.lines().filter_map(|line| line.strip_prefix("+  ")?.split(' ').next());
    assert!(ids.eq((0..1_000).map(|n| format!("step-{n}"))), "{shown}");
}

#[test]
fn a_preview_says_what_would_happen_to_each() {
    let report = all();
    let effects =
        [Effect::Skip, Effect::Create, Effect::Correct, Effect::Blocked, Effect::Wait, Effect::Run];
    let preview = Preview { file: "a.yaml", report: &report, effects: &effects, others: 1 };
    let shown = changes::human(&preview, Ink::new(false));
    assert!(
        shown.contains("+  conf (Web server)  create   /etc/app.conf is not there\n"),
        "{shown}"
    );
    assert!(
        shown.contains("nothing was changed: 1 to create, 1 to correct, 1 to run, "),
        "{shown}"
    );
    assert!(shown.ends_with("1 more step only acts: it would run\n"), "{shown}");
}

#[test]
fn the_document_has_what_the_schema_says() {
    let document = document::of("a.yaml", &all(), None);
    assert_eq!(document["summary"]["total_steps"], 6);
    assert_eq!(document["summary"]["blocked"], 2);
    assert_eq!(document["results"][2]["timestamp"], "1970-01-01T00:00:01.500000Z");
    assert_eq!(document["results"][3]["error"], "/etc/shadow may not be read");
    assert!(document["results"][0].get("details").is_none());
}

#[test]
fn the_end_of_a_line_is_kept_for_patch_and_shown_to_people() {
    let (ends, middle) = (difference("a\r\n", "a\n"), difference("a\rb\n", "\n"));
    assert!(whole(&ends, false).ends_with("-a\r\n+a\n"));
    assert!(whole(&middle, false).ends_with("-a\u{240d}b\n+\n"));
    let coloured = whole(&ends, true);
    assert!(coloured.contains("-a\u{240d}"), "{coloured:?}");
}

#[test]
fn content_that_looks_like_a_header_has_the_colour_of_content() {
    let coloured = whole(&difference("-- expected: x\n", "++ actual: y\n"), true);
    let lines: Vec<&str> = coloured.lines().collect();
    assert_eq!(lines[0], "\u{1b}[1m--- expected: a\u{1b}[0m");
    assert_eq!(lines[3], "\u{1b}[31m--- expected: x\u{1b}[0m");
    assert_eq!(lines[4], "\u{1b}[32m+++ actual: y\u{1b}[0m");
}
