//! Runs that start in the middle.

use crate::support::{Opal, Ran};
use opal_testing::processes::{eventually, signal};

const THREE: &str = "fun main() {\n    echo one\n    test -e go\n    echo three\n}\n";

#[test]
fn a_run_is_taken_up_where_it_failed() {
    let opal = Opal::machine(THREE);
    opal.call(&["main"]).code(1).stdout("one\n");
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("three\n");
    opal.call(&["main", "--resume"]).code(2).says("did not fail at a step");
}

#[test]
fn a_run_that_cannot_be_taken_up_does_not_say_how() {
    for steps in ["let.x = @shell(\"echo one\")\ntest @let.x = two", "cd . && true\nfalse"] {
        let opal = Opal::machine(&format!("fun main() {{\n{steps}\n}}\n"));
        opal.call(&["main"]).code(1).hides("--resume");
        opal.call(&["main", "--resume"]).code(65).says("E0902");
    }
}

#[test]
fn another_plan_is_not_taken_up() {
    let opal = Opal::machine(THREE);
    opal.call(&["main", "--resume"]).code(2).says("no earlier run");
    opal.call(&["main"]).code(1);
    opal.write("commands.opl", THREE.replace("three", "four"));
    opal.call(&["main", "--resume"]).code(76).stdout("").says("not the current plan");
}

