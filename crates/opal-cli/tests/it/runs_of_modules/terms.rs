//! What a contract of a module holds besides its steps: the bounds of the profile, a reason to do
//! without the preflight, the files of variables; and how its refusals are told.

use std::fs;

use opal_core::hash::Algorithm;
use serde_json::json;

use super::release::{PROFILE, Release, SCRIPT, SPEC};
use crate::formats::git;
use crate::support::Ran;

const PLAN: [&str; 3] = ["--dry-run", "-o", "net.plan"];

fn made(release: Release, more: &[&str]) -> Release {
    release.apply(&[&PLAN[..], more].concat()).code(0);
    release
}

#[track_caller]
fn run(release: &Release, more: &[&str]) -> Ran {
    release.opal().call(&[&["run", "--plan", "net.plan"], more].concat())
}

#[test]
fn everything_of_a_profile_that_bounds_a_run_belongs_to_the_contract() {
    let bounds = "policy:\n  defaults: {min_free_disk_mb: 1}\n  tool_versions: {faketool: '>=2'}\n  \
                  constraints: {credential_contracts: {hetzner: {required_tfvars: [token]}}}\n";
    let changes = [
        ("faketool: '>=2'", "faketool: '>=1'"),
        ("  tool_versions: {faketool: '>=2'}\n", ""),
        ("min_free_disk_mb: 1", "min_free_disk_mb: 2"),
        ("  defaults: {min_free_disk_mb: 1}\n", ""),
        ("[token]", "[token, location]"),
        ("hetzner", "azure"),
    ];
    for (from, to) in changes {
        let release = made(Release::new(SCRIPT).profile(bounds), &[]);
        let changed = bounds.replace(from, to);
        assert_ne!(changed, bounds);
        let release = release.profile(&changed);
        run(&release, &[]).code(76).says("policy").says("nothing was run");
        assert_eq!(release.runs(), 0, "{from}");
    }
    let release = made(Release::new(SCRIPT).profile(bounds), &[]);
    let release = release.profile(&format!("description: other words\n{bounds}"));
    run(&release, &[]).code(0);
}

/// A release whose runs cannot begin: what its profile wants is too much.
fn wanting() -> Release {
    Release::new(SCRIPT).profile("policy: {defaults: {min_free_disk_mb: 4000000000}}\n")
}

#[test]
fn a_reason_to_do_without_the_preflight_belongs_to_the_contract() {
    let release = made(wanting(), &["--skip-preflight=it is known"]);
    run(&release, &[]).code(0).says("apply small");
    let kept = release.document("meta.json")["preflight"].clone();
    assert_eq!(kept, json!({"skipped": true, "reason": "it is known"}));
    fs::write(release.stack().join("new"), "").unwrap();
    let told = "opal module apply core/net --skip-preflight='it is known' --dry-run -o net.plan";
    assert_eq!(run(&release, &["--json"]).code(76).json()["new_contract"], told);
}

#[test]
fn the_place_for_the_evidence_belongs_to_the_contract() {
    let release = Release::new(SCRIPT);
    let place = release.path("audit").display().to_string();
    let release = made(release, &["--out-dir", &place]);
    run(&release, &[]).code(0);
    assert!(release.path("audit/module/core__net").is_dir());
    assert_eq!(release.runs(), 0, "nothing is in the usual place");
}

#[test]
fn a_contract_without_a_reason_looks_and_says_how_to_make_one_that_does_not() {
    let release = made(wanting(), &[]);
    let ran = run(&release, &[]);
    ran.code(69).says("MiB are free").hides("`--skip-preflight=REASON` runs all the same");
    let anew = "opal module apply core/net --dry-run -o net.plan";
    ran.says(&format!("add `--skip-preflight=REASON` to `{anew}`"));
    run(&release, &["--skip-preflight=x"]).code(2);
    assert!(!release.has_state());
    let words: Vec<&str> = anew.split(' ').skip(1).collect();
    release.opal().call(&[&words[..], &["--skip-preflight=x"]].concat()).code(0);
    run(&release, &[]).code(0);
}

#[test]
fn a_refusal_is_told_as_every_failure_is() {
    let release = made(Release::new(SCRIPT), &[]);
    let spec = SPEC.replace("size: small", "size: huge");
    let release = release.file("rel/modules/core/net/spec.yml", spec);
    let document = run(&release, &["--json"]).code(76).json();
    let error = &document["error"];
    assert!(error["message"].as_str().unwrap().contains("not the plan of the contract"), "{error}");
    assert!(error["help"][0].as_str().unwrap().contains("make a new contract"), "{error}");
    assert_eq!((&document["version"], &document["same"]), (&json!(1), &json!(false)));

    let release = made(Release::new(SCRIPT), &["--once"]);
    run(&release, &[]).code(0);
    let document = run(&release, &["--json"]).code(76).json();
    assert!(
        document["error"]["message"].as_str().unwrap().contains("single-use contract"),
        "{document}"
    );
}

