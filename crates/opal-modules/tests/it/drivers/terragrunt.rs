//! `iac/terragrunt`, with a stand-in that keeps a log, and with the real tools where there are any.

use std::fs;
use std::path::{Path, PathBuf};

use opal_modules::run::Command;
use serde_json::{Value, json};

use crate::drivers::support::{Bench, ambient, example, program, release, write};
use opal_testing::needs;

const INIT: &str = "init -input=false";
const OUTPUT: &str = "tofu output -no-color -json";

/// It writes down how it was called, keeps a state where the backend says, and prints outputs.
const STAND_IN: &str = r##"#!/bin/sh
set -eu
log=$(dirname "$0")/log
echo "$(basename "$0") $*" >>"$log"
env | sed 's/=.*//' | grep -E '^(TF|TG|TERRAGRUNT)_' | sort | tr '\n' ' ' >"$log.env"
case $1 in -chdir=*) cd "${1#-chdir=}" && shift ;; esac
state=$(sed -n 's/.*"path": "\(.*\)".*/\1/p' hyops_override.tf.json)
is_same() { cmp -s "$state" inputs.auto.tfvars.json; }
case $1 in
init | validate) ;;
plan) case "$*" in *-detailed-exitcode*) is_same || exit 2 ;; esac ;;
apply) cp inputs.auto.tfvars.json "$state" ;;
destroy) rm -f "$state" ;;
output) echo '{"label": {"sensitive": false, "type": "string", "value": "a-b"},
    "pin": {"sensitive": true, "type": "string", "value": "1234"}}' ;;
*) exit 9 ;;
esac
"##;

/// A directory with stand-ins of these names.
fn stand_ins(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        program(&folder.path().join(name), STAND_IN);
    }
    folder
}

fn log(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let _ = fs::remove_file(folder.join("log"));
    text.lines().map(str::to_owned).collect()
}

fn trial(profile: &str, stack: &[(&str, &str)]) -> (tempfile::TempDir, Bench) {
    let release = release("iac/terragrunt", profile, stack);
    let bench = Bench::of(release.path(), "trial");
    (release, bench)
}

#[test]
fn a_plain_stack_runs_on_what_there_is() {
    for (names, program) in [
        (&["terragrunt", "tofu", "terraform"][..], "terragrunt"),
        (&["tofu", "terraform"], "tofu"),
        (&["terraform"], "terraform"),
    ] {
        let tools = stand_ins(names);
        let label = example("demo/label").only(tools.path());
        let ran = label.run(Command::Apply).succeeds();
        let labels =
            ["init", "output_before", "apply", "output"].map(|it| format!("terragrunt_{it}"));
        assert_eq!(ran.labels(), labels);
        let apply = format!("{program} apply -auto-approve -input=false");
        let output = format!("{program} output -no-color -json");
        assert_eq!(log(tools.path()), [format!("{program} {INIT}"), output.clone(), apply, output]);
        assert_eq!(*ran.output("label"), "a-b");
        assert_eq!(ran.outputs.unwrap().sensitive, ["pin"]);
    }
    let nothing = tempfile::tempdir().unwrap();
    let label = example("demo/label").only(nothing.path());
    assert_eq!(label.work(Command::Plan).unwrap().tools[0].words[0], "terragrunt");
}

#[test]
fn state_outlives_the_copy_of_the_stack() {
    let tools = stand_ins(&["tofu"]);
    let label = example("demo/label").only(tools.path());
    let verify = || label.run(Command::Verify);
    assert!(verify().differs);
    label.run(Command::Apply).succeeds();
    assert!(label.memory().join("terraform.tfstate").is_file());
    let looked = verify();
    assert!(!looked.differs, "{looked:?}");
    assert_eq!(looked.labels(), ["terragrunt_init", "terragrunt_output_before", "terragrunt_plan"]);
    label.run(Command::Validate).succeeds();
    label.run(Command::Destroy).succeeds();
    assert!(verify().differs);
    assert!(!label.stack.join("hyops_override.tf.json").exists(), "the pack is never written");
}

