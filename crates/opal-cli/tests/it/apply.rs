//! `opal apply`, `--verify-first` and `--dry-run`.

mod agreeing;
mod counts;
mod deep;
mod failing;
mod leftovers;
mod settings;
mod steps;
mod told;

use crate::support::{Opal, assert_schema};
use crate::tree::tree;

/// Five directories, each in the one before.
fn five() -> Opal {
    let path = |n: usize| (0..=n).map(|n| format!("d{n}")).collect::<Vec<_>>().join("/");
    let step = |n: usize| {
        let after = n.checked_sub(1).map_or(String::new(), |before| format!("s{before}"));
        format!("  - {{id: s{n}, type: directory, path: {}, depends_on: [{after}]}}\n", path(n))
    };
    let text = format!("version: 1\nsteps:\n{}", (0..5).map(step).collect::<String>());
    Opal::machine("").file("a.yaml", text)
}

#[test]
fn five_missing_steps_are_applied_in_one_go() {
    for more in [&[][..], &["--verify-first"], &["--jobs", "1"], &["--verify-first", "-q"]] {
        let opal = five();
        opal.call(&[&["apply", "a.yaml"], more].concat()).code(0);
        assert!(opal.path().join("d0/d1/d2/d3/d4").is_dir(), "{more:?}");
        opal.call(&["verify", "a.yaml"]).code(0);
        let ran = opal.call(&[&["apply", "a.yaml", "--json"], more].concat());
        let counts = &ran.code(0).json()["counts"];
        assert_eq!((&counts["done"], &counts["satisfied"]), (&0.into(), &5.into()), "{ran:#?}");
    }
}

#[test]
fn a_chain_of_commands_without_checks_is_applied_in_one_go() {
    let step = |n: usize| {
        let after = n.checked_sub(1).map_or(String::new(), |before| format!("c{before}"));
        format!(
            "  - {{id: c{n}, type: command, command: \"echo {n} >> log\", depends_on: [{after}]}}\n"
        )
    };
    let text = format!("version: 1\nsteps:\n{}", (0..5).map(step).collect::<String>());
    for more in [&[][..], &["--verify-first"]] {
        let opal = Opal::machine("").file("a.yaml", &text);
        opal.call(&["verify", "a.yaml"]).code(1).says("5 resources: 5 unknown");
        opal.call(&[&["apply", "a.yaml"], more].concat()).code(0);
        assert_eq!(opal.read("log"), "0\n1\n2\n3\n4\n", "{more:?}");
        // Nobody can tell, so it is unknown again.
        opal.call(&["verify", "a.yaml"]).code(1).says("unknown");
    }
}

#[test]
fn lines_of_one_file_are_all_there_however_many_steps_run_at_once() {
    let step = |n: usize| {
        format!("  - {{id: l{n}, type: line_in_file, file: hosts, line: \"10.0.0.{n} h{n}\"}}\n")
    };
    let steps = (0..20).map(step).collect::<String>();
    let opal = Opal::machine("").file("a.yaml", format!("version: 1\nsteps:\n{steps}"));
    opal.call(&["apply", "a.yaml", "--jobs", "20"]).code(0);
    assert_eq!(opal.read("hosts").lines().count(), 20, "{}", opal.read("hosts"));
    opal.call(&["verify", "a.yaml"]).code(0);
}

#[test]
fn what_is_satisfied_is_one_quiet_line_and_is_counted() {
    let opal = five();
    std::fs::create_dir_all(opal.path().join("d0/d1/d2")).unwrap();
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(0).says("= s0: directory:d0: satisfied\n");
    ran.says("  missing: ").says("done: 5 steps, 3 already satisfied in ");
    assert_eq!(ran.stderr.matches("\n▸ ").count(), 2, "{ran:#?}");
    opal.call(&["runs", "show", "last"]).code(0).says("satisfied").says("done");
}

#[test]
fn verify_first_says_what_will_be_skipped() {
    let opal = five();
    std::fs::create_dir_all(opal.path().join("d0/d1")).unwrap();
    let ran = opal.call(&["apply", "a.yaml", "--verify-first"]);
    ran.code(0).says("5 resources: 2 satisfied, 3 missing in ");
    ran.says("will be skipped, unless an earlier step changes it: s0, s1\n")
        .says("done: 5 steps, 2 already satisfied");
}

#[test]
fn a_task_can_be_verified_first_too() {
    let text =
        "fun a() {\n    @file.directory(\"x\")\n    @file.directory(\"x/y\")\n    echo end\n}\n";
    let opal = Opal::machine(text).file("x/.keep", "");
    let ran = opal.call(&["a", "--verify-first"]);
    ran.code(0).stdout("end\n").says("2 resources: 1 satisfied, 1 missing in ");
    assert!(opal.path().join("x/y").is_dir());
    opal.call(&["--verify-first", "a", "-q"]).code(0).stdout("end\n").stderr("");
}

