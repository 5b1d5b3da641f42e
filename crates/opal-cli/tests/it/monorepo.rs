//! `opal apps/web:build` and `opal apps/...:test`: which projects run, and which never do.

mod attacks;
mod contracts;

use crate::formats::git;
use crate::support::{Opal, assert_schema};

/// A repository with projects, committed.
pub(super) fn repository() -> Opal {
    let opal = Opal::machine("fun test() = echo root\n")
        .file("apps/web/commands.opl", "fun test() {\n    basename \"$PWD\"\n}\nfun build(env = \"dev\") = echo build @var.env\n")
        .file("apps/web/src/main.js", "")
        .file("apps/api/commands.opl", "fun test() = echo api\n")
        .file("apps/docs/commands.opl", "fun lint() = echo docs\n")
        .file("apps/team/inner/commands.opl", "fun test() = echo inner\n")
        .file("libs/ui/commands.opl", "fun test() = echo ui\n")
        .file(".gitignore", "home/\n*.plan\n");
    git(&opal, &["init", "-q", "-b", "main"]);
    commit(&opal);
    opal
}

pub(super) fn commit(opal: &Opal) {
    git(opal, &["add", "-A"]);
    git(opal, &["commit", "-q", "-m", "x"]);
}

/// What the projects printed, in the order of the plan.
#[track_caller]
pub(super) fn ran(opal: &Opal, words: &[&str]) -> String {
    let ran = opal.call(&[words, &["-q"]].concat());
    ran.code(0).stdout.replace('\n', " ").trim().to_owned()
}

#[test]
fn a_task_of_another_project_starts_in_its_directory() {
    let opal = repository();
    assert_eq!(ran(&opal, &["apps/web:test"]), "web");
    assert_eq!(ran(&opal, &["run", "./apps/web:test"]), "web");
    assert_eq!(ran(&opal, &["apps/web:build", "prod"]), "build prod");
    assert_eq!(ran(&opal, &["libs/ui:test"]), "ui");
    opal.call(&["plan", "apps/web:build", "--env=x"]).code(0).says("echo build x");
    opal.call(&["verify", "apps/web:build"]).code(0).says("nothing to verify");
    opal.call(&["apps/web:biuld"]).code(2).says("did you mean `build`?");
    opal.call(&["apps/none:test"]).code(66).says("apps/none/commands.opl");
    opal.call(&["-f", "commands.opl", "apps/web:test"]).code(2).says("both name a source");
    opal.call(&["apps/web:test", "--changed-since", "main"]).code(2).says("DIR/...:TASK");
}

