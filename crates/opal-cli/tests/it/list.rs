//! `opal list` and `opal` alone.

use crate::support::Opal;

const PROJECT: &str = r#"// Deploys the app.
// To one environment.
fun deploy(env: "dev" | "prod", replicas: Int = 3, wait = true, dry_run = false, tags...) {
    echo @var.env @var.replicas @var.tags
    if wait && !dry_run { echo waiting }
}

# Migrates the database.
fun db-migrate() = echo migrate

// Fills it.
fun db-seed(rows = 10) = echo @var.rows

fun _helper() = echo helper

check: echo mine
"#;

#[test]
fn bare_opal_lists_tasks_with_docs_and_parameters_grouped() {
    Opal::project(PROJECT).run().code(0).stderr("").stdout(
        "Tasks in commands.opl\n\n    deploy ENV [--replicas=3] [--no-wait] [--dry-run] [TAGS...]  \
         # Deploys the app.\n    check                (run it with: opal run check)\n\n  db\n    \
         db-migrate           # Migrates the database.\n    db-seed [--rows=10]  # Fills \
         it.\n\nopal TASK -h shows the parameters of a task.\n",
    );
}

#[test]
fn list_and_bare_opal_say_the_same() {
    let bare = Opal::project(PROJECT).run();
    let list = Opal::project(PROJECT).args(["list"]).run();
    assert_eq!(bare.stdout, list.stdout);
}

#[test]
fn private_tasks_are_listed_only_on_request() {
    let ran = Opal::project(PROJECT).args(["list", "--all"]).run();
    ran.code(0).says("_helper");
    assert!(!Opal::project(PROJECT).run().stdout.contains("_helper"));
}

#[test]
fn json_holds_everything_a_program_needs() {
    let document = Opal::project(PROJECT).args(["list", "--json"]).run().code(0).json();
    let deploy = &document["tasks"][0];
    assert_eq!(deploy["name"], "deploy");
    assert_eq!(deploy["docs"], "Deploys the app.\nTo one environment.");
    assert_eq!(deploy["params"][0]["choices"], serde_json::json!(["dev", "prod"]));
    assert_eq!(deploy["params"][0]["required"], true);
    assert_eq!(deploy["params"][1]["type"], "Int");
    assert_eq!(deploy["params"][1]["default"], "3");
    assert_eq!(deploy["params"][4]["rest"], true);
    assert_eq!(document["tasks"][1]["group"], "db");
    let check = document["tasks"].as_array().unwrap().iter().find(|t| t["name"] == "check");
    assert_eq!(check.unwrap()["reserved"], true);
}

#[test]
fn the_file_is_found_in_a_parent_directory() {
    let opal = Opal::project("fun up() = echo up\n").file("a/b/c.txt", "");
    let output = opal.command().current_dir(opal.path().join("a/b")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("up"), "{output:?}");
}

#[test]
fn another_file_is_named_with_f() {
    let opal = Opal::project("fun one() = echo 1\n").file("other.opl", "fun two() = echo 2\n");
    let ran = opal.args(["-f", "other.opl", "list"]).run();
    ran.code(0).says("two");
    assert!(!ran.stdout.contains("one"));
    let opal = Opal::new().file("other.opl", "fun two() = echo 2\n");
    opal.args(["list", "-f", "other.opl"]).run().code(0).says("two");
    let opal = Opal::new().file("other.opl", "fun two() = echo @var.x\n");
    opal.args(["check", "-f", "other.opl"]).run().code(65);
}

#[test]
fn outside_a_project_opal_says_how_to_start() {
    let ran = Opal::new().run();
    ran.code(0).says("No commands.opl here").says("fun hello(").says("opal check");
    Opal::new()
        .args(["list"])
        .run()
        .code(66)
        .says("no `commands.opl` here or in a parent directory");
    ran.hides("opal convert");
    let ran = Opal::new().file("Makefile", "a:\n").run();
    ran.code(0).says("opal convert Makefile -o commands.opl converts the tasks of that file");
}

#[test]
fn what_it_shows_to_start_with_is_a_correct_file() {
    let shown = Opal::new().run().stdout;
    let source: String = shown
        .lines()
        .skip_while(|line| !line.contains("// Says hello"))
        .take_while(|line| !line.starts_with("then"))
        .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
        .collect();
    assert_eq!(Opal::codes(source.trim()), [""; 0], "{source}");
}

#[test]
fn a_broken_file_still_lists_what_can_be_read() {
    let ran = Opal::project("fun a() = echo a\nvar x = [1,\nfun b() = echo b\n").run();
    ran.code(0).says("a").says("b");
}

#[test]
fn an_empty_project_says_what_a_task_is() {
    Opal::project("").run().code(0).says("has no tasks yet");
}

