//! `opal init`: a first file, and nothing that was there before is lost.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::Opal;

#[test]
fn every_kind_of_project_gets_tasks_that_are_formatted_and_without_mistakes() {
    for (files, tasks) in [
        (&[][..], "hello"),
        (&["Cargo.toml"], "build test lint"),
        (&["package.json", "yarn.lock"], "install build"),
        (&["pyproject.toml", "uv.lock"], "build test"),
        (&["go.mod"], "build test lint"),
        (&["k8s/app.yaml"], "k8s-diff k8s-apply"),
        (&["main.tf"], "infra-plan infra-apply"),
        (
            &["Cargo.toml", "go.mod", "main.tf"],
            "build lint test rust-build rust-test rust-lint go-build go-test go-lint infra-plan \
             infra-apply",
        ),
    ] {
        let package = r#"{"scripts": {"build": "vite build", "$(touch pwned)": "x"}}"#;
        let opal = files.iter().fold(Opal::new(), |opal, name| {
            opal.file(name, if *name == "package.json" { package } else { "" })
        });
        let document = opal.call(&["init", "--json"]).code(0).json();
        let named = document["tasks"].as_array().unwrap().iter();
        let named: Vec<&str> = named.filter_map(|it| it.as_str()).collect();
        assert_eq!(named.join(" "), tasks, "{files:?}");
        opal.call(&["check"]).code(0).hides("warning");
        opal.call(&["fmt", "--check"]).code(0);
        opal.call(&[named[0], "--dry-run"]).code(0);
        opal.call(&["list"]).code(0).says(named[0]);
        assert!(!opal.read("commands.opl").contains("pwned"));
    }
}

#[test]
fn what_it_wrote_says_what_to_do_next() {
    let opal = Opal::new().file("Cargo.toml", "").file("justfile", "x:\n").file("Makefile", "x:\n");
    let ran = opal.call(&["init"]);
    ran.code(0).says("Wrote commands.opl, for Cargo.toml").says("opal build --dry-run");
    ran.says("opal convert justfile -o commands.opl --force");
    ran.says("opal convert Makefile -o commands.opl --force");
    opal.call(&["convert", "justfile", "-o", "commands.opl", "--force"]).code(0);
    Opal::new().call(&["init"]).code(0).says("Wrote commands.opl, with an example");
}

#[test]
fn a_file_is_never_overwritten() {
    let opal = Opal::project("fun mine() = true\n");
    opal.call(&["self", "init"]).code(74).says("already exists").says("`opal`");
    assert_eq!(opal.read("commands.opl"), "fun mine() = true\n");
    // A symlink that leads nowhere is something too.
    let opal = Opal::new();
    symlink("elsewhere", opal.path().join("commands.opl")).unwrap();
    opal.call(&["self", "init"]).code(74).says("already exists");
    assert!(!opal.path().join("elsewhere").exists());
    let opal = Opal::new();
    fs::create_dir(opal.path().join("commands.opl")).unwrap();
    opal.call(&["self", "init"]).code(74).says("already exists");
}

#[test]
fn of_many_at_once_one_writes_and_the_others_say_so() {
    let opal = Opal::new();
    let start = || opal.command().args(["self", "init"]).spawn().unwrap();
    let all: Vec<_> = (0..8).map(|_| start()).collect();
    let codes: Vec<_> =
        all.into_iter().map(|it| it.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 74))), "{codes:?}");
    opal.call(&["check"]).code(0);
    let left: Vec<_> =
        fs::read_dir(opal.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["commands.opl"]);
}

#[test]
fn a_task_of_this_name_wins_and_self_reaches_the_command() {
    let opal = Opal::project("fun init() = echo mine\n").file("below/.keep", "");
    opal.call(&["init"]).code(0).stdout("mine\n");
    opal.call(&["-C", "below", "init"]).code(0).stdout("mine\n");
    let ran = opal.call(&["-C", "below", "self", "init"]);
    ran.code(0).says("no longer found here").says("opal -C below hello --dry-run");
    assert!(opal.path().join("below/commands.opl").is_file());
    opal.call(&["check"]).code(0);
}

#[test]
fn it_writes_only_here() {
    let opal = Opal::new();
    opal.call(&["-g", "self", "init"]).code(2).says("omit `-f` and `-g`");
    opal.call(&["-f", "x.opl", "self", "init"]).code(2);
    opal.call(&["init", "x"]).code(2);
}