/// Starts `main`, and interrupts it once these files are there.
fn interrupted(opal: &Opal, files: &[&str]) -> Ran {
    let child = opal.interruptible().arg("main").spawn().unwrap();
    eventually("the steps begin", || files.iter().all(|file| opal.path().join(file).exists()));
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn only_what_ran_this_plan_is_taken_up() {
    let opal = Opal::machine(THREE).file("other/commands.opl", THREE.replace("three", "four"));
    opal.call(&["main"]).code(1);
    // A task of the same name, in another project.
    opal.call(&["-f", "other/commands.opl", "main"]).code(1);
    // A run that a signal ended before its first step.
    let header = opal.call(&["runs", "list", "--json"]).json()["runs"][1].clone();
    let folder = opal.path().join("home/.opal/logs/run/main/run-20991231T000000Z-00000000");
    std::fs::create_dir(&folder).unwrap();
    let (hash, target) = (&header["plan_hash"], &header["target"]);
    let event = serde_json::json!({"kind": "run_started", "plan_hash": hash, "target": target});
    std::fs::write(folder.join("events.jsonl"), format!("{event}\n")).unwrap();
    opal.write("go", "");
    opal.call(&["main", "--resume=20991231"]).code(2).says("did not fail at a step");
    opal.call(&["main", "--resume"]).code(0).stdout("three\n");
    // What has been done since is not undone by an older failure.
    opal.call(&["main", "--resume"]).code(2).says("did not fail at a step");
}

#[test]
fn scripts_have_records_of_their_own() {
    let script = |last: &str| format!("echo one\ntest -e go\necho {last}\n");
    let opal = Opal::machine("").file("a.opl", script("a")).file("tools/b.opl", script("b"));
    opal.call(&["a.opl"]).code(1).says("--resume a.opl");
    opal.call(&["tools/b.opl"]).code(1);
    opal.write("go", "");
    opal.call(&["--resume", "a.opl"]).code(0).stdout("a\n");
    opal.call(&["--resume", "tools/b.opl"]).code(0).stdout("b\n");
    let listed = opal.call(&["runs", "list", "--target", "b.opl", "--json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    opal.call(&["runs", "list", "--target", "script"]).says("No matching runs");
    assert!(opal.path().join("home/.opal/logs/run/a%2eopl").is_dir());
    let summary = opal.call(&["--json", "a.opl"]).code(0).json();
    assert_eq!(summary["target"], "a.opl");
}

#[test]
fn branches_that_were_stopped_are_taken_up_too() {
    let text = "fun main() {\n    echo before\n    @parallel {\n        {\n            sh -c 'touch a; \
                test -e go || sleep 600'\n            echo a\n        }\n        {\n            \
                until test -e a; do sleep 0.01; done\n            test -e go\n            echo b\n\
                \x20       }\n    }\n    echo after\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main"]).code(1).stdout("before\n").says("--resume");
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("a\nb\nafter\n");
    // The first branch has come further than the second when both are interrupted.
    let waits = |name: &str| format!("sh -c 'touch {name}; test -e go || sleep 600'");
    let text = format!(
        "fun main() {{\n    @parallel {{\n        {{\n            echo a\n            {}\n        \
         }}\n        {}\n    }}\n    echo after\n}}\n",
        waits("one"),
        waits("two")
    );
    let opal = Opal::machine(&text);
    interrupted(&opal, &["one", "two"]).code(130);
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("a\nafter\n");
}

#[test]
fn what_makes_sense_only_as_a_whole_is_taken_up_as_a_whole() {
    let parts = "fun parts() {\n    echo one >> log\n    echo 1\n    test -e go\n    echo 2\n}\n";
    for call in ["@cmd.parts() > @file.write(\"out.txt\")", "@cmd.parts() | cat > out.txt"] {
        let text = format!("{parts}fun main() {{\n    true\n    {call}\n    cat out.txt\n}}\n");
        let opal = Opal::machine(&text);
        opal.call(&["main"]).code(1);
        opal.write("go", "");
        opal.call(&["main", "--resume"]).code(0).stdout("1\n2\n");
        assert_eq!(opal.read("log"), "one\none\n", "{call}");
    }
}

#[test]
fn a_run_that_was_interrupted_is_taken_up_where_it_was() {
    let text = "fun main() {\n    echo one\n    sh -c 'touch begun; test -e go || sleep 600'\n    \
                echo three\n}\n";
    let opal = Opal::machine(text);
    interrupted(&opal, &["begun"]).code(130).says("--resume");
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("three\n");
}

#[test]
fn there_is_no_hint_where_nothing_had_begun() {
    let opal = Opal::machine("fun main() = sleep 600\n");
    opal.call(&["main", "--timeout", "0s"]).hides("--resume");
}

#[test]
fn a_run_that_is_told_of_in_json_counts_like_its_record() {
    let opal = Opal::machine("fun main() {\n    echo one\n    @timeout(100ms) { sleep 600 }\n}\n");
    let told = opal.call(&["main", "--json"]).code(124).json();
    let kept = opal.call(&["runs", "show", "--json"]).json()["run"].clone();
    for name in ["id", "status", "code", "target", "took_ms", "version"] {
        assert_eq!(told[name], kept[name], "{name}");
    }
    for name in ["path", "code", "message"] {
        assert_eq!(told["failed"][name], kept["failed"][name], "{name}");
    }
    for (name, count) in told["counts"].as_object().unwrap() {
        assert_eq!(count, &kept["counts"][name], "{name}");
    }
    assert_eq!(told["counts"]["failed"], 1);
}

#[test]
fn records_that_cannot_be_read_are_the_same_trouble_as_for_runs() {
    use std::os::unix::fs::PermissionsExt;
    let opal = Opal::machine(THREE);
    opal.call(&["main"]).code(1);
    let folder = opal.path().join("home/.opal/logs");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    opal.call(&["main", "--resume"]).code(77).stdout("").says("chmod go-w");
}

#[test]
fn steps_before_the_first_are_skipped_and_recorded() {
    let opal = Opal::machine(THREE);
    opal.call(&["main", "--from", "step:3"]).code(0).stdout("three\n");
    opal.call(&["main", "--from", "main.shell[2]"]).code(0).stdout("three\n");
    opal.call(&["main", "--from", "step:4"]).code(2).says("unknown step 4");
    opal.call(&["main", "--from", "main.shell[7]"]).code(2).says("no step `main.shell[7]`");
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(shown["run"]["status"], "executed");
}

#[test]
fn what_a_skipped_step_would_have_given_is_missed_before_anything_runs() {
    let text =
        "fun main() {\n    let.id = @shell(\"echo 7\")\n    echo first\n    echo @let.id\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main", "--from", "step:2"]).code(65).stdout("").says("E0902").says("let.id");
    let text = "fun main() {\n    cd sub\n    . ./move.sh\n    pwd\n}\n";
    let opal = Opal::machine(text).file("sub/move.sh", "cd deep\n").file("sub/deep/.keep", "");
    opal.call(&["main", "--from", "step:3"]).code(65).stdout("").says("E0902");
    let whole = opal.path().canonicalize().unwrap().join("sub/deep");
    let ran = opal.call(&["main", "--from", "step:2"]);
    ran.code(0).stdout(&format!("{}\n", whole.display()));
}

#[test]
fn a_run_of_another_checkout_is_not_taken_up() {
    let opal = Opal::machine("");
    for name in ["one", "two"] {
        std::fs::create_dir(opal.path().join(name)).unwrap();
        opal.write(&format!("{name}/commands.opl"), THREE);
    }
    opal.call(&["-f", "one/commands.opl", "main"]).code(1);
    let ran = opal.call(&["-f", "two/commands.opl", "main", "--resume"]);
    ran.code(2).stdout("").says("in this directory");
}
