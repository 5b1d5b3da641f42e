//! Files that planning reads are watched, wherever they are and however their paths are written.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Watching, project};
use crate::support::Opal;

/// A task that reads `value` while it is planned. It has a `@cached`, so no other file counts.
fn reading(value: &str) -> Opal {
    let opal = project(&format!(
        "fun show(name = \"VERSION\") {{\n    var found = {value}\n    \
         @cached(inputs=[\"src/*.c\"]) {{ true }}\n    echo has @var.found\n}}\n"
    ));
    opal.file("VERSION", "long enough\n").file("other.txt", "1\n").file("k8s/a.yaml", "1\n")
}

#[test]
fn every_way_to_write_a_path_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside.txt");
    fs::write(&outside, "1\n").unwrap();
    let absolute = format!("@file.read(\"{}\")", outside.display());
    let hash = format!("@file.hash(\"{}\")", outside.display());
    for (value, changed) in [
        ("@file.read(\"VERSION\")", "VERSION"),
        ("@file.read(@var.name)", "VERSION"),
        ("@file.read(\"./k8s/../\" + @var.name)", "VERSION"),
        ("@file.read(\"~/x/settings\")", "home/x/settings"),
        ("@secret.file(\"link\")", "VERSION"),
        ("@file.hash(\"VERSION\")", "VERSION"),
        ("@file.exists(\"later\")", "later"),
        ("@file.exists(\"deep/er/later\")", "deep/er/later"),
        ("@file.glob(\"k8s/*.yaml\")", "k8s/b.yaml"),
        ("@file.glob(\"k8s/*.yaml\")", "k8s/a.yaml"),
        (&absolute, outside.to_str().unwrap()),
        (&hash, outside.to_str().unwrap()),
    ] {
        let opal = reading(value);
        fs::create_dir_all(opal.path().join("home/x")).unwrap();
        opal.write("home/x/settings", "1\n");
        symlink("VERSION", opal.path().join("link")).unwrap();
        let mut watching = Watching::begin(&opal, &["watch", "show"]);
        watching.until("has ").until("watching: ");
        opal.write("other.txt", "not read\n");
        let path = opal.path().join(changed);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("another text for {value}\n")).unwrap();
        watching.until("changed: ").until("has ").until("watching: ");
        assert_eq!(watching.count("other.txt"), 0, "{value}: {:#?}", watching.seen);
    }
}

#[test]
fn paths_that_depend_on_expensive_values_are_watched() {
    let text = "\
fun show() {
    var where = @shell.output(\"cat where\", public=true)
    var found = @file.read(where, public=true)
    @cached(inputs=[@shell.output(\"cat which\", public=true)], outputs=[where + \".out\"]) {
        touch one.out two.out
    }
    echo has @var.found
}
";
    let opal = project(text).file("where", "one\n").file("which", "src/a.c\n");
    let opal = opal.file("one", "first\n").file("two", "third\n").file("other.txt", "1\n");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    watching.until("has first").until("watching: ");
    opal.write("other.txt", "not read\n");
    opal.write("one", "second\n");
    watching.until("changed: `one`").until("has second").until("watching: ");
    opal.write("src/a.c", "more\n");
    watching.until("changed: `src/a.c`").until("has second").until("watching: ");
    // The command is not watched, so another change is needed.
    opal.write("where", "two\n");
    opal.write("src/a.c", "even more\n");
    watching.until("changed: `src/a.c`").until("has third").until("watching: ");
    opal.write("one", "not read any more\n");
    opal.write("two", "fourth\n");
    watching.until("changed: `two`").until("has fourth").until("watching: ");
    assert_eq!(watching.count("other.txt"), 0, "{:#?}", watching.seen);
    assert_eq!(watching.count("changed: "), 4, "{:#?}", watching.seen);
    // Nothing is left of what the rounds have said, even if the watch is killed.
    let prefix = format!("opal-watch-{}-", watching.child.id());
    let left = fs::read_dir(std::env::temp_dir()).unwrap().filter_map(Result::ok);
    let mut left = left.filter(|it| it.file_name().to_string_lossy().starts_with(&prefix));
    assert!(left.next().is_none());
}

#[test]
fn a_file_that_an_expensive_value_names_is_waited_for() {
    let opal = reading("@file.read(@shell.output(\"echo made/later\", public=true))");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    watching.until("made/later").until("watching: ");
    fs::create_dir(opal.path().join("made")).unwrap();
    opal.write("made/later", "1\n");
    watching.until("changed: `made/later`").until("has ").until("watching: ");
}

#[test]
fn a_file_that_a_plan_misses_is_waited_for() {
    let opal = reading("@file.read(\"made/later\")");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    watching.until("made/later").until("watching: ");
    fs::create_dir(opal.path().join("made")).unwrap();
    opal.write("made/later", "1\n");
    watching.until("changed: `made/later`").until("has ").until("watching: ");
}

#[test]
fn what_git_ignores_in_a_listed_directory_does_not_count() {
    let opal = reading("@file.glob(\"k8s/*\")");
    opal.write(".gitignore", "/home\n/k8s/*.log\n");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    watching.until("has ").until("watching: ");
    opal.write("k8s/run.log", "1\n");
    opal.write("k8s/c.yaml", "1\n");
    watching.until("changed: ").until("watching: ");
    assert_eq!(watching.count("changed: "), 1, "{:#?}", watching.seen);
    assert_eq!(watching.count("changed: `k8s`"), 1, "{:#?}", watching.seen);
}

#[test]
fn sources_and_environment_files_outside_the_project_are_watched() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (source, variables) = (at("tasks.opl"), at("x.env"));
    fs::write(&source, "fun say() {\n    echo \"level @env.LEVEL\"\n}\n").unwrap();
    fs::write(&variables, "LEVEL=1\n").unwrap();
    let opal = project("fun unused() = true\n");
    let words = ["-f", &source, "watch", "--env-file", &variables, "say"];
    let mut watching = Watching::begin(&opal, &words);
    watching.until("level 1").until("watching: ");
    fs::write(&variables, "LEVEL=2\n").unwrap();
    watching.until("changed: ").until("level 2").until("watching: ");
    fs::write(&source, "fun say() {\n    echo \"now @env.LEVEL\"\n}\n").unwrap();
    watching.until("changed: ").until("now 2").until("watching: ");
}

#[test]
fn outputs_that_a_glob_names_do_not_hide_inputs_beside_them() {
    let text = "\
fun build() {
    @cached(inputs=[\"src/*.c\"], outputs=[\"src/*.o\"]) {
        cp src/a.c src/a.o
        echo built
    }
}
";
    let opal = project(text);
    let mut watching = Watching::begin(&opal, &["watch", "build"]);
    watching.until("built").until("watching: ");
    opal.write("src/a.c", "more\n");
    watching.until("changed: `src/a.c`").until("built").until("watching: ");
    assert_eq!(watching.count("src/a.o`"), 0, "{:#?}", watching.seen);
}
