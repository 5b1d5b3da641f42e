//! The summary of a job of GitHub.

use crate::report::ENDS;
use crate::support::Opal;

const MAX_SUMMARY_BYTES: usize = 900 << 10;

fn job(source: &str) -> Opal {
    let opal = Opal::machine(source);
    let summary = opal.path().join("summary.md").display().to_string();
    opal.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary)
}

#[test]
fn runs_in_a_job_add_to_its_summary() {
    let opal = job(ENDS).file("summary.md", "# before\n");
    opal.call(&["ci"]).code(4);
    opal.call(&["ci", "--report", "github"]).code(4);
    let summary = opal.read("summary.md");
    assert!(summary.starts_with("# before\n### ❌ <code>ci</code>: failed\n"), "{summary}");
    assert_eq!(summary.matches("### ").count(), 2);
}

#[test]
fn reports_that_are_asked_for_take_the_place_of_the_summary() {
    let opal = job("fun a() = echo a\n");
    opal.call(&["a", "--report", "r.md"]).code(0);
    assert!(!opal.path().join("summary.md").exists());
    opal.call(&["a", "--report", "r.md", "--report", "github"]).code(0);
    assert_eq!(opal.read("summary.md").matches("### ").count(), 1);
}

#[test]
fn elsewhere_there_is_no_summary() {
    let opal = Opal::machine("fun a() = touch ran\n");
    opal.call(&["a", "--report", "github"]).code(2).says("`GITHUB_STEP_SUMMARY` is not set");
    assert!(!opal.path().join("ran").exists());
    let path = opal.path().join("summary.md").display().to_string();
    opal.call_with(&[("GITHUB_STEP_SUMMARY", &path)], &["a"]).code(0);
    assert!(!opal.path().join("summary.md").exists());
}

#[test]
fn a_summary_is_cut_at_a_line_before_github_drops_it() {
    let steps: String =
        (0..1000).map(|n| format!("    true '{n} {}'\n", "<".repeat(200))).collect();
    let opal = job(&format!("fun many() {{\n{steps}}}\n"));
    opal.call(&["many", "-q"]).code(0);
    let summary = opal.read("summary.md");
    assert!(summary.len() <= MAX_SUMMARY_BYTES && summary.len() > MAX_SUMMARY_BYTES - 2000);
    assert!(summary.ends_with("… cut: see the whole output with `opal runs show --logs`\n"));
    let rows = summary.lines().filter(|line| line.starts_with("| ✅ |"));
    assert!(rows.clone().count() > 500 && rows.clone().all(|row| row.ends_with(" |")));
    // What is full stays as it is; a summary that nobody asked for fails nothing.
    opal.write("summary.md", "x".repeat(MAX_SUMMARY_BYTES));
    opal.call(&["many", "-q"]).code(0).says("warning: the report");
    opal.call(&["many", "-q", "--report", "github"]).code(74).says("is full");
    assert_eq!(opal.read("summary.md").len(), MAX_SUMMARY_BYTES);
}