#[test]
fn the_command_that_is_told_names_the_files_of_variables_from_anywhere() {
    let release = Release::new(SCRIPT).file("in.env", "HYOPS_INPUT_size=large\n");
    let release = made(release, &["--env-file", "in.env"]);
    let file = release.path("in.env").display().to_string();
    let told = format!("opal module apply core/net --env-file {file} --dry-run -o net.plan");
    let document = run(&release, &["--json"]).code(76).json();
    assert_eq!(document["new_contract"], told);
    let help = document["error"]["help"].to_string();
    assert!(help.contains(&format!("--env-file {file}")), "{help}");
    run(&release, &["--env-file", "in.env"]).code(0).says("apply large");
}

#[test]
fn a_place_for_records_that_cannot_be_used_is_told_with_what_names_another() {
    let release = Release::new(SCRIPT).file("taken", PROFILE);
    let taken = release.path("taken/records").display().to_string();
    let ran = release.run_with(&[("OPAL_ROOT", &taken)], &["apply", "core/net"]);
    ran.code(0)
        .says("this run has no record")
        .says("`OPAL_ROOT=DIR`, or `--root DIR` before the command");
    let other = release.path("other").display().to_string();
    release.run_with(&[("OPAL_ROOT", &other)], &["apply", "core/net"]).code(0);
    let before = ["--root", "third", "module", "apply", "core/net"];
    release.opal().call_with(&[("OPAL_ROOT", &taken)], &before).code(0);
    for records in ["other", "third"] {
        assert!(release.path(records).join("logs/run").exists(), "{records}");
    }
    assert_eq!(release.runs(), 3);
}

#[test]
fn plan_diff_names_a_skipped_preflight() {
    let release = Release::new(SCRIPT);
    let plan = |name: &str, more: &[&str]| {
        release.apply(&[&["--dry-run", "-o", name], more].concat()).code(0);
    };
    plan("one.plan", &[]);
    plan("two.plan", &["--skip-preflight=it is known"]);
    let ran = release.opal().call(&["plan", "diff", "one.plan", "two.plan"]);
    ran.code(1).says("option --skip-preflight: not given (first), 'it is known' (second)");
    ran.hides("argument skip_preflight");
}

#[test]
fn the_sources_of_a_contract_are_all_files_that_the_run_is_made_of() {
    let release = Release::new(SCRIPT)
        .profile("templates: [{src: extra.txt, dst: extra.txt}]\n")
        .file("rel/drivers/shell/script/templates/extra.txt", "more\n")
        .file("rel/modules/core/net/inputs.schema.json", "{\"type\": \"object\"}")
        .file("rel/packs/shell/script/net/stack/lib/more.sh", "true\n");
    let release = made(release, &[]);
    let shown = release.opal().call(&["plan", "show", "net.plan", "--json"]).json();
    let sources = shown["provenance"]["sources"].as_array().unwrap();
    let paths: Vec<&str> = sources.iter().map(|it| it["path"].as_str().unwrap()).collect();
    let ends = [
        "modules/core/net/spec.yml",
        "modules/core/net/inputs.schema.json",
        "profiles/local@v1.profile.yml",
        "templates/extra.txt",
        "net/stack/lib/more.sh",
        "net/stack/run.sh",
    ];
    assert_eq!(paths.len(), ends.len(), "{paths:?}");
    assert!(paths.iter().zip(ends).all(|(path, end)| path.ends_with(end)), "{paths:?}");
    for source in sources {
        let bytes = std::fs::read(release.path(source["path"].as_str().unwrap())).unwrap();
        let digest = Algorithm::Sha256.digest(&[&bytes]).hex();
        assert!(source["digest"].as_str().unwrap().ends_with(&digest), "{source}");
    }
}

#[test]
fn an_uncommitted_change_of_any_file_of_a_module_is_marked() {
    let files = [
        "rel/modules/core/net/spec.yml",
        "rel/modules/core/net/inputs.schema.json",
        "rel/drivers/shell/script/profiles/local@v1.profile.yml",
        "rel/drivers/shell/script/templates/extra.txt",
        "rel/packs/shell/script/net/stack/lib/more.sh",
        "rel/packs/shell/script/net/stack/run.sh",
    ];
    let release = Release::new(SCRIPT)
        .profile("templates: [{src: extra.txt, dst: extra.txt}]\n")
        .file(files[3], "more\n")
        .file(files[1], "{\"type\": \"object\"}")
        .file(files[4], "true\n");
    let is_marked = |release: &Release| {
        release.apply(&PLAN).code(0);
        let shown = release.opal().call(&["plan", "show", "net.plan", "--json"]).json();
        shown["provenance"]["source_modified"] == true
    };
    git(release.opal(), &["init", "-q"]);
    git(release.opal(), &["add", "rel"]);
    git(release.opal(), &["commit", "-q", "-m", "one"]);
    assert!(!is_marked(&release));
    for name in files {
        let text = std::fs::read(release.path(name)).unwrap();
        std::fs::write(release.path(name), [&text[..], b"\n"].concat()).unwrap();
        assert!(is_marked(&release), "{name}");
        std::fs::write(release.path(name), text).unwrap();
    }
    // A file that no commit has.
    let release = release.file("rel/packs/shell/script/net/stack/new.sh", "true\n");
    assert!(is_marked(&release));
}