#[test]
fn the_tasks_of_other_projects_are_listed_by_the_names_to_call_them() {
    let opal = repository();
    let listed = opal.call(&["list", "apps/..."]);
    let expected = "\
Tasks in apps/...

  apps/api
    apps/api:test

  apps/docs
    apps/docs:lint

  apps/team/inner
    apps/team/inner:test

  apps/web
    apps/web:test
    apps/web:build [--env=\"dev\"]

opal TASK -h shows the parameters of a task.
";
    listed.code(0).stdout(expected);
    let json = opal.call(&["list", "apps/...", "--json"]).code(0).json();
    assert_schema("list-1.json", &json);
    for task in json["tasks"].as_array().unwrap() {
        opal.call(&["plan", task["name"].as_str().unwrap()]).code(0);
    }
    assert_eq!(json["tasks"][0]["file"], "apps/api/commands.opl");
    opal.call(&["list", "apps/web"]).code(0).says("apps/web:build").hides("api");
    opal.call(&["list", "none/..."]).code(66);
    opal.call(&["list", "none"]).code(66).says("none/commands.opl");
    opal.call(&["list", "apps/...", "-f", "commands.opl"]).code(2).says("both name a source");
    opal.write(
        "apps/web/commands.opl",
        "import \"gone.opl\"\nfun test() = true\nfun _own() = true\n",
    );
    let listed = opal.call(&["list", "apps/..."]);
    listed.code(65).says("gone.opl").says("apps/web:test").says("apps/api:test").hides("_own");
    opal.call(&["list", "apps/web", "--all"]).code(65).says("apps/web:_own");
}

#[test]
fn directories_of_projects_are_not_tasks() {
    let opal = repository();
    for word in ["apps/...", "apps/web"] {
        let refused = opal.call(&[word]);
        refused.code(2).says("names projects, but no task").says(&format!("opal list {word}"));
    }
}

#[test]
fn a_selection_refuses_arguments_in_plain_words() {
    let opal = repository();
    opal.write("apps/web/commands.opl", "fun test(x = \"1\", more...) = echo @var.x @var.more\n");
    for (words, word) in [
        (&["apps/...:test", "foo"][..], "foo"),
        (&["apps/...:test", "--x=2"], "--x"),
        (&["plan", "apps/...:test", "--", "foo"], "foo"),
        (&["verify", "apps/...:test", "foo"], "foo"),
    ] {
        let refused = opal.call(words);
        refused.code(2).says(&format!("unexpected argument `{word}`")).says("passes no arguments");
        refused.says("opal DIR:TASK ARGUMENTS").hides("api");
    }
    opal.call(&["apps/...:test", "--dry-run", "--format"]).code(2).says("--format");
    opal.call(&["-q", "apps/web:test", "2", "a"]).code(0).stdout("2 a\n");
}

#[test]
fn all_projects_below_a_directory_that_have_the_task_run_sorted_in_one_plan() {
    let opal = repository();
    assert_eq!(ran(&opal, &["apps/...:test"]), "api inner web");
    assert_eq!(ran(&opal, &["run", "apps/...:test", "--jobs", "1"]), "api inner web");
    // The project of the directory itself is not below it.
    assert_eq!(ran(&opal, &["...:test"]), "api inner web ui");
    opal.call(&["apps/...:test", "--dry-run"]).code(0).says("@cmd.api.test() in api");
    let plan = opal.call(&["plan", "apps/...:test"]);
    let expected = "\
test:
└─ @parallel(on_failure=\"wait\")
   ├─ @cmd.api.test() in api
   │  └─ echo api
   ├─ @cmd.team_inner.test() in team/inner
   │  └─ echo inner
   └─ @cmd.web.test() in web
      └─ basename \"$PWD\"
";
    assert!(plan.code(0).stdout.starts_with(expected), "{}", plan.stdout);
    let runs = opal.call(&["runs", "list", "--json"]).json();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(3), "one record for each run");
}

#[test]
fn projects_are_selected_from_any_directory_of_the_repository() {
    let opal = repository();
    assert_eq!(ran(&opal, &["-C", "apps/web", "../...:test"]), "api inner web");
    assert_eq!(ran(&opal, &["-C", "apps/web/src", "../../...:test"]), "api inner web");
    assert_eq!(ran(&opal, &["apps/web/../...:test"]), "api inner web");
    opal.call(&["-C", "libs", "plan", "../apps/...:test"]).code(0).says("@cmd.web.test() in web");
}

#[test]
fn a_failure_in_one_project_does_not_stop_the_others() {
    let opal = repository();
    opal.write("apps/api/commands.opl", "fun test() = sh -c 'exit 5'\n");
    let run = opal.call(&["apps/...:test", "--jobs=1"]);
    assert_eq!(run.code(5).stdout, "inner\nweb\n", "{run:#?}");
    run.says("apps/api/commands.opl:1").says("opal apps/...:test --resume");
}

#[test]
fn only_projects_that_changed_since_a_commit_run_and_the_others_have_a_reason() {
    let opal = repository();
    git(&opal, &["tag", "base"]);
    let since = |opal: &Opal| {
        let run = opal.call(&["apps/...:test", "--changed-since", "base"]);
        let printed = run.code(0).stdout.replace('\n', " ").trim().to_owned();
        (printed, run.stderr.clone())
    };
    let (printed, said) = since(&opal);
    assert_eq!(printed, "");
    assert!(said.contains("omitted: apps/web: nothing has changed since "), "{said}");
    assert!(said.contains("no project is selected") && !said.contains("apps/docs"), "{said}");
    opal.write("apps/web/src/new.js", "untracked");
    assert_eq!(since(&opal).0, "web");
    commit(&opal);
    assert_eq!(since(&opal).0, "web");
    std::fs::remove_file(opal.path().join("apps/web/src/main.js")).unwrap();
    opal.write("libs/ui/x", "another project");
    assert_eq!(since(&opal).0, "web");
    opal.write("home/x", "ignored");
    assert_eq!(since(&opal).0, "web");
}

#[test]
fn a_change_in_what_a_project_imports_counts() {
    let opal = repository();
    let imports =
        "import \"../../libs/ui\" as ui\nimport \"../shared.opl\"\nfun test() = echo api\n";
    opal.write("apps/api/commands.opl", imports);
    opal.write("apps/shared.opl", "import \"deep.opl\"\nfun a() = echo a\n");
    opal.write("apps/deep.opl", "fun b() = echo b\n");
    commit(&opal);
    let since = |opal: &Opal| ran(opal, &["apps/...:test", "--changed-since", "HEAD"]);
    assert_eq!(since(&opal), "");
    opal.write("libs/ui/style.css", "");
    assert_eq!(since(&opal), "api");
    commit(&opal);
    opal.write("apps/deep.opl", "fun b() = echo changed\n");
    assert_eq!(since(&opal), "api");
}

#[test]
fn mistakes_are_explained() {
    let opal = repository();
    opal.call(&["apps/...:nothing"]).code(2).says("no project below `apps` has a task `nothing`");
    opal.call(&["apps/...:_x"]).code(2).says("cannot be selected");
    opal.call(&["none/...:test"]).code(66).says("none");
    opal.call(&["apps/...:test", "word"]).code(2).says("word");
    opal.call(&["apps/...:build"]).code(0).says("build dev");
    opal.write("apps/web/commands.opl", "fun test(env) = echo @var.env\n");
    opal.call(&["apps/...:test"]).code(2).says("`test` of `web` needs the argument `env`");
    opal.write("apps/web/commands.opl", "fun broken( {\n");
    opal.call(&["apps/...:test"]).code(65).says("so it is unknown whether it has a task `test`");
    let outside = Opal::machine("").file("apps/a/commands.opl", "fun test() = echo a\n");
    outside.call(&["apps/...:test"]).code(2).says("needs a git repository");
}

#[test]
fn targets_are_completed() {
    let opal = repository();
    let offered = |words: &[&str]| -> Vec<String> {
        let index = (words.len() - 1).to_string();
        let env = [
            ("OPAL_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", &index),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_IFS", "\n"),
        ];
        let ran = opal.call_with(&env, &[&["--"], words].concat());
        ran.code(0).stdout.lines().map(str::to_owned).collect()
    };
    for (words, expected) in [
        (&["opal", "apps/w"][..], &["apps/web:build", "apps/web:test"][..]),
        (&["opal", "apps/web:t"], &["apps/web:test"]),
        (&["opal", "plan", "apps/a"], &["apps/api:test"]),
        (&["opal", "run", "apps/...:l"], &["apps/...:lint"]),
        (&["opal", "apps/."], &["apps/...:build", "apps/...:lint", "apps/...:test"]),
    ] {
        let found = offered(words);
        for target in expected {
            assert!(found.iter().any(|one| one == target), "{words:?}: {found:?}");
        }
    }
}