#[test]
fn every_command_has_its_arguments_and_asks_nobody() {
    let tools = stand_ins(&["tofu"]);
    let label = example("demo/label").only(tools.path());
    for (command, last) in [
        (Command::Plan, "tofu plan -input=false"),
        (Command::Verify, "tofu plan -input=false -detailed-exitcode"),
        (Command::Validate, "tofu validate"),
        (Command::Destroy, "tofu destroy -auto-approve -input=false"),
    ] {
        let mut words = label.words(command);
        assert_eq!(words.pop().as_deref(), Some(last));
        assert_eq!(words.remove(0), format!("tofu {INIT}"));
        let asked = if command == Command::Validate { &[][..] } else { &[OUTPUT] };
        assert_eq!(words, asked, "{command}");
    }
    label.run(Command::Plan);
    let variables = fs::read_to_string(tools.path().join("log.env")).unwrap();
    for name in ["TF_INPUT", "TF_IN_AUTOMATION", "TG_NON_INTERACTIVE"] {
        assert!(variables.split(' ').any(|found| found == name), "{variables}");
    }
    assert!(!variables.contains("TF_PLUGIN_CACHE_DIR"), "there is no cache yet");
    fs::create_dir_all(label.root.path().join("cache/terraform/plugins")).unwrap();
    label.run(Command::Plan);
    assert!(
        fs::read_to_string(tools.path().join("log.env")).unwrap().contains("TF_PLUGIN_CACHE_DIR")
    );
}

#[test]
fn a_profile_says_which_programs_and_arguments() {
    let profile = "terragrunt: {bin: tg, terraform_bin: tf, init_args: [init, -upgrade], \
                   plan_args: [plan, -input=false, -refresh=false]}\n";
    let tools = stand_ins(&["tg", "tf", "tofu"]);
    let (_release, bench) = trial(profile, &[("main.tf", "")]);
    let bench = bench.only(tools.path());
    let words = [
        "tf init -upgrade -input=false",
        "tf output -no-color -json",
        "tf plan -input=false -refresh=false",
    ];
    assert_eq!(bench.words(Command::Plan), words);
    let setting = bench.setting(Command::Plan, &bench.stack).unwrap();
    assert_eq!(setting.variables["TG_TF_PATH"].expose(), "tf");
    write(&bench.stack.join("terragrunt.hcl"), "");
    assert_eq!(bench.words(Command::Plan)[0], "tg init -upgrade -input=false");
}

#[test]
fn arguments_of_another_command_are_refused() {
    for profile in ["terragrunt: {plan_args: [apply]}\n", "terragrunt: {plan_args: []}\n"] {
        let (_release, bench) = trial(profile, &[("main.tf", "")]);
        let refused = bench.work(Command::Verify).unwrap_err();
        assert!(refused.message.contains("begins with the command"), "{refused:?}");
    }
}

#[test]
fn what_only_terragrunt_can_do_is_left_to_it() {
    let tools = stand_ins(&["tofu"]);
    for (config, needs) in [
        ("include \"root\" {\n  path = \"root.hcl\"\n}\n", "`include`"),
        ("terraform {\n  source = \"../elsewhere\"\n}\n", "`source`"),
        ("terraform {\n  source = \"./a//b\"\n}\n", "`source`"),
        ("terraform {\n  source = \"tfr:///a/b\"\n}\n", "`source`"),
    ] {
        let (_release, bench) = trial("", &[("terragrunt.hcl", config), ("main.tf", "")]);
        let work = bench.only(tools.path()).work(Command::Plan).unwrap();
        assert_eq!(work.tools[0].words[0], "terragrunt", "{config}");
        assert_eq!(work.facts["needs_terragrunt"], needs);
        let warning = &work.warnings[0];
        assert!(warning.contains("only terragrunt"), "{warning}");
    }
}