#[test]
fn what_was_satisfied_is_looked_at_again_once_something_was_done() {
    let opal = Opal::machine("fun a() {\n    echo reset > f\n    @file.line(\"f\", \"x\")\n}\n")
        .file("f", "x\n");
    opal.call(&["a", "--verify-first"]).code(0);
    assert_eq!(opal.read("f"), "reset\nx\n");
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_would_change() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: dir, type: directory, path: out}\n\
                \x20 - {id: conf, type: copy, source: wanted, destination: out/conf, overwrite: true, depends_on: [dir]}\n\
                \x20 - {id: new, type: directory, path: new}\n\
                \x20 - {id: later, type: directory, path: new/later, depends_on: [new]}\n\
                \x20 - {id: run, type: command, command: touch ran}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("wanted", "a\nb\n");
    let opal = opal.file("out/conf", "a\nc\n");
    let before = tree(&opal.path());
    let ran = opal.call(&["apply", "a.yaml", "--dry-run"]);
    ran.code(0).says("=  dir    skip").says("~  conf   correct").says("+  new    create");
    ran.says("+  later  create").says("depends on new (missing)").says("▸  run    run");
    ran.says("\n--- current: ").says("\n+++ desired: ").says("\n-c\n+b\n");
    let document = opal.call(&["apply", "a.yaml", "--dry-run", "--json"]).code(0).json();
    assert_schema("verify-1.json", &document);
    let actions = document["results"].as_array().unwrap().iter();
    let actions: Vec<&str> = actions.map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["skip", "correct", "create", "create", "run"]);
    assert_eq!(tree(&opal.path()), before);
    // What would fail is known before.
    std::fs::remove_file(opal.path().join("wanted")).unwrap();
    let ran = opal.call(&["apply", "a.yaml", "--dry-run"]);
    ran.code(1).says("✗  conf   blocked").says("help: ");
}

#[test]
fn what_depends_on_something_blocked_would_not_run() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: b, type: directory, path: b, depends_on: [a]}\n\
                \x20 - {id: a, type: copy, source: gone, destination: a}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let document = opal.call(&["apply", "a.yaml", "--dry-run", "--json"]).code(1).json();
    assert_eq!(document["results"][0]["action"], "blocked", "{document:#}");
}

#[test]
fn settings_count_as_options() {
    let text =
        "version: 1\nsettings: {dry_run: true}\nsteps:\n  - {id: a, type: directory, path: x}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    opal.call(&["apply", "a.yaml"]).code(0).says("nothing was changed: 1 to create");
    assert!(!opal.path().join("x").exists());
    opal.write("a.yaml", text.replace("dry_run", "verbose"));
    opal.call(&["apply", "a.yaml"]).code(0).says("done in ");
}

#[test]
fn a_dry_run_of_a_task_has_what_would_change_below_the_plan() {
    let text = "fun a() {\n    @file.directory(\"x\", id=\"x\")\n    echo end\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["a", "--dry-run"]);
    ran.code(0).says("Plan Hash: ").says("+  x     create").says("it would run");
    opal.call(&["a", "--dry-run", "--json"]).code(0).hides("would run").json();
    assert!(!opal.path().join("x").exists());
}

#[test]
fn a_dry_run_of_a_task_leaves_open_what_is_expensive() {
    let text = "fun a() {\n    @file.directory(@shell.output(\"touch looked; echo d\"), id=\"d\")\n    \
                @file.directory(\"x\", id=\"x\")\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["a", "--dry-run"]);
    ran.code(0).says("?  d     unknown").says("it uses a value that a quick plan does not resolve");
    ran.says("+  x     create").says("1 to create, 1 deferred");
    assert!(!opal.path().join("looked").exists());
}

#[test]
fn a_dry_run_of_a_configuration_takes_the_options_of_a_look_alone() {
    let text = "version: 1\nsteps:\n  - {id: a, type: command, command: x, check: sleep 60}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    for option in ["--yes", "--from=step:1", "--resume", "--events=e", "--quiet", "--no-record"] {
        let ran = opal.call(&["apply", "a.yaml", "--dry-run", option]);
        ran.code(2).says("applies to a run").says(option.split('=').next().unwrap());
    }
    let ran = opal.call(&["apply", "a.yaml", "--dry-run", "--timeout", "200ms", "--jobs", "1"]);
    ran.code(1).says("did not answer within 200ms");
}

#[test]
fn a_configuration_is_applied_however_it_is_called() {
    for words in [
        &["a.yaml"][..],
        &["run", "a.yaml"],
        &["run", "./a.yaml", "--no-record"],
        &["apply", "a.yaml", "-y"],
    ] {
        let opal = five();
        opal.call(words).code(0).says("done: 5 steps");
        opal.call(words).code(0).says("5 already satisfied");
    }
}

#[test]
fn events_tell_of_every_look() {
    let opal = five();
    let ran = opal.call(&["apply", "a.yaml", "--events", "-"]);
    let lines = ran.code(0).stdout.lines();
    let events: Vec<serde_json::Value> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let looks = events.iter().filter(|event| event["kind"] == "step_verified");
    let statuses: Vec<&str> = looks.map(|event| event["status"].as_str().unwrap()).collect();
    // Two for each, and a last one but for what was seen after the last change.
    assert_eq!(statuses.len(), 14, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == "missing").count(), 5);
}

#[test]
fn a_dry_run_of_a_task_runs_no_check_and_a_verification_does() {
    let source = "fun a() {\n    @shell(\"touch made\", check=\"touch asked; test -e made\")\n}\n";
    let opal = Opal::machine(source);
    let ran = opal.call(&["a", "--dry-run"]);
    ran.code(0).says("its `check` is a command, and a quick plan runs none").says("1 deferred");
    assert!(!opal.path().join("asked").exists());
    opal.call(&["verify", "a"]).code(1).says("missing");
    assert!(opal.path().join("asked").exists());
}