#[test]
fn opal_alone_with_json_is_the_list_in_json() {
    let opal = Opal::project("fun a() = echo a\nfun _b() = echo b\n");
    opal.call(&["--json"]).code(0).stdout(&opal.call(&["list", "--json"]).stdout);
    let none = Opal::new().call(&["--json"]);
    assert!(none.code(66).json()["error"]["message"].is_string());
}

const LONG: &str = r#"// # Building ##

var mode = "dev"

// Build it.
// target: what to build
// Note: this takes a while.
fun build(target, mode = "dev") = make @var.target @var.mode

fun _prepare() = echo prepare

# # Release

// Ship it.
//
// tags: names for the release.
// mode: not a parameter of this one
fun ship(tags...) = echo @var.tags @var.mode

## In the style of Makefiles.
fun undo() = echo undo

// # Building

fun clean() = make clean
"#;

#[test]
fn headings_in_comments_group_the_tasks_below_them() {
    let opal = Opal::project(LONG);
    opal.call(&[]).code(0).stdout(
        "Tasks in commands.opl\n\n  Building\n    build TARGET [--mode=\"dev\"]  # Build it.\n    \
         clean\n\n  Release\n    ship [TAGS...]               # Ship it.\n    \
         undo                         # In the style of Makefiles.\n\n\
         opal TASK -h shows the parameters of a task.\n",
    );
    let document = opal.call(&["list", "--json"]).json();
    let tasks = document["tasks"].as_array().unwrap();
    let groups: Vec<&str> = tasks.iter().map(|task| task["group"].as_str().unwrap()).collect();
    assert_eq!(groups, ["Building", "Building", "Release", "Release", "Building"]);
    // A heading is not documentation, and lines about parameters are theirs.
    assert_eq!(tasks[0]["docs"], "Build it.\nNote: this takes a while.");
    assert_eq!(tasks[0]["params"][0]["docs"], "what to build");
    assert_eq!(tasks[0]["params"][1]["docs"], serde_json::Value::Null);
    assert_eq!(tasks[2]["docs"], "Ship it.\n\nmode: not a parameter of this one");
    assert_eq!(tasks[2]["params"][0]["docs"], "names for the release.");
    assert_eq!(tasks[1]["private"], true);
    opal.call(&["check"]).code(0);
    let before = opal.read("commands.opl");
    opal.call(&["fmt", "--check"]).code(0);
    assert_eq!(opal.read("commands.opl"), before);
}

#[test]
fn help_and_completion_show_what_the_documentation_says_about_a_parameter() {
    let opal = Opal::project(LONG);
    let help = opal.call(&["build", "-h"]);
    help.code(0).says("what to build. String [required]").hides("target: what to build");
    opal.call(&["ship", "--help"]).code(0).says("names for the release. Array[String]");
    let asked = [("OPAL_COMPLETE", "zsh"), ("_CLAP_COMPLETE_INDEX", "2")];
    let words = opal.call_with(&asked, &["--", "opal", "build", "--t"]);
    words.code(0).says("--target").says("what to build");
    let asked = [("OPAL_COMPLETE", "zsh"), ("_CLAP_COMPLETE_INDEX", "1")];
    opal.call_with(&asked, &["--", "opal", ""]).code(0).says("ship").hides("_prepare");
}

#[test]
fn headings_of_imported_files_group_their_tasks_after_the_namespace() {
    let text = "import \"tasks/db.opl\"\n// # Build\nfun build() = true\n";
    let opal = Opal::machine(text).file(
        "tasks/db.opl",
        "fun first() = true\n// # Backup\nfun dump() = true\n// # Build\nfun index() = true\n",
    );
    let expected = "\
Tasks in commands.opl

    db.first

  Build
    build

  db: Backup
    db.dump

  db: Build
    db.index

opal TASK -h shows the parameters of a task.
";
    opal.call(&["list"]).code(0).stdout(expected);
    let json = opal.call(&["list", "--json"]).code(0).json();
    assert_eq!(json["tasks"][2]["group"], "db: Backup", "{json:#}");
    opal.call(&["doc"]).code(0).says("## db: Backup\n\n### db.dump");
}

#[test]
fn one_form_of_a_signature_is_shown_everywhere() {
    let opal =
        Opal::machine("fun deploy(env, dry_run = false, fast = true, n = 3, files...) = true\n");
    let form = "deploy ENV [--dry-run] [--no-fast] [--n=3] [FILES...]";
    for words in [&["list"][..], &["deploy", "-h"], &["deploy", "--help"], &["doc"], &["deploy"]] {
        opal.call(words).says(form);
    }
}

#[test]
fn help_shows_parameters_before_options() {
    let opal = Opal::machine("fun deploy(env) = true\n");
    for word in ["-h", "--help"] {
        let shown = opal.call(&["deploy", word]).code(0).stdout.clone();
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at("Parameters,") < at("Options:"), "{shown}");
    }
}
