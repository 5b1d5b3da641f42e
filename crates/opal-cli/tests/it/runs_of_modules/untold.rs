//! Outputs that a tool was to tell, and has not: what is secret in them cannot be hidden, and a warning
//! says so.

use std::fs;

use serde_json::json;

use super::release::Release;
use super::sensitive::{CANARY, in_clear, log, nothing, printed, stand_in};
use crate::support::Ran;
use opal_testing::processes::{eventually, signal};

/// What is said of outputs that a tool was to tell.
fn untold(label: &str, why: &str) -> String {
    format!(
        "`{label}` {why}: secrets among its outputs may be in clear in the evidence and the \
         record of this run"
    )
}

#[test]
fn outputs_that_there_are_none_of_yet_are_nothing_to_warn_about() {
    for output in ["output) echo '{}' ;;", "output) ;;"] {
        let release = stand_in("", &["apply) ;;", output]);
        let ran = release.apply(&["--json"]).code(0).json();
        let publishes = "the output `name` should be published, but does not exist";
        assert_eq!(ran["warnings"], json!([publishes]), "{output}");
        let release = stand_in("", &["init) exit 4 ;;", "output) exit 3 ;;"]);
        let ran = release.apply(&["--json"]).code(4).json();
        assert_eq!(ran["warnings"], json!([]), "nothing was printed that could be hidden");
    }
}

#[test]
fn outputs_that_cannot_be_told_behind_an_apply_are_warned_about() {
    let before = "output) test -e \"$(dirname \"$0\")/applied\" ||";
    for (apply, code) in [("true", 3), ("exit 7", 7)] {
        let apply = format!("apply) touch \"$(dirname \"$0\")/applied\"; {apply} ;;");
        let release = stand_in("", &[&apply, &format!("{before} exit 0; exit 3 ;;")]);
        release.apply(&[]).code(code).says(&untold("terragrunt_output", "ended with 3"));
        let warnings = &release.document("driver_result.json")["warnings"];
        assert_eq!(*warnings, json!([untold("terragrunt_output", "ended with 3")]));
    }
}

/// An apply whose outputs are interrupted as on a terminal, where Ctrl+C goes to all that run there:
/// opal hears of it, and the tool ends with it, the first time or always.
fn interrupted(is_always: bool) -> (Release, Ran) {
    let ends = if is_always { "true" } else { "! test -e \"$d/asked\"" };
    let output = format!(
        "output) d=$(dirname \"$0\"); test -e \"$d/applied\" || exit 0\n\
         if {ends}; then touch \"$d/asked\"; until test -e \"$d/heard\"; do sleep 0.01; done; \
         kill -INT $$; fi\n\
         echo '{{\"db\": {{\"sensitive\": true, \"value\": \"{CANARY}\"}}}}' ;;"
    );
    let apply = format!("apply) touch \"$(dirname \"$0\")/applied\"; echo 'made {CANARY}' ;;");
    let release = stand_in("", &[&apply, &output]);
    let child = release.started(&["apply", "core/net", "--json"]).spawn().unwrap();
    eventually("the outputs are asked for", || release.path("bin/asked").exists());
    signal(&child, "INT");
    fs::write(release.path("bin/heard"), "").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    (release, ran)
}

#[test]
fn outputs_that_were_interrupted_are_asked_for_once_more_and_the_run_is_cancelled() {
    let (release, ran) = interrupted(false);
    let ran = ran.code(130).json();
    assert_eq!((&ran["status"], &ran["warnings"]), (&json!("cancelled"), &json!([])));
    assert_eq!(in_clear(&release, CANARY), nothing());
    assert_eq!(printed(&release, "stdout"), "made <redacted>\n");
    let envelope = release.document("terragrunt_output.result.json");
    assert_eq!((&envelope["rc"], &envelope["attempts"]), (&json!(0), &json!(2)));
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn outputs_that_are_interrupted_again_are_warned_about_and_the_run_is_cancelled() {
    let (release, ran) = interrupted(true);
    let ran = ran.code(130).json();
    let warning = untold("terragrunt_output", "ended with 130");
    assert_eq!((&ran["status"], &ran["warnings"]), (&json!("cancelled"), &json!([warning])));
    assert_eq!(ran["error"]["message"], "it was interrupted");
    let record = release.opal().call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["status"], "interrupted");
}

#[test]
fn outputs_that_cannot_be_told_before_change_nothing_of_a_look_and_are_warned_about() {
    let profile = "policy: {defaults: {retries: 2}}\n";
    for (output, why) in [
        ("output) exit 3 ;;", "ended with 3"),
        ("output) echo '{\"db' ;;", "printed unreadable outputs"),
        ("output) kill -9 $$ ;;", "ended with 137"),
    ] {
        let release = stand_in(profile, &[output]);
        let warning = untold("terragrunt_output_before", why);
        for verb in ["plan", "verify", "destroy"] {
            let ran = release.run(&[verb, "core/net", "--json"]).code(0).json();
            assert_eq!(ran["warnings"], json!([warning]), "{verb}: {output}");
            assert_eq!(release.document("driver_result.json")["warnings"], json!([warning]));
        }
        assert_eq!(log(&release).iter().filter(|word| *word == "output").count(), 3, "{output}");
        let release = stand_in("", &["plan) exit 2 ;;", output]);
        release.run(&["verify", "core/net"]).code(1);
        let release = stand_in("", &["plan) exit 5 ;;", output]);
        release.run(&["plan", "core/net"]).code(5).says("terragrunt_plan ended with 5");
    }
}
