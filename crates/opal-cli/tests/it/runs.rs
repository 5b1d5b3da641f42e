//! `opal runs`: what has run.

mod damaged;
mod query;
mod records;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Opal, Ran};
use records::{Kept, keep};

const TASKS: &str = "\
fun hello() {
    echo one
    echo two >&2
}

fun fails() {
    echo before
    sh -c 'exit 3'
    echo never
}
";

/// A project in which `hello` has run, and then `fails`.
fn ran() -> Opal {
    let opal = Opal::machine(TASKS);
    opal.call(&["hello"]).code(0);
    opal.call(&["fails"]).code(3);
    opal
}

fn ids(ran: &Ran) -> Vec<String> {
    let document = ran.json();
    let runs = document["runs"].as_array().unwrap();
    runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_any_run_there_is_nothing_to_list_and_nothing_is_made() {
    let opal = Opal::machine(TASKS);
    opal.call(&["runs", "list"]).code(0).says("No runs yet");
    opal.call(&["runs", "list", "--json"]).code(0).says("\"runs\": []");
    for command in [&["show"][..], &["tail"], &["diff", "last", "last"]] {
        let ran = opal.call(&[&["runs"], command].concat());
        ran.code(66).says("no runs yet").says("help: run a task with `opal TASK`");
    }
    opal.call(&["runs", "prune"]).code(0).stdout("No runs to remove.\n");
    assert!(!opal.path().join("home/.opal").exists());
}

#[test]
fn list_shows_the_newest_first_and_takes_filters() {
    let opal = ran();
    let listed = opal.call(&["runs", "list"]);
    let lines: Vec<&str> = listed.code(0).stderr("").stdout.lines().collect();
    assert!(lines[0].starts_with("RUN                            TARGET  STATUS    STARTED (UTC)"));
    assert!(
        lines[1].contains("  fails   failed    20") && lines[1].contains("  at fails.shell[1]")
    );
    assert!(lines[2].contains("  hello   executed  20"), "{listed:#?}");
    assert_eq!(lines.len(), 3);
    let all = ids(&opal.call(&["runs", "list", "--json"]));
    for (filter, expected) in [
        (["--target", "hello"], vec![all[1].clone()]),
        (["--status", "failed"], vec![all[0].clone()]),
        (["--status", "running"], vec![]),
        (["--limit", "1"], vec![all[0].clone()]),
    ] {
        let args = [&["runs", "list", "--json"], &filter[..]].concat();
        assert_eq!(ids(&opal.call(&args)), expected, "{filter:?}");
    }
    opal.call(&["runs", "list", "--target", "x"]).code(0).says("No matching runs");
    opal.call(&["runs", "list", "--limit", "1"]).code(0).says("`--limit N` lists more");
    opal.call(&["runs", "list", "--status", "odd"]).code(2);
}

#[test]
fn show_tells_how_a_run_went() {
    let opal = ran();
    let shown = opal.call(&["runs", "show"]);
    shown.code(0).stderr("").says("  status     failed, exit 3, at fails.shell[1]\n");
    shown.says("  started    20").says("  plan       sha256:").says("  record     ");
    shown.says("fails.shell[1]  sh -c 'exit 3'  exit 3\n").hides("never").hides("\x1b");
    let document = opal.call(&["runs", "show", "--json"]).code(0).json();
    assert_eq!(document["run"]["failed"]["path"], "fails.shell[1]");
    let ends: Vec<&Value> =
        document["steps"].as_array().unwrap().iter().map(|step| &step["end"]).collect();
    assert_eq!(ends, ["done", "failed"]);
    opal.call(&["--color", "always", "runs", "show"]).says("\x1b[31mfailed\x1b[0m");
}

#[test]
fn show_prints_what_the_steps_printed() {
    let opal = ran();
    let hello = ids(&opal.call(&["runs", "list", "--json"])).remove(1);
    let show = |more: &[&str]| opal.call(&[&["runs", "show", &hello], more].concat());
    show(&["--logs"]).code(0).stdout("one\ntwo\n").stderr("");
    show(&["--logs", "2"]).code(0).stdout("two\n");
    show(&["--logs", "hello.shell[0]"]).code(0).stdout("one\n");
    show(&["--logs", "--json"]).code(0).says("{\"number\":1,\"text\":\"one\\n\"}\n");
    show(&["--logs", "9"]).code(66).says("has not started a step `9`");
    let events = show(&["--events"]);
    let kinds: Vec<Value> = events
        .code(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    let step = ["step_started", "output", "step_finished"];
    assert_eq!(kinds, [&["run_started"], &step[..], &step, &["run_finished"]].concat());
    show(&["--events", "--logs"]).code(2);
}

#[test]
fn a_name_must_say_which_run_is_meant() {
    let opal = ran();
    let all = ids(&opal.call(&["runs", "list", "--json"]));
    opal.call(&["runs", "show", &all[1]]).code(0).says("  hello\n");
    opal.call(&["runs", "show", &all[1][4..27]]).code(0).says("  hello\n");
    opal.call(&["runs", "show", "last"]).code(0).says("  fails\n");
    opal.call(&["runs", "show", "odd"]).code(66).says("unknown run `odd`");
    let unclear = opal.call(&["runs", "show", "run-"]);
    unclear.code(2).says("`run-` is ambiguous: it matches 2 runs").says(&all[0]).says(&all[1]);
    let failed = opal.call(&["runs", "show", "odd", "--json"]).code(66).json();
    assert_eq!(failed["error"]["message"], "unknown run `odd`");
}

#[test]
fn diff_finds_what_went_another_way() {
    let opal = Opal::machine("fun deploy() {\n    echo a\n    test -e flag\n}\n");
    opal.call(&["deploy"]).code(1);
    opal.write("flag", "");
    opal.call(&["deploy"]).code(0);
    opal.call(&["deploy"]).code(0);
    let all = ids(&opal.call(&["runs", "list", "--json"]));
    let same = opal.call(&["runs", "diff", &all[1], "last"]);
    same.code(0).says("2 steps the same, 0 different");
    let differs = opal.call(&["runs", "diff", &all[2], "last"]);
    differs.code(1).says("status   failed").says("1 step the same, 1 different");
    differs.says("changed  deploy.shell[1]  failed, exit 1, ");
    let document = opal.call(&["runs", "diff", &all[2], "last", "--json"]).code(1).json();
    assert_eq!(document["same_plan"], true);
    let changes: Vec<&Value> =
        document["steps"].as_array().unwrap().iter().map(|step| &step["change"]).collect();
    assert_eq!(changes, ["same", "changed"]);
    opal.write("commands.opl", "fun deploy() {\n    echo b\n    test -e flag\n    echo c\n}\n");
    opal.call(&["deploy"]).code(0);
    let document = opal.call(&["runs", "diff", &all[0], "last", "--json"]).code(1).json();
    assert_eq!(document["same_plan"], false);
    let changes: Vec<&Value> =
        document["steps"].as_array().unwrap().iter().map(|step| &step["change"]).collect();
    assert_eq!(changes, ["changed", "same", "added"]);
}

#[test]
fn tail_follows_a_run_to_its_end() {
    let script = "echo begin\nuntil [ -e go ]; do sleep 0.01; done\nseq 1 30000\nexit 7\n";
    let opal = Opal::machine(&format!("fun slow() {{\n    {}}}\n", script.replace('\n', "\n    ")));
    let mut run = opal.command();
    let run = run.arg("slow").stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let started = || {
        let listed = opal.call(&["runs", "list", "--status", "running", "--json"]);
        ids(&listed).first().cloned()
    };
    let id = loop {
        if let Some(id) = started() {
            break id;
        }
    };
    let mut tail = opal.command();
    let mut tail = tail.args(["runs", "tail"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 6];
    tail.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"begin\n");
    opal.write("go", "");
    let followed = Ran::from(tail.wait_with_output().unwrap());
    let numbers: String = (1..=30_000).map(|number| format!("{number}\n")).collect();
    followed.code(0).stdout(&numbers).says(&id).says("failed at slow.shell[3]");
    run.wait().unwrap();
    let again = opal.call(&["runs", "tail"]);
    again.code(0).stdout(&format!("begin\n{numbers}"));
    let events = opal.call(&["runs", "tail", "last", "--json"]);
    assert!(events.code(0).stdout.lines().all(|line| line.starts_with('{')));
}

#[test]
fn a_step_that_goes_quiet_has_told_everything() {
    // The pauses make each line a write of its own.
    let text = "fun slow() {\n    sh -c 'for i in $(seq 30); do echo line $i; sleep 0.002; done; \
                until [ -e go ]; do sleep 0.01; done'\n}\n";
    let opal = Opal::machine(text);
    let mut run = opal.command();
    let mut run = run.arg("slow").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !opal.call(&["runs", "show", "--logs"]).stdout.ends_with("line 30\n") {
        if Instant::now() > end {
            run.kill().unwrap();
            panic!("the last lines are not told");
        }
    }
    opal.write("go", "");
    assert!(run.wait().unwrap().success());
}

#[test]
fn others_hear_of_no_run_that_does_not_begin() {
    let opal = Opal::machine(TASKS).file("root/logs", "no folder");
    let ran = opal.call(&["--root", "root", "hello", "--sync", "--events", "events.jsonl"]);
    ran.code(74).says("nothing was run");
    assert_eq!(opal.read("events.jsonl"), "");
}

#[test]
fn without_a_home_a_run_says_that_it_leaves_no_record() {
    let ran = Opal::project(TASKS).args(["hello"]).run();
    ran.code(0).says("this run has no record").says("for keys and records");
}

#[test]
fn prune_removes_what_is_asked_for_and_nothing_else() {
    let opal = ran();
    opal.call(&["hello"]).code(0);
    let all = ids(&opal.call(&["runs", "list", "--json"]));
    let prune = |more: &[&str]| opal.call(&[&["runs", "prune"], more].concat());
    let dry = prune(&["--keep", "1", "--dry-run"]);
    dry.code(0).stdout(&format!("would remove 1 run\n  {}\n", all[2]));
    prune(&["--older-than", "30d"]).code(0).stdout("No runs to remove.\n");
    prune(&["--keep", "1"]).code(0).stdout(&format!("removed 1 run\n  {}\n", all[2]));
    assert_eq!(ids(&opal.call(&["runs", "list", "--json"])), all[..2]);
    prune(&["--older-than", "soon"]).code(2).says("write it as `30d`");
    let document = prune(&["--keep", "0", "--json"]).code(0).json();
    assert_eq!(document["removed"].as_array().unwrap().len(), 2);
    opal.call(&["runs", "list"]).code(0).says("No runs yet");
}

#[test]
fn a_record_that_was_changed_is_named_and_hides_no_other() {
    let opal = ran();
    let all = ids(&opal.call(&["runs", "list", "--json"]));
    let folder = opal.path().join("home/.opal/logs/run/fails").join(&all[0]);
    fs::write(folder.join("summary.json"), "{").unwrap();
    let listed = opal.call(&["runs", "list"]);
    listed.code(0).says(" unreadable ").says("summary.json").says("  hello   executed");
    let shown = opal.call(&["runs", "show"]);
    shown.code(65).says("summary.json").says("help: it was changed after it was written");
}

#[test]
fn a_run_whose_process_is_gone_has_crashed_and_one_that_lives_is_running() {
    let opal = Opal::machine(TASKS);
    let root = opal.path().join("home/.opal");
    let running = keep(&root, "deploy", 1);
    running.step(1, "deploy.shell[0]", b"one\n");
    running.start(2, "deploy.shell[1]");
    opal.call(&["runs", "list"]).code(0).says("  deploy  running  2026-11-15 12:00:01  -");
    let shown = opal.call(&["runs", "show"]);
    shown.code(0).says("status     running").says("2     started  -      deploy.shell[1]");
    opal.call(&["runs", "prune", "--keep", "0"]).code(0).says("No runs to remove");
    drop(running);
    // A process that another test is just starting still has the lock for a moment.
    let has_crashed =
        |_| opal.call(&["runs", "show"]).code(0).stdout.contains("status     crashed");
    assert!((0..100).any(has_crashed));
    opal.call(&["runs", "tail"]).code(0).stdout("one\n").says("crashed");
    opal.call(&["runs", "prune", "--keep", "0"]).code(0).says("removed 1 run");
}

#[test]
fn nothing_in_a_record_acts_on_a_terminal() {
    let opal = Opal::machine(TASKS);
    let kept: Kept = keep(&opal.path().join("home/.opal"), "a\u{1b}[2J\u{202e}", 1);
    kept.step(1, "p\u{9b}\r\n", b"\x1b[2J");
    drop(kept);
    for args in [&["list"][..], &["show"], &["tail"], &["diff", "last", "last"]] {
        for more in [&[][..], &["--json"]] {
            let ran = opal.call(&[&["runs"], args, more].concat());
            let ran = ran.code(0);
            let words = if args == ["tail"] && more.is_empty() { &ran.stderr } else { &ran.stdout };
            let acts = |c: char| c != '\n' && opal_core::view::visible::character(c) != c;
            assert!(!words.contains(acts), "{args:?} {words:?}");
        }
    }
}

#[test]
fn records_that_others_could_have_changed_are_not_read() {
    let opal = ran();
    let folder = opal.path().join("home/.opal/logs");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    opal.call(&["runs", "list"]).code(77).says("users other than its owner").says("chmod go-w");
}

#[test]
fn records_are_read_where_root_says() {
    let opal = Opal::machine(TASKS);
    opal.call(&["--root", "elsewhere", "hello"]).code(0);
    opal.call(&["runs", "list"]).says("No runs yet");
    opal.call(&["runs", "list", "--root", "elsewhere"]).says("  hello   executed");
    opal.call(&["--root", "elsewhere", "runs", "list"]).says("  hello   executed");
}

#[test]
fn runs_are_found_by_when_where_and_what_they_printed() {
    let source = "fun good() {\n    echo all is well\n}\n\nfun bad() {\n    echo connection refused\n    exit 3\n}\n";
    let opal = Opal::machine(source);
    opal.call(&["good"]).code(0);
    opal.call(&["bad"]).code(3);
    opal.call(&["plan", "good", "-o", "g.plan"]).code(0);
    opal.call(&["run", "--plan", "g.plan"]).code(0);
    let listed = |words: &[&str]| -> Vec<String> {
        let shown = opal.call(&[&["runs", "list", "--json"], words].concat()).code(0).json();
        let all = shown["runs"].as_array().unwrap().iter();
        all.map(|run| run["target"].as_str().unwrap().to_owned()).collect()
    };
    let host = opal.call(&["runs", "list", "--json"]).json()["runs"][0]["host"]
        .as_str()
        .unwrap()
        .to_owned();
    for (words, expected) in [
        (&[][..], &["good", "bad", "good"][..]),
        (&["--failed"], &["bad"]),
        (&["--grep", "refused"], &["bad"]),
        (&["--grep", "all is well"], &["good", "good"]),
        (&["--grep", "nowhere"], &[]),
        (&["--step", "bad.shell[1]"], &["bad"]),
        (&["--step", "good"], &["good", "good"]),
        (&["--step", "goo"], &[]),
        (&["--contract", "g.plan"], &["good"]),
        (&["--since", "1h"], &["good", "bad", "good"]),
        (&["--until", "1h"], &[]),
        (&["--since", "2020-01-01", "--until", "2020-01-02"], &[]),
        (&["--since", "2020-01-01T00:00:00Z", "--failed"], &["bad"]),
        (&["--host", &host, "--target", "bad"], &["bad"]),
        (&["--host", "elsewhere"], &[]),
        (&["--commit", "abc"], &[]),
    ] {
        assert_eq!(listed(words), expected, "{words:?}");
    }
    opal.call(&["runs", "list", "--since", "yesterday"])
        .code(2)
        .says("`--since` expects a duration or a time");
    opal.call(&["runs", "list", "--grep", "nowhere"]).code(0).says("No matching runs");
}
