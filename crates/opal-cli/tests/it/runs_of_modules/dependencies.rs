//! What a module builds on: its outputs as inputs, its absence, and what comes first.

use std::fs;

use serde_json::json;

use super::release::{self, Release, SCRIPT};

const ON_NET: &str =
    "dependencies: [{module_ref: core/net, imports: {name: network.name}}]\nexecution:";

/// `core/host` builds on `core/net` and says what it was given.
fn release(dependencies: &str) -> Release {
    let says = ". ./hyops.inputs.sh; echo \"on $input_network__name\"\n";
    Release::new(SCRIPT).module("core/host", &[("execution:", dependencies)], says)
}

#[test]
fn what_was_published_becomes_an_input() {
    let release = release(ON_NET);
    release.apply(&[]).code(0);
    release.run(&["apply", "core/host"]).code(0).says("on net-small");
    let meta = release::json(&release.evidence_of("core__host").join("meta.json"));
    assert_eq!(meta["dependencies"]["items"][0]["module_ref"], "core/net");
}

#[test]
fn a_dependency_without_a_state_is_named_with_what_to_type() {
    let release = release(ON_NET);
    for line in
        [&["apply", "core/host"][..], &["plan", "core/host"], &["apply", "core/host", "--dry-run"]]
    {
        let ran = release.run(line);
        ran.code(69).says("it depends on `core/net`, which has not been applied");
        ran.says("`opal module apply core/net`");
        assert_eq!(ran.stderr.contains("--with-deps"), line[0] == "apply", "{ran:?}");
    }
    assert!(!release.path("root").exists());
    release.apply(&[]).code(0);
    release.run(&["destroy", "core/net"]).code(0);
    release.run(&["apply", "core/host"]).code(69).says("which has been destroyed");
    release.run(&["destroy", "core/host"]).code(0).says("warning: it depends on `core/net`");
}

