//! Completion: the shell asks opal.

mod shells;

use crate::support::{Opal, repository};

#[test]
fn each_shell_gets_its_script() {
    for shell in ["bash", "zsh", "fish"] {
        Opal::new().args(["completions", shell]).run().code(0).says("OPAL_COMPLETE");
    }
    Opal::new()
        .args(["completions", "tcsh"])
        .run()
        .code(2)
        .says("expected one of: bash, elvish, fish, powershell, zsh");
}

/// What bash would offer for the words, the last of which is being typed.
fn offered(project: &str, words: &[&str]) -> Vec<String> {
    offered_with(project, ("NOTHING", ""), words)
}

fn offered_with(project: &str, (name, value): (&str, &str), words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let mut args = vec!["--"];
    args.extend(words);
    let ran = Opal::project(project)
        .args(args)
        .env(name, value)
        .env("OPAL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", &index)
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_IFS", "\n")
        .run();
    ran.code(0).stdout.lines().map(str::to_owned).collect()
}

#[test]
fn tasks_and_built_ins_are_completed() {
    let project =
        "fun deploy(env: \"dev\" | \"prod\", replicas = 3) = echo @var.env @var.replicas\n";
    assert!(offered(project, &["opal", "dep"]).contains(&"deploy".into()));
    assert!(offered(project, &["opal", "che"]).contains(&"check".into()));
    let flags = offered(project, &["opal", "deploy", "--rep"]);
    assert!(flags.iter().any(|flag| flag.starts_with("--replicas")), "{flags:?}");
    let values = offered(project, &["opal", "deploy", "p"]);
    assert!(values.contains(&"prod".into()), "{values:?}");
}

#[test]
fn a_task_that_has_the_name_of_a_command_is_completed_in_its_place() {
    let project = "fun pick(env: \"dev\" | \"prod\") = echo @var.env\n";
    assert_eq!(offered(project, &["opal", "pic"]), ["pick"]);
    assert_eq!(offered(project, &["opal", "pick", "p"]), ["prod"]);
    assert!(offered(project, &["opal", "pick", "--pri"]).is_empty());
}

#[test]
fn tasks_and_their_flags_are_completed_behind_plan_and_run() {
    let project = "fun deploy(env: \"dev\" | \"prod\", replicas = 3) = echo @var.env @var.replicas\n\
                   fun show() = echo a\nfun plan() = echo b\n";
    let has = |words: &[&str], wanted: &str| {
        let all = offered(project, words);
        assert!(all.iter().any(|one| one == wanted), "{words:?}: {all:?}");
    };
    has(&["opal", "deploy", "--dry"], "--dry-run");
    has(&["opal", "deploy", "--output", "fo"], "folded");
    has(&["opal", "--dry-run", "dep"], "deploy");
    has(&["opal", "run", "dep"], "deploy");
    has(&["opal", "run", "deploy", "--rep"], "--replicas");
    has(&["opal", "run", "--pl"], "--plan");
    let project = &project.replace("fun plan()", "fun planned()");
    let has = |words: &[&str], wanted: &str| {
        let all = offered(project, words);
        assert!(all.iter().any(|one| one == wanted), "{words:?}: {all:?}");
    };
    has(&["opal", "plan", "dep"], "deploy");
    has(&["opal", "plan", "deploy", "p"], "prod");
    has(&["opal", "plan", "deploy", "--exp"], "--expires");
    has(&["opal", "plan", "ver"], "verify");
}

#[test]
fn a_tasks_own_things_are_offered_first() {
    let project = "fun deploy(env: \"dev\" | \"prod\", replicas = 3, wait = true) = \
                   echo @var.env @var.replicas @var.wait\nfun build() = echo a\n";
    let words = offered(project, &["opal", ""]);
    assert_eq!(words[..2], ["build", "deploy"], "{words:?}");
    let options = words.iter().filter(|word| word.starts_with('-'));
    assert_eq!(options.collect::<Vec<_>>(), ["--help", "--version"]);
    // Options are offered after `-`, or where there is nothing else.
    assert_eq!(offered(project, &["opal", "deploy", ""]), ["dev", "prod"]);
    let words = offered(project, &["opal", "build", ""]);
    assert!(words.contains(&"--dry-run".into()), "{words:?}");
    for begun in ["-", "--"] {
        let words = offered(project, &["opal", "deploy", "dev", begun]);
        assert_eq!(words[..4], ["--env", "--replicas", "--wait", "--no-wait"], "{words:?}");
        assert!(words.contains(&"--dry-run".into()), "{words:?}");
    }
    assert_eq!(offered(project, &["opal", "deploy", "--env", ""]), ["dev", "prod"]);
}

#[test]
fn outside_a_project_built_ins_are_still_completed() {
    let ran = Opal::new()
        .args(["--", "opal", "exp"])
        .env("OPAL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "1")
        .env("_CLAP_IFS", "\n")
        .run();
    ran.code(0).says("explain");
}

#[test]
fn modules_and_targets_are_completed() {
    let modules = repository().join("examples/modules/modules");
    let root = ("HYOPS_MODULES_ROOT", modules.to_str().unwrap());
    let offered = |words: &[&str]| offered_with("", root, words);
    assert_eq!(offered(&["opal", "module", "apply", "demo/s"]), ["demo/server"]);
    assert_eq!(offered(&["opal", "module", "init", "het"]), ["hetzner"]);
}

#[test]
fn a_task_that_is_defined_twice_is_completed_without_parameters() {
    let project = "fun build(env: \"dev\") = echo @var.env\nfun build(tag: \"v1\") = echo @var.tag\n\
                   fun test() = true\n";
    assert_eq!(offered(project, &["opal", ""])[..2], ["build", "test"]);
    let words = offered(project, &["opal", "build", ""]);
    assert!(words.contains(&"--help".into()), "{words:?}");
    for own in ["dev", "v1", "--env", "--tag"] {
        assert!(!words.contains(&own.into()), "{own} of {words:?}");
    }
    // Completion only reads: what is wrong with the file is said by what runs it.
    Opal::project(project).args(["build"]).run().code(65).says("E0404");
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_built_in_commands() {
    for text in [&b"\xff\xfe"[..], b"fun a( {{{\n", b"version: '3'\ntasks:\n"] {
        let opal = Opal::new().file("commands.opl", text).args(["--", "opal", "exp"]);
        let ran = opal.env("OPAL_COMPLETE", "bash").run();
        ran.code(0).stdout("explain\n").stderr("");
    }
}

#[test]
fn decorators_and_codes_are_completed_after_explain() {
    let offered = |word: &str| offered("fun a() = true\n", &["opal", "explain", word]);
    assert_eq!(offered("@file.rea"), ["@file.read"]);
    assert_eq!(offered("file.rea"), ["file.read"]);
    assert_eq!(offered("E0401"), ["E0401"]);
    let all = offered("");
    assert!(all.contains(&"retry".into()) && !all.contains(&"E0401".into()), "{all:?}");
}