#[test]
fn a_source_within_the_stack_is_where_the_tool_works() {
    let tools = stand_ins(&["tofu"]);
    let config = "terraform {\n  source = \"./modules/a\"\n}\ninputs = { size = 3 }\n";
    let (_release, bench) =
        trial("", &[("terragrunt.hcl", config), ("modules/a/main.tf", ""), ("modules/b/x", "")]);
    let bench = bench.only(tools.path()).input("name", "n");
    let ran = bench.run(Command::Apply).succeeds();
    assert!(log(tools.path())[0].starts_with("tofu -chdir=modules/a init"));
    let written = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(ran.stack.join("modules/a").join(name)).unwrap())
            .unwrap()
    };
    assert_eq!(written("hyops.auto.tfvars.json"), json!({"size": 3}));
    assert_eq!(written("inputs.auto.tfvars.json"), json!({"name": "n"}));
    write(&bench.stack.join("terragrunt.hcl"), "terraform {\n  source = \"./modules/gone\"\n}\n");
    let refused = bench.work(Command::Plan).unwrap_err();
    assert!(refused.message.contains("`modules/gone`"), "{refused:?}");
}

#[test]
fn a_backend_that_is_said_is_left_alone() {
    let backend = |profile: &str, stack: &[(&str, &str)]| {
        let (release, bench) = trial(profile, stack);
        let template = "generate \"backend_local\" {\n  path = \"backend.tf\"\n}\n";
        write(&release.path().join("drivers/iac/terragrunt/templates/root.tmpl"), template);
        let setting = bench.setting(Command::Plan, &bench.stack).unwrap();
        let said = bench.work(Command::Plan).unwrap().facts["backend"].as_str().unwrap().to_owned();
        assert_eq!(setting.files.contains_key("hyops_override.tf.json"), said == "local");
        (said, setting.files.into_keys().collect::<Vec<_>>())
    };
    let local = backend("", &[("main.tf", "# backend \"s3\" {}\n")]);
    assert_eq!(local, ("local".to_owned(), vec!["hyops_override.tf.json".to_owned()]));
    let own = backend("", &[("main.tf", "terraform {\n  backend \"s3\" {}\n}\n")]);
    assert_eq!(own, ("pack".to_owned(), vec![]));
    let remote = backend("", &[("terragrunt.hcl", "remote_state {\n  backend = \"s3\"\n}\n")]);
    assert_eq!(remote.0, "pack");
    let profile = "templates: [{src: root.tmpl, dst: root.hcl}]\n";
    let include = "include \"root\" {\n  path = \"root.hcl\"\n}\n";
    let templates = backend(profile, &[("terragrunt.hcl", include), ("main.tf", "")]);
    assert_eq!(templates, ("profile".to_owned(), vec!["root.hcl".to_owned()]));
}

#[test]
fn a_mode_that_is_not_local_is_passed_to_the_stack_and_reported() {
    let (_release, bench) = trial("workspace_policy: {mode: cloud}\n", &[("main.tf", "")]);
    let work = bench.work(Command::Plan).unwrap();
    assert!(work.warnings[0].contains("`workspace_policy.mode: cloud`"));
    let setting = bench.setting(Command::Plan, &bench.stack).unwrap();
    assert_eq!(setting.variables["HYOPS_TERRAFORM_BACKEND_MODE"].expose(), "cloud");
}

/// The tools of this machine that can run a plain stack.
fn real() -> Vec<PathBuf> {
    let named = |name: &'static str| ambient().into_iter().map(move |it| it.join(name));
    ["tofu", "terraform"]
        .into_iter()
        .filter_map(|it| named(it).find(|path| path.is_file()))
        .collect()
}

#[test]
fn the_real_tools_make_and_keep_a_label() {
    let tools = real();
    if !needs::has("tofu or terraform", !tools.is_empty()) {
        return;
    }
    for tool in tools {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&tool, folder.path().join(tool.file_name().unwrap())).unwrap();
        let label = example("demo/label").only(folder.path());
        label.run(Command::Validate).succeeds();
        assert!(label.run(Command::Verify).differs);
        let ran = label.run(Command::Apply).succeeds();
        assert_eq!(*ran.output("label"), "demo-test");
        assert!(!label.run(Command::Verify).succeeds().differs);
        let label = label.input("environment", "live");
        let looked = label.run(Command::Verify);
        assert!(looked.differs, "{looked:#?}");
        assert_eq!(*label.run(Command::Apply).succeeds().output("label"), "demo-live");
        label.run(Command::Destroy).succeeds();
    }
}
