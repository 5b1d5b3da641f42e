//! What a program reads of a failure: the same, whatever has failed.

use serde_json::{Value, json};

use super::release::{Release, SCRIPT};
use crate::support::Ran;

const VERBS: [&str; 6] = ["apply", "deploy", "plan", "verify", "destroy", "preflight"];

/// The error of a document, which has the one shape.
#[track_caller]
fn error(ran: &Ran, what: &str) -> Value {
    assert_ne!(ran.code, 0, "{what}");
    let document = ran.json();
    let error = &document["error"];
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{what}: {document}");
    let help = error["help"].as_array().unwrap_or_else(|| panic!("{what}: {document}"));
    assert!(!help.is_empty() && help.iter().all(Value::is_string), "{what}: {document}");
    assert_eq!(document["version"], 1, "{what}");
    error.clone()
}

#[track_caller]
fn fails(release: &Release, words: &[&str]) -> Value {
    let ran = release.opal().call(&[words, &["--json"]].concat());
    let before = release.opal().call(&[&["--json"], words].concat());
    assert_eq!((before.code, before.json()["error"].is_object()), (ran.code, true), "{words:?}");
    error(&ran, &words.join(" "))
}

#[test]
fn a_module_that_is_not_there() {
    let release = Release::new(SCRIPT);
    for verb in [&VERBS[..], &["validate", "show"]].concat() {
        fails(&release, &["module", verb, "core/gone"]);
        fails(&release, &["module", verb, "Core/Net"]);
        fails(&release, &["module", verb, "core/net", "--module-root", "gone"]);
        fails(&release, &["module", verb, "core/net", "--no-such-option"]);
    }
    fails(&release, &["module", "list", "--module-root", "gone"]);
    fails(&release, &["module", "lint", "gone"]);
    fails(&release, &["module", "init", "gone"]);
    fails(&release, &["module", "none"]);
    for verb in ["validate", "plan", "apply"] {
        fails(&release, &["blueprint", verb, "gone/site"]);
    }
}

#[test]
fn a_file_with_faults() {
    let faults = [
        Release::new(SCRIPT).spec(&[("kind: ModuleSpec", "kind: Other")]),
        Release::new(SCRIPT).profile("inputs: {}\n"),
    ];
    for release in &faults {
        for verb in [&VERBS[..], &["validate"]].concat() {
            let error = fails(release, &["module", verb, "core/net"]);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(".yml` has 1 error"), "{verb}: {error}");
            assert!(error["help"][0].as_str().unwrap().contains("opal explain E1"), "{error}");
        }
        fails(release, &["module", "lint", "rel"]);
        fails(release, &["module", "apply", "core/net", "--with-deps"]);
    }
    fails(&faults[0], &["module", "show", "core/net"]);
    let release = Release::new(SCRIPT).file("in.yml", "a: [\n").file("site.yml", "kind: [\n");
    for verb in [&VERBS[..], &["validate"]].concat() {
        fails(&release, &["module", verb, "core/net", "--inputs", "in.yml"]);
    }
    for verb in ["validate", "plan", "apply"] {
        fails(&release, &["blueprint", verb, "site.yml"]);
    }
}

#[test]
fn a_fault_that_is_found_on_the_way_is_told_in_the_one_document() {
    let release = Release::new(SCRIPT)
        .file("site.yml", SITE)
        .module("core/app", &[("profile: local@v1", "profile: bad@v1")], "true\n")
        .file("rel/drivers/shell/script/profiles/bad@v1.profile.yml", "kind: Other\n");
    let error = fails(&release, &["blueprint", "apply", "site.yml"]);
    assert!(error["message"].as_str().unwrap().contains("bad@v1.profile.yml` has errors"));
    let on_app = "dependencies: [{module_ref: core/net}, {module_ref: core/app}]\nexecution:";
    let release = release.module("core/top", &[("execution:", on_app)], "true\n");
    let error = fails(&release, &["module", "apply", "core/top", "--with-deps"]);
    assert!(error["message"].as_str().unwrap().contains("bad@v1.profile.yml` has errors"));
}

#[test]
fn inputs_that_do_not_fit() {
    let release = Release::new(SCRIPT).env("HYOPS_INPUT_size", "CHANGE_ME");
    for verb in [&VERBS[..], &["validate"]].concat() {
        fails(&release, &["module", verb, "core/net"]);
    }
}

