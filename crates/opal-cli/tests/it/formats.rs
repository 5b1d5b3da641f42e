//! Format 1.1: defaults in plan and hash, what provenance has besides, and contracts of format 1.0.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Opal, Ran};

/// A contract that an opal of format 1.0 has made, with its source and the key it is sealed to, which
/// opens nothing else.
fn old_contract() -> Opal {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/contract-1.0");
    let file = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let source = String::from_utf8(file("commands.opl")).unwrap();
    let opal =
        Opal::machine(&source).file("old.plan", file("old.plan")).file("ci.key", file("ci.key"));
    let key = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(opal.path().join("ci.key"), key).unwrap();
    opal.env("DEPLOYER", "ada")
}

fn run_old(opal: &Opal, env: &[(&str, &str)], more: &[&str]) -> Ran {
    let line = [&["run", "--plan", "old.plan", "--identity", "ci.key"], more].concat();
    opal.call_with(env, &line)
}

#[test]
fn a_contract_of_format_1_0_is_shown_and_runs_with_the_values_it_was_made_with() {
    let opal = old_contract();
    opal.call(&["plan", "show", "old.plan", "--identity", "ci.key"])
        .code(0)
        .says("@retry(delay=10ms)")
        .says("f20fbe4041cc1d3946a86bcb568b595365c85ba4db752b68eea06248c93c90bd");
    run_old(&opal, &[], &[]).code(0).hides("older opal");
    assert_eq!(opal.read("drawn.txt"), "4HE9yNlkWAdk");
}

#[test]
fn a_contract_of_format_1_0_that_differs_says_that_an_older_opal_made_it() {
    let opal = old_contract();
    let refused = run_old(&opal, &[("DEPLOYER", "bob")], &[]);
    refused.code(76).says("env.DEPLOYER: <3:sha256:").says("an older opal made this contract");
    refused.says("`opal plan -o old.plan --identity ci.key deploy --env=prod`");
    let document = run_old(&opal, &[("DEPLOYER", "bob")], &["--json"]).json();
    assert_eq!(document["made_by_older"], true);
}

#[test]
fn old_and_new_contracts_of_one_plan_are_the_same_plan() {
    let opal = old_contract();
    let new = ["plan", "-o", "new.plan", "--identity", "ci.key", "deploy", "--env", "prod"];
    opal.call(&new).code(0);
    assert_eq!(&opal.bytes("new.plan")[4..8], [1, 0, 1, 0]);
    let line = ["plan", "diff", "old.plan", "new.plan", "--identity", "ci.key"];
    // The random values are drawn again, and nothing else differs.
    let document = opal.call(&[&line[..], &["--json"]].concat()).json();
    let steps = document["differences"].as_array().unwrap();
    assert!(steps.iter().all(|one| one["change"] == "value"), "{steps:#?}");
}

fn hash(source: &str) -> (String, Value) {
    let opal = Opal::machine(source);
    let document = opal.call(&["plan", "t", "--json"]).json();
    (document["header"]["plan_hash"].as_str().unwrap().to_owned(), document["steps"].clone())
}

#[test]
fn an_argument_that_says_its_default_is_the_same_plan_as_none() {
    for (one, other) in [
        ("@retry() { true }", "@retry(attempts=3) { true }"),
        ("@retry { true }", "@retry(times=3, delay=1s, strategy=\"exponential\") { true }"),
        ("true", "@shell(\"true\", allow_failure=false)"),
        ("@timeout(5s) { true }", "@timeout(5s, grace=10s) { true }"),
        ("@log(\"a\")", "@log(\"a\", level=\"info\")"),
        ("echo a > @file.write(\"x\")", "echo a > @file.write(\"x\", append=false)"),
    ] {
        let of = |body: &str| hash(&format!("fun t() {{\n    {body}\n}}\n")).0;
        assert_eq!(of(one), of(other), "{one}");
    }
    let (_, steps) = hash("fun t() {\n    @retry { true }\n}\n");
    assert_eq!(steps[0]["args"]["attempts"], 3);
    assert_eq!(steps[0]["block"][0]["args"]["allow_failure"], false);
}