#[test]
fn one_that_is_not_required_is_only_told_of() {
    let release = release(&ON_NET.replace("core/net,", "core/net, required: false,"));
    let ran = release.run(&["apply", "core/host"]);
    ran.code(0).says("warning: it depends on `core/net`, which has not been applied").says("on \n");
    let meta = release::json(&release.evidence_of("core__host").join("meta.json"));
    assert_eq!(meta["dependencies"]["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn an_output_that_was_not_published_is_said_to_be_missing() {
    let release = release(&ON_NET.replace("name: network", "other: network"));
    release.apply(&[]).code(0);
    let ran = release.run(&["apply", "core/host"]);
    ran.code(69).says("`core/net` has not published an output `other`").says("outputs.publish");
}

#[test]
fn an_import_that_was_hidden_is_refused_and_not_taken_for_a_value() {
    for (outputs, name) in [
        ("{\"name\": {\"url\": \"postgres://root:hunter2-7x@db\"}}", "name"),
        ("{\"name\": {\"url\": \"postgres://root:hunter2-7x@db\"}}", "name.url"),
        ("{\"name\": {\"host\": \"h\", \"password\": \"hunter2-7x\"}}", "name"),
        ("{\"name\": {\"host\": \"h\", \"password\": \"hunter2-7x\"}}", "name.password"),
        ("{\"name\": [\"token=hunter2-7x\"]}", "name"),
    ] {
        let script = format!("echo '{outputs}' > \"$HYOPS_OUTPUTS_FILE\"\n");
        let release =
            release(&ON_NET.replace("{name:", &format!("{{{name}:"))).script("net", &script);
        release.apply(&[]).code(0);
        let ran = release.run(&["apply", "core/host"]);
        ran.code(69).says(&format!("the output `{name}` of `core/net` contains a secret"));
        ran.says("`imports`").hides("hunter2");
        assert!(!release.path("root/logs/module/core__host").exists());
    }
    let release = release(&ON_NET.replace("{name:", "{name.host:"))
        .script("net", "echo '{\"name\": {\"host\": \"h\", \"password\": \"hunter2-7x\"}}' > \"$HYOPS_OUTPUTS_FILE\"\n");
    release.apply(&[]).code(0);
    release.run(&["apply", "core/host"]).code(0).says("on h");
}

#[test]
fn an_output_that_holds_a_secret_input_is_not_published_at_all() {
    let script = ". ./hyops.inputs.sh\n\
                  echo \"{\\\"name\\\": \\\"n-$input_password\\\"}\" > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = release(ON_NET).script("net", script);
    let set = [("HYOPS_INPUT_password", "hunter2-7x-long")];
    release.run_with(&set, &["apply", "core/net"]).code(0);
    assert_eq!(release.state()["outputs"], json!({}));
    let ran = release.run(&["apply", "core/host"]);
    ran.code(69).says("`core/net` has not published an output `name`").says("secrets are never");
}

/// A chain: `core/app` on `core/host` on `core/net`.
fn chain() -> Release {
    let on_host = "dependencies: [{module_ref: core/host}]\nexecution:";
    release(ON_NET).module("core/app", &[("execution:", on_host)], "echo app\n")
}

#[test]
fn what_a_module_builds_on_is_applied_first_and_once() {
    let release = chain();
    let ran = release.run(&["apply", "core/app", "--with-deps"]);
    ran.code(0);
    assert_eq!(ran.stdout, "apply small\non net-small\napp\n");
    ran.says("dependency=core/net status=apply").says("dependency=core/host status=apply");
    let ran = release.run(&["apply", "core/app", "--with-deps"]);
    ran.code(0);
    assert_eq!(ran.stdout, "app\n");
    for module in ["core/net", "core/host"] {
        ran.says(&format!("dependency={module} status=skipped reason=state-ok"));
    }
    assert_eq!(release.runs(), 1);
}

#[test]
fn a_dependency_that_fails_is_the_last_thing_that_runs() {
    let release = chain().script("core-host", "exit 4\n");
    let ran = release.run(&["apply", "core/app", "--with-deps"]);
    ran.code(4).hides("app\n");
    assert!(!release.path("root/logs/module/core__app").exists());
    let again = release.run(&["apply", "core/app", "--with-deps", "--json"]);
    let document = again.code(4).json();
    assert_eq!(
        (&document["module_ref"], &document["status"]),
        (&json!("core/app"), &json!("error"))
    );
    assert_eq!(document["dependencies"][0]["module_ref"], "core/host");
    assert_eq!(document["dependencies"][0]["exit_code"], 4);
}

#[test]
fn with_dependencies_json_is_still_one_document() {
    let release = chain();
    let document = release.run(&["apply", "core/app", "--with-deps", "--json"]).code(0).json();
    assert_eq!((&document["module_ref"], &document["status"]), (&json!("core/app"), &json!("ok")));
    let before: Vec<_> = document["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["module_ref"].clone())
        .collect();
    assert_eq!(before, ["core/net", "core/host"]);
    let document = release.run(&["apply", "core/app", "--with-deps", "--json"]).code(0).json();
    assert_eq!(document["dependencies"], json!([]));
}

#[test]
fn a_dry_run_with_dependencies_plans_the_module_and_tells_of_the_others() {
    let release = chain();
    let ran = release.run(&["apply", "core/app", "--with-deps", "--dry-run", "--json"]);
    ran.code(69).says("dependency=core/net status=to be applied first").json();
    ran.says("it depends on `core/host`, but a dry run applies nothing").hides("add `--with-deps`");
    ran.says("`opal module apply core/host --with-deps`").says("`opal blueprint plan`");
    assert!(!release.path("root").exists());
    release.run(&["apply", "core/host", "--with-deps"]).code(0);
    let plan =
        release.run(&["apply", "core/app", "--with-deps", "--dry-run", "--json"]).code(0).json();
    assert_eq!(plan["arguments"]["module"], "core/app");
}

#[test]
fn a_circle_is_printed_and_nothing_runs() {
    let release =
        chain().spec(&[("execution:", "dependencies: [{module_ref: core/app}]\nexecution:")]);
    let ran = release.run(&["apply", "core/app", "--with-deps"]);
    ran.code(65).says("core/app -> core/host -> core/net -> core/app");
    assert!(!release.path("root").exists());
}

#[test]
fn only_what_changes_something_can_bring_its_dependencies_along() {
    let release = chain();
    release.run(&["plan", "core/app", "--with-deps"]).code(2);
    fs::remove_dir_all(release.path("rel/modules/core/host")).unwrap();
    let ran = release.run(&["apply", "core/app", "--with-deps"]);
    ran.code(66).says("unknown module `core/host`");
}

#[test]
fn a_report_with_dependencies_has_the_cases_of_all_runs() {
    let release = release(ON_NET);
    let report = ["--report=r.md", "--report=r.xml", "--report=r.json"];
    let apply = [&["apply", "core/host", "--with-deps"][..], &report].concat();
    let read = |name: &str| fs::read_to_string(release.path(name)).unwrap();
    release.run(&apply).code(0);
    let cases = |text: &str| text.matches("<testcase").count();
    assert_eq!(cases(&read("r.xml")), 2, "{}", read("r.xml"));
    assert!(read("r.md").starts_with("### ✅"), "{}", read("r.md"));
    let document = release::json(&release.path("r.json"));
    assert_eq!(document["module_ref"], "core/host");
    assert_eq!(document["dependencies"][0]["module_ref"], "core/net");
    // One that is applied does not run again.
    release.run(&apply).code(0);
    assert_eq!(cases(&read("r.xml")), 1, "{}", read("r.xml"));
    // A dependency that fails is the failure.
    let failing = Release::new("echo broken; exit 9\n").module(
        "core/host",
        &[("execution:", ON_NET)],
        "true\n",
    );
    failing.run(&apply).code(9);
    let text = fs::read_to_string(failing.path("r.xml")).unwrap();
    assert!(text.contains("failures=\"1\"") && text.contains("broken"), "{text}");
    let document = release::json(&failing.path("r.json"));
    assert_eq!(document["dependencies"][0]["module_ref"], "core/net", "{document:#}");
    fs::write(failing.path("r.md"), "an earlier run").unwrap();
    // A dry run writes none.
    failing.run(&[&apply[..], &["--dry-run"]].concat()).code(69);
    assert_eq!(fs::read_to_string(failing.path("r.md")).unwrap(), "an earlier run");
}