#[test]
fn a_run_that_cannot_begin() {
    let release = Release::new(SCRIPT).spec(&[("credentials: []", "credentials: [acme]")]);
    for verb in VERBS {
        let error = fails(&release, &["module", verb, "core/net"]);
        assert!(error["message"].as_str().unwrap().contains("`acme`"), "{verb}: {error}");
    }
    fails(&release, &["module", "init", "gcp"]);
}

#[test]
fn a_tool_that_fails() {
    let release = Release::new("exit 4\n");
    for verb in ["apply", "deploy", "plan", "verify", "destroy"] {
        let error = fails(&release, &["module", verb, "core/net"]);
        assert!(error["message"].as_str().unwrap().ends_with("ended with 4"), "{verb}: {error}");
        assert!(error["help"][0].as_str().unwrap().contains("core__net"), "{verb}: {error}");
    }
    fails(&release, &["module", "validate", "core/net", "--tools"]);
    assert!(release.document("driver_result.json")["error"].is_string());
}

const SITE: &str = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: demo/site
steps: [{id: one, module_ref: core/net}, {id: two, module_ref: core/app, requires: [one]}]
";

#[test]
fn something_before_it_that_fails() {
    let on_net = "dependencies: [{module_ref: core/net}]\nexecution:";
    let release = Release::new("exit 4\n")
        .module("core/app", &[("execution:", on_net)], "true\n")
        .file("site.yml", SITE);
    let error = fails(&release, &["module", "apply", "core/app", "--with-deps"]);
    assert!(error["message"].as_str().unwrap().contains("core/net"), "{error}");
    fails(&release, &["module", "apply", "core/app"]);
    let error = fails(&release, &["blueprint", "apply", "site.yml"]);
    assert_eq!(error["message"], "the step `one` ended with 4");
}

#[test]
fn what_has_not_failed_has_no_error() {
    let release = Release::new("test $1 != verify || exit 2\n").file("site.yml", SITE);
    let release = release.module("core/app", &[], "true\n");
    let verified = release.run(&["verify", "core/net", "--json"]).code(1).json();
    assert_eq!((&verified["status"], &verified["error"]), (&json!("drifted"), &json!(null)));
    for line in [
        &["module", "apply", "core/net"][..],
        &["module", "preflight", "core/net"],
        &["module", "lint", "rel"],
        &["module", "init", "local"],
        &["blueprint", "apply", "site.yml"],
    ] {
        let document = release.opal().call(&[line, &["--json"]].concat()).code(0).json();
        assert!(document.get("error").is_some_and(Value::is_null), "{line:?}: {document}");
    }
}

#[test]
fn a_run_judges_a_pack_as_a_validation_does() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let backend = "terraform {\n  backend \"local\" { path = \"/tmp/x\" }\n}\n";
    let release = release.file("rel/packs/shell/script/net/stack/main.tf", backend);
    for verb in ["validate", "preflight", "plan", "apply"] {
        release.run(&[verb, "core/net"]).code(65).says("E1109").says("where state is stored");
    }
    release.run(&["destroy", "core/net"]).code(0).says("main.tf`: a pack must not configure where");
}

#[test]
fn a_packs_root_that_is_not_there_is_a_wrong_setting_for_everybody() {
    let release = Release::new(SCRIPT);
    for verb in ["validate", "apply", "preflight"] {
        let ran = release.run_with(&[("HYOPS_PACKS_ROOT", "/nosuch")], &[verb, "core/net"]);
        ran.code(78).says("named by `$HYOPS_PACKS_ROOT`");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_told_by_who_shows_it() {
    let release = Release::new(SCRIPT).file("root/state/modules/core__net/latest.json", "{");
    release.run(&["show", "core/net"]).code(0).says("warning: ").says("latest.json");
}

#[test]
fn evidence_is_never_put_among_the_packs() {
    let release = Release::new(SCRIPT);
    for folder in ["rel/packs/shell/script/net/stack/new/evidence", "rel/packs"] {
        let ran = release.apply(&["--out-dir", folder]);
        ran.code(2).says("which is inside the packs");
    }
    assert!(!release.path("rel/packs/shell/script/net/stack/new").exists());
}

#[test]
fn evidence_that_cannot_be_put_where_it_was_wanted_names_the_option_that_said_so() {
    let release = Release::new(SCRIPT).file("taken", "");
    let ran = release.apply(&["--out-dir", "taken/out"]);
    ran.code(74).says("choose another directory with `--out-dir DIR`");
    assert!(!ran.stderr.contains("--root DIR"), "{ran:?}");
    let release = Release::new(SCRIPT).file("root/logs", "");
    release.apply(&[]).code(74).says("choose another directory with `--root DIR`");
}