#[test]
fn a_tree_shows_defaults_only_where_it_is_asked_to() {
    let opal = Opal::machine("fun t() {\n    @retry(attempts=3) { true }\n}\n");
    opal.call(&["plan", "t"])
        .code(0)
        .says("├─ @retry\n".trim_start_matches("├─ "))
        .hides("attempts");
    opal.call(&["plan", "t", "--defaults"]).code(0).says("@retry(attempts=3, delay=1s");
    opal.call(&["plan", "t", "-o", "t.plan"]).code(0);
    opal.call(&["plan", "show", "t.plan"]).code(0).hides("attempts");
    opal.call(&["plan", "show", "t.plan", "--defaults"]).code(0).says("attempts=3");
}

#[expect(clippy::disallowed_methods, reason = "git is another program, run by a test")]
pub(crate) fn git(opal: &Opal, words: &[&str]) {
    let git = Command::new("git")
        .current_dir(opal.path())
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
        .args(words)
        .env("HOME", opal.path().join("home"))
        .output()
        .expect("git is needed for this test; install it");
    assert!(git.status.success(), "{git:?}");
}

#[test]
fn uncommitted_changes_of_the_source_are_marked() {
    let opal = Opal::machine("fun t() {\n    true\n}\n");
    let shown = |name: &str| {
        opal.call(&["plan", "t", "-o", name]).code(0);
        let tree = opal.call(&["plan", "show", name]).stdout;
        let line = tree.lines().find(|line| line.starts_with("Commit:")).map(str::to_owned);
        let document = opal.call(&["plan", "show", name, "--json"]).json();
        (line, document["provenance"]["source_modified"].clone())
    };
    assert_eq!(shown("none.plan"), (None, Value::Null));
    git(&opal, &["init", "-q"]);
    git(&opal, &["add", "commands.opl"]);
    git(&opal, &["commit", "-q", "-m", "one"]);
    let (line, modified) = shown("clean.plan");
    assert!(line.is_some_and(|line| !line.contains("modified")) && modified == Value::Null);
    opal.write("commands.opl", "fun t() {\n    true\n    false\n}\n");
    for step in ["changed", "staged"] {
        let (line, modified) = shown(&format!("{step}.plan"));
        assert!(line.is_some_and(|line| line.ends_with(", modified")), "{step}");
        assert_eq!(modified, true, "{step}");
        git(&opal, &["add", "commands.opl"]);
    }
    git(&opal, &["commit", "-q", "-m", "two"]);
    assert_eq!(shown("again.plan").1, Value::Null);
    // A source that no commit has is modified as well.
    opal.write("other.opl", "fun t() {\n    true\n}\n");
    opal.call(&["-f", "other.opl", "plan", "t", "-o", "other.plan"]).code(0);
    opal.call(&["plan", "show", "other.plan"]).says(", modified");
}

#[test]
fn records_say_whether_the_source_was_as_committed() {
    let opal =
        Opal::machine("fun t() {\n    echo @env.X\n}\n").file(".gitignore", "*.plan\nhome\n");
    git(&opal, &["init", "-q", "."]);
    git(&opal, &["add", "."]);
    git(&opal, &["commit", "-q", "-m", "one"]);
    let env = [("X", "1")];
    let shown = |is_modified: bool| {
        let run = opal.call(&["runs", "show", "last", "--json"]).json()["run"].clone();
        assert_eq!(run["commit"].as_str().map(str::len), Some(40), "{run}");
        assert_eq!(run.get("modified").is_some(), is_modified, "{run}");
        let text = opal.call(&["runs", "show", "last"]);
        if is_modified {
            text.says(", modified\n")
        } else {
            text.hides("modified")
        };
    };
    opal.call_with(&env, &["t"]).code(0);
    shown(false);
    opal.call_with(&env, &["plan", "-o", "c.plan", "t"]).code(0);
    opal.write("commands.opl", "fun t() {\n    # other\n    echo @env.X\n}\n");
    opal.call_with(&env, &["t"]).code(0);
    shown(true);
    opal.call_with(&env, &["run", "--plan", "c.plan"]).code(0);
    shown(true);
    opal.call_with(&[("X", "2")], &["run", "--plan", "c.plan"]).code(76);
    shown(true);
    git(&opal, &["commit", "-q", "-a", "-m", "two"]);
    opal.call_with(&env, &["t"]).code(0);
    shown(false);
    opal.call_with(&env, &["-f", "commands.opl", "t", "--no-record"]).code(0);
    opal.write("new.opl", "true\n");
    opal.call(&["new.opl"]).code(0);
    shown(true);
}

