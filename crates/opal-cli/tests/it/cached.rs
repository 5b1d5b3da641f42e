//! `@cached`: a block runs where something that it depends on has changed, and only then.

mod attacks;
mod contracts;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Opal, Ran};
use crate::tree::tree;

/// Every run of the block adds a line to `home/ran`, which is neither an input nor an output.
pub(super) const BUILD: &str = "\
fun build(flavour = \"plain\") {
    @cached(inputs=[\"src/**\", \"build.conf\"], outputs=[\"dist\"], env=[\"MODE\"]) {
        echo @var.flavour @env.LEVEL(default=\"0\") >> home/ran
        mkdir -p dist
        cat src/* > dist/all
    }
}

fun deploy() {
    @needs.build()
    echo deployed
}
";

pub(super) fn project() -> Opal {
    let opal = Opal::machine(BUILD).file("src/a.c", "a\n").file("src/b.c", "b\n");
    let opal = opal.file("build.conf", "1\n").file(".gitignore", "*.tmp\n/dist\n/home\n");
    fs::create_dir(opal.path().join(".git")).unwrap();
    opal
}

/// How often the block has run.
pub(super) fn runs(opal: &Opal) -> usize {
    fs::read_to_string(opal.path().join("home/ran")).unwrap_or_default().lines().count()
}

#[track_caller]
pub(super) fn runs_block(opal: &Opal, words: &[&str]) -> Ran {
    let before = runs(opal);
    let ran = opal.call(words);
    ran.code(0);
    assert_eq!(runs(opal), before + 1, "{ran:#?}");
    ran
}

#[track_caller]
pub(super) fn skips_block(opal: &Opal, words: &[&str]) -> Ran {
    let before = runs(opal);
    let ran = opal.call(words);
    ran.code(0);
    assert_eq!(runs(opal), before, "{ran:#?}");
    ran
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn each_change_of_what_a_block_depends_on_runs_it_once_and_is_named() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("input `src/a.c` changed", |at| fs::write(at.join("src/a.c"), "A\n").unwrap()),
        ("input `src/new/c.c` is new", |at| {
            fs::create_dir(at.join("src/new")).unwrap();
            fs::write(at.join("src/new/c.c"), "").unwrap();
            fs::remove_dir(at.join("src/none")).unwrap_or_default();
        }),
        ("input `src/b.c` was removed", |at| fs::remove_file(at.join("src/b.c")).unwrap()),
        ("input `src/a.c` has another mode", |at| set_mode(&at.join("src/a.c"), 0o755)),
        ("input `build.conf` was removed", |at| fs::remove_file(at.join("build.conf")).unwrap()),
        ("output `dist/all` changed", |at| fs::write(at.join("dist/all"), "x").unwrap()),
        ("output `dist/more` is new", |at| fs::write(at.join("dist/more"), "x").unwrap()),
        ("output `dist/all` has another mode", |at| set_mode(&at.join("dist/all"), 0o700)),
        ("the output `dist` does not exist", |at| fs::remove_dir_all(at.join("dist")).unwrap()),
    ];
    for (words, change) in changes {
        let opal = project();
        let text = BUILD.replace("cat src/*", "cat src/*.c");
        opal.write("commands.opl", text);
        runs_block(&opal, &["build"]);
        skips_block(&opal, &["build"]).says("satisfied").hides("mkdir");
        change(&opal.path());
        opal.call(&["verify", "build", "-v"]).code(1).says(words);
        runs_block(&opal, &["build"]).says(words);
        // What the change has left in `dist` stays, and is remembered as it is now.
        skips_block(&opal, &["build"]).says("satisfied");
        opal.call(&["verify", "build", "-v"]).code(0);
    }
}

#[test]
fn values_variables_and_steps_count_too() {
    let opal = project();
    runs_block(&opal, &["build"]);
    let with = |env: &[(&str, &str)], expected: &str| {
        let before = runs(&opal);
        let verified = opal.call_with(env, &["verify", "build", "-v"]);
        verified.code(1).says(expected);
        opal.call_with(env, &["build"]).code(0).says(expected);
        assert_eq!(runs(&opal), before + 1);
        opal.call_with(env, &["build"]).code(0).says("satisfied");
        assert_eq!(runs(&opal), before + 1);
    };
    with(&[("MODE", "fast")], "variable `MODE` changed");
    with(&[("MODE", "")], "variable `MODE` changed");
    with(&[("LEVEL", "secret-level-9")], "value `env.LEVEL(default=\"0\")` changed");
    runs_block(&opal, &["build", "--flavour", "sweet"]);
    runs_block(&opal, &["build"]);
    opal.write("commands.opl", BUILD.replace("mkdir -p dist", "mkdir -p dist && true"));
    runs_block(&opal, &["build"]).says("no earlier run of this block is known");
}

#[test]
fn what_a_block_does_not_depend_on_does_not_run_it() {
    let opal = project();
    runs_block(&opal, &["build"]);
    opal.write("src/a.c", "a\n");
    opal.write("src/x.tmp", "ignored by git\n");
    opal.write("other.txt", "not an input\n");
    opal.write("commands.opl", format!("// A comment.\n{BUILD}"));
    assert!(opal.call_with(&[("ELSE", "1")], &["build"]).stderr.contains("satisfied"));
    skips_block(&opal, &["deploy"]).says("deployed");
    assert_eq!(runs(&opal), 1, "a dependency shares the entry of the task");
}

#[test]
fn verify_explains_and_a_dry_run_predicts_and_neither_writes() {
    let opal = project();
    let before = tree(&opal.path());
    opal.call(&["verify", "build"]).code(1).says("missing");
    assert_eq!(tree(&opal.path()), before, "not even a key");
    runs_block(&opal, &["build"]);
    opal.call(&["build", "--dry-run"]).code(0).says("skip").says("3 input files unchanged");
    opal.write("src/a.c", "other\n");
    // A plan makes the key of its placeholders.
    let before = tree(&opal.path());
    opal.call(&["verify", "build", "-v"]).code(1).says("input `src/a.c` changed");
    let ran = opal.call(&["build", "--dry-run"]);
    ran.code(0).says("correct").says("input `src/a.c` changed");
    assert_eq!(tree(&opal.path()), before);
    let json = opal.call(&["verify", "build", "--json"]).code(1).json();
    assert_eq!(json["results"][0]["status"], "drifted");
}

#[test]
fn entries_are_ignored_on_request_and_written_all_the_same() {
    let opal = project();
    runs_block(&opal, &["build", "--no-cache"]);
    skips_block(&opal, &["build"]);
    runs_block(&opal, &["build", "--no-cache"]).says("earlier runs are ignored");
    skips_block(&opal, &["build"]);
    opal.call(&["build", "--dry-run", "--no-cache"]).code(2).says("`--no-cache` applies to a run");
}

#[test]
fn a_block_that_fails_or_does_not_make_its_outputs_is_not_remembered() {
    let opal = project();
    opal.write("commands.opl", BUILD.replace("cat src/* > dist/all", "test -e home/ready"));
    opal.call(&["build"]).code(1);
    opal.call(&["verify", "build"]).code(1).says("no earlier run");
    opal.write("home/ready", "");
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]);
    let text = BUILD.replace("mkdir -p dist", "true").replace("cat src/* > dist/all", "true");
    opal.write("commands.opl", text);
    fs::remove_dir_all(opal.path().join("dist")).unwrap();
    opal.call(&["build"]).code(1).says("the block did not make its output `dist`");
}

#[test]
fn a_run_that_starts_inside_a_block_says_nothing_about_the_whole_of_it() {
    let opal = project();
    fs::create_dir(opal.path().join("dist")).unwrap();
    opal.call(&["build", "--from", "build.cached[0].shell[2]"]).code(0);
    opal.call(&["verify", "build"]).code(1).says("no earlier run");
    runs_block(&opal, &["build"]);
    let ran = opal.call(&["build", "--from", "build.cached[0].shell[0]"]);
    ran.code(0).hides(": satisfied");
    assert_eq!(runs(&opal), 2, "who asks for a step gets it");
}

#[test]
fn captured_values_count_and_are_unknown_before_the_run() {
    let text = "\
fun build() {
    let.v = @shell(\"cat level\", public=true)
    @cached(inputs=[\"src/**\"]) {
        echo @let.v >> home/ran
        let.own = @shell(\"echo 1\")
        true @let.own
    }
}
";
    let opal = project().file("level", "1\n");
    opal.write("commands.opl", text);
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]);
    opal.call(&["verify", "build", "-v"]).says("its block uses a run-time value");
    opal.write("level", "2\n");
    runs_block(&opal, &["build"]).says("value `let.v");
}

#[test]
fn steps_that_are_skipped_are_counted_and_recorded() {
    let opal = project();
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]).says("done: 0 steps, 3 skipped");
    let shown = opal.call(&["runs", "show", "--json"]).code(0).json();
    assert_eq!(shown["run"]["counts"]["skipped"], 3, "{shown:#}");
    let json = skips_block(&opal, &["build", "--json"]).json();
    assert_eq!(json["counts"]["skipped"], 3, "{json:#}");
}