#[test]
fn diff_names_options_and_arguments_that_no_hash_has() {
    let opal = Opal::machine("fun t(unused = \"a\") {\n    true\n}\n").file("e.env", "# nothing\n");
    opal.call(&["plan", "-o", "a.plan", "t"]).code(0);
    let more = ["plan", "-o", "b.plan", "--env-file", "e.env", "--once", "--expires", "1h"];
    opal.call(&[&more[..], &["t", "--unused", "b"]].concat()).code(0);
    let compared = opal.call(&["plan", "diff", "a.plan", "b.plan"]);
    compared.code(1).says("the plans are the same").says("option --once: not given (first)");
    compared.says("option --expires: not given (first), 1h (second)");
    compared.says("option --env-file: not given (first)").says("e.env (second)");
    compared.says("\nargument unused: not given (first), b (second)");
    let document = opal.call(&["plan", "diff", "a.plan", "b.plan", "--json"]).json();
    assert_eq!(document["same"], true);
    assert_eq!(document["options"].as_array().unwrap().len(), 4);
    opal.call(&["plan", "diff", "a.plan", "a.plan"]).code(0).hides("option");
    let (one, two) = (opal.path().join("one"), opal.path().join("two"));
    for (root, name) in [(&one, "one.plan"), (&two, "two.plan")] {
        let root = root.display().to_string();
        opal.call(&["plan", "-o", name, "--root", &root, "t"]).code(0);
    }
    opal.call(&["plan", "diff", "one.plan", "two.plan"]).code(1).says("option --root: ");
}

#[test]
fn provenance_lists_the_source_files_with_their_digests() {
    let opal = Opal::machine("fun t() {\n    true\n}\n");
    opal.call(&["plan", "-o", "t.plan", "t"]).code(0);
    let document = opal.call(&["plan", "show", "t.plan", "--json"]).json();
    let sources = document["provenance"]["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1);
    assert_eq!(sources[0]["path"], "commands.opl");
    assert_eq!(sources[0]["digest"], document["header"]["source_hash"]);
}

/// A hook of git runs opal with variables that lead every `git` to the repository of the hook.
#[test]
fn a_hook_of_another_repository_does_not_decide_which_commit_it_is() {
    let source = "fun t() {\n    echo commit=@git.commit branch=@git.branch\n}\n";
    let opal = Opal::machine(source).file(".gitignore", "*.plan\nhome\nother\n");
    git(&opal, &["init", "-q", "--initial-branch=ours", "."]);
    git(&opal, &["add", "."]);
    git(&opal, &["commit", "-q", "-m", "one"]);
    git(&opal, &["init", "-q", "--initial-branch=theirs", "other"]);
    git(&opal, &["-C", "other", "commit", "-q", "--allow-empty", "-m", "two"]);
    let other = opal.path().join("other");
    let (theirs, work) = (other.join(".git").display().to_string(), other.display().to_string());
    let index = other.join(".git/index").display().to_string();
    let objects = other.join(".git/objects").display().to_string();
    let hook = [
        ("GIT_DIR", &*theirs),
        ("GIT_WORK_TREE", &work),
        ("GIT_INDEX_FILE", &index),
        ("GIT_OBJECT_DIRECTORY", &objects),
        ("GIT_COMMON_DIR", &theirs),
        ("GIT_PREFIX", "sub/"),
        ("GIT_NAMESPACE", "else"),
    ];
    let printed = opal.call(&["t"]).stdout;
    assert!(printed.contains("branch=ours"), "{printed}");
    let commit = |name: &str, env: &[(&str, &str)]| {
        opal.call_with(env, &["plan", "t", "-o", name]).code(0);
        opal.call(&["plan", "show", name, "--json"]).json()["provenance"].clone()
    };
    let without = commit("without.plan", &[]);
    assert!(without["source_commit"].as_str().is_some_and(|it| printed.contains(it)), "{without}");
    // One at a time, and all of them.
    for env in hook.iter().map(std::slice::from_ref).chain([&hook[..]]) {
        assert_eq!(opal.call_with(env, &["t"]).stdout, printed, "{env:?}");
        let with = commit("with.plan", env);
        for field in ["source_commit", "source_modified"] {
            assert_eq!(with[field], without[field], "{env:?}");
        }
        opal.call_with(env, &["run", "--plan", "without.plan"]).code(0);
    }
}
