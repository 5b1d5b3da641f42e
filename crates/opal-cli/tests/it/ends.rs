//! How a run ends, and that every account of it is the same and true.

use serde_json::Value;

use crate::support::{Opal, Ran};

const TASKS: &str = r#"
fun caught() {
    echo before
    try {
        echo inside
        sh -c 'exit 3'
        echo never
    } catch {
        echo after
    }
}

fun thrown() {
    try {
        sh -c 'echo why; exit 7'
    } catch {
        echo undo
        @rethrow()
    } finally {
        echo always
    }
}

fun failing() {
    try {
        false
    } catch {
        @fail("rolled back", code=9)
    }
    echo never
}

fun retried() {
    @retry(3, delay=1ms) {
        echo try
        sh -c 'echo x >> tries; test $(wc -l < tries) = 3'
    }
}

fun exhausted() {
    @retry(2, delay=1ms) {
        sh -c 'exit 4'
    }
}

fun either() {
    @cmd.exhausted() || echo instead
}

fun thrice() {
    try {
        false
    } catch {
        false
    } finally {
        false
    }
}

fun no() = false

fun neither() {
    @cmd.no() || @cmd.no()
}

fun block() {
    @workdir("/nonexistent") {
        echo never
    }
}

fun caught_block() {
    try {
        @workdir("/nonexistent") {
            echo never
        }
    } catch {
        echo after
    }
}

fun nested() {
    try {
        try {
            sh -c 'exit 5'
        } catch {
            @rethrow()
        }
    } catch {
        echo outer
    }
}
"#;

/// The counts that are not zero, as every account of the run has them.
#[track_caller]
fn counts(opal: &Opal, task: &str, code: i32) -> (String, Ran) {
    let shown = opal.call(&[task]);
    shown.code(code);
    let _ = std::fs::remove_file(opal.path().join("tries"));
    let told = opal.call(&[task, "--json"]).code(code).json();
    let recorded = opal.call(&["runs", "show", "--json"]).code(0).json();
    assert_eq!(told["counts"], recorded["run"]["counts"], "{task}");
    assert_eq!(told["status"], recorded["run"]["status"], "{task}");
    let folder = told["record"].as_str().unwrap();
    let summary = std::fs::read_to_string(format!("{folder}/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(told["counts"], summary["counts"], "{task}");
    let counts = told["counts"].as_object().unwrap().iter();
    let counts = counts.filter(|(_, count)| **count != 0);
    let counts: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    (counts.join(", "), shown)
}

#[test]
fn the_terminal_json_and_the_record_have_the_same_counts() {
    let opal = Opal::machine(TASKS);
    for (task, code, counted, last) in [
        ("caught", 0, "caught 1, done 3", "done: 4 steps, 1 failed and was caught in "),
        ("thrown", 7, "done 2, failed 1", "failed: 2 steps done, 1 failed in "),
        (
            "failing",
            9,
            "caught 1, failed 1",
            "failed: 0 steps done, 1 failed, 1 failed and was caught in ",
        ),
        ("retried", 0, "done 2, retries 2", "done: 2 steps in "),
        ("exhausted", 4, "failed 1, retries 1", "failed: 0 steps done, 1 failed in "),
        ("either", 0, "caught 1, done 1, retries 1", "done: 2 steps, 1 failed and was caught in "),
        ("nested", 0, "caught 1, done 1", "done: 2 steps, 1 failed and was caught in "),
        (
            "thrice",
            1,
            "caught 1, failed 2",
            "failed: 0 steps done, 2 failed, 1 failed and was caught in ",
        ),
        ("neither", 1, "caught 1, failed 1", "failed: 0 steps done, 1 failed, 1 failed and was "),
        ("block", 1, "failed 1", "failed: 0 steps done, 1 failed in "),
        ("caught_block", 0, "caught 1, done 1", "done: 2 steps, 1 failed and was caught in "),
    ] {
        let (counts, shown) = counts(&opal, task, code);
        assert_eq!(counts, counted, "{task}");
        let line = shown.stderr.lines().last().unwrap();
        assert!(line.starts_with(last), "{task}: {line}");
    }
}

#[test]
fn a_caught_failure_is_named_with_its_line_where_it_is_caught() {
    let opal = Opal::machine(TASKS);
    let ran = opal.call(&["caught"]);
    ran.says("▸ sh -c 'exit 3'\ncaught: exit code 3 (commands.opl:6)\n▸ echo after\n");
    let events = opal.call(&["runs", "show", "--events"]);
    events.says(r#""code":3,"kind":"step_caught","path":"caught.try[0].shell[1]"#);
}

#[test]
fn rethrow_ends_with_the_failure_that_was_caught_after_cleaning_up() {
    let ran = Opal::machine(TASKS).args(["thrown"]).run();
    ran.code(7).stdout("why\nundo\nalways\n").says("error: a step failed with exit code 7\n");
    ran.says("  --> commands.opl:15\n  step: thrown.try[0].shell[0]\n").says("    | why\n");
    assert_eq!(ran.stderr.matches("a step failed with").count(), 1, "{ran:#?}");
    ran.hides("@rethrow").hides("done:");
}

#[test]
fn fail_ends_with_its_own_message_and_code() {
    let ran = Opal::machine(TASKS).args(["failing"]).run();
    ran.code(9).says("\nerror: rolled back\n  --> commands.opl:28\n").says("exit code: 9\n");
    assert_eq!(ran.stderr.matches("error: rolled back").count(), 1, "{ran:#?}");
    ran.hides("▸ @fail").hides("never");
}

#[test]
fn the_last_attempt_is_said_too() {
    let ran = Opal::machine(TASKS).args(["exhausted"]).run();
    ran.says("attempt 1 of 2 failed with exit code 4 (commands.opl:42); retrying in 1ms\n");
    ran.says("attempt 2 of 2 failed with exit code 4 (commands.opl:42)\nerror: ");
}

#[test]
fn rethrow_outside_of_a_catch_is_a_source_error() {
    for source in [
        "fun a() {\n    @rethrow()\n}\n",
        "fun a() {\n    try {\n        @rethrow()\n    } catch {\n        true\n    }\n}\n",
        "fun a() {\n    try {\n        true\n    } finally {\n        @rethrow()\n    }\n}\n",
        "fun undo() {\n    @rethrow()\n}\n\nfun a() {\n    try {\n        true\n    } catch {\n        \
         @cmd.undo()\n    }\n}\n",
    ] {
        let ran = Opal::machine(source).args(["a"]).run();
        ran.code(65).says("E0314").says("`@rethrow()` is allowed only in a `catch`");
    }
    let inside = "fun a() {\n    try {\n        sh -c 'exit 3'\n    } catch {\n        \
                  @timeout(1m) {\n            if true {\n                @rethrow()\n            }\n        \
                  }\n    }\n}\n";
    Opal::machine(inside).args(["a"]).run().code(3);
}

#[test]
fn print_goes_to_standard_output_and_can_be_piped_and_redirected() {
    let source = "var TOKEN = @secret.env.TOKEN\n\nfun a() {\n    @print(\"one\")\n    \
                  @print(\"two\") | tr a-z A-Z\n    @print(\"three\") > file\n    \
                  @print(@var.TOKEN)\n}\n";
    let opal = Opal::machine(source).env("TOKEN", "canary-12345");
    let ran = opal.call(&["a"]);
    ran.code(0).hides("canary-12345").hides("▸ @print(\"one\")");
    assert!(ran.stdout.starts_with("one\nTWO\n"), "{ran:#?}");
    assert_eq!(opal.read("file"), "three\n");
    opal.call(&["runs", "show", "--logs"]).code(0).hides("canary-12345").says("one\nTWO\n");
}

#[test]
fn a_function_that_is_defined_twice_is_an_error_wherever_one_of_the_two_is_reached() {
    let source = "fun build() {\n    touch ran\n}\n\nfun build() {\n    touch ran\n}\n\n\
                  fun all() {\n    @cmd.build()\n}\n\nfun other() {\n    echo other\n}\n";
    let opal = Opal::machine(source);
    for line in [
        &["build"][..],
        &["all"],
        &["run", "build"],
        &["build", "--dry-run"],
        &["plan", "all"],
        &["plan", "build", "-o", "x.plan"],
        &["check"],
        &["list"],
    ] {
        opal.call(line).code(65).says("E0404").says("the function `build` is defined twice");
    }
    assert!(!opal.path().join("ran").exists() && !opal.path().join("x.plan").exists());
    opal.call(&["other"]).code(0).stdout("other\n");
}

#[test]
fn a_reader_that_has_enough_ends_the_run_quietly() {
    let opal = Opal::machine("fun big() {\n    seq 1 1000000\n    echo after >&2\n}\n");
    let mut run = opal.command().arg("big").spawn().unwrap();
    drop(run.stdout.take());
    let ended = Ran::from(run.wait_with_output().unwrap());
    ended.code(141).stderr("▸ seq 1 1000000\n");
}

#[test]
fn a_reader_that_has_enough_ends_parallel_branches_quietly_too() {
    let source =
        "fun big() {\n    @parallel {\n        seq 1 1000000\n        seq 2 1000000\n    }\n}\n";
    for output in ["grouped", "prefixed"] {
        let opal = Opal::machine(source);
        let mut run = opal.command().args(["big", "--output", output]).spawn().unwrap();
        drop(run.stdout.take());
        let ended = Ran::from(run.wait_with_output().unwrap());
        ended.code(141).hides("error").hides("failed").hides("record").hides(" ended");
    }
}

#[test]
fn a_when_without_a_match_warns_on_every_run_and_names_the_value_and_the_arms() {
    let source = |subject: &str, end: &str| {
        format!(
            "fun a(stage = \"x\") {{\n    when {subject} {{\n        \"one\" -> echo 1\n        \
             \"two\" | r\"^t\" -> echo 2\n        {end}\n    }}\n    echo @var.stage\n}}\n"
        )
    };
    let arms = "its arms are \"one\", \"two\" | r\"^t\"";
    for (subject, says) in [
        ("stage", "no arm of this `when` matches `\"new\"`"),
        ("@env.STAGE", "no arm of this `when` matches `env.STAGE`, which is <"),
        ("@env.STAGE(public=true)", "which is `\"canary-1\"`"),
    ] {
        let opal = Opal::machine(&source(subject, "")).env("STAGE", "canary-1");
        let ran = opal.call(&["a", "--stage", "new"]);
        ran.code(0).says("W0820").says(says).says(arms).says("`else -> {}`").stdout("new\n");
        if !subject.contains("public") {
            ran.hides("canary-1");
        }
        opal.call(&["plan", "a", "--stage", "new", "-o", "a.plan"]).code(0).says("W0820");
        opal.call(&["run", "--plan", "a.plan"]).code(0).says("W0820");
        opal.call(&["a", "--stage", "new", "--dry-run"]).code(0).says("→ no match, nothing");
        let meant = Opal::machine(&source(subject, "else -> {}")).env("STAGE", "canary-1");
        meant.call(&["a", "--stage", "new"]).code(0).hides("W0820");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a shell is what a command is pasted into")]
fn what_is_suggested_after_a_failure_means_the_same_when_it_is_pasted() {
    let opal = Opal::machine("fun show(x) {\n    printf '%s' @var.x\n    sh -c 'exit 3'\n}\n");
    let value = "line1\nline2\u{1}\u{200b}'\\";
    let ran = opal.call(&["show", value]);
    ran.code(3).stdout(value);
    let row = ran.stderr.lines().find(|line| line.contains("to continue from there, run"));
    let pasted = row.and_then(|row| row.split('`').nth(1)).unwrap();
    let script = format!("opal() {{ printf '%s' \"$2\"; }}; {pasted}");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), value, "{pasted}");
}

#[test]
fn a_value_in_a_message_begins_no_line_of_its_own() {
    let source = "fun fails() {\n    @fail(\"m @env.EV\")\n}\n\n\
                  fun caught() {\n    try {\n        @fail(\"m @env.EV\")\n    } catch {\n        \
                  true\n    }\n}\n";
    for task in ["fails", "caught"] {
        let opal = Opal::machine(source).env("EV", "one\ndone: 7 steps\n  record: none");
        let ran = opal.call(&[task]);
        let forged = |line: &&str| line.contains("done: 7") || line.contains("record: none");
        let is_row = |line: &&str| line.starts_with("  command: @fail(");
        let lines = ran.stderr.lines().filter(|line| forged(line) && !is_row(line));
        let lines: Vec<&str> = lines.collect();
        assert!(lines.iter().all(|line| line.starts_with("    ")), "{task}: {lines:#?}");
        assert!(!lines.is_empty(), "{ran:#?}");
    }
}

#[test]
fn the_line_of_a_step_is_cut_as_its_command_is() {
    let opal = Opal::machine("fun long(x) {\n    true @var.x\n}\n");
    let ran = opal.call(&["long", &"x".repeat(100_000)]);
    let line = ran.code(0).stderr.lines().next().unwrap();
    assert!(line.starts_with("▸ true xxx") && line.ends_with('…'), "{line}");
    assert!(line.chars().count() < 2_100, "{}", line.chars().count());
}

#[test]
fn a_step_that_only_fails_is_not_offered_to_continue_from() {
    let opal = Opal::machine("fun a() {\n    @fail(\"no\")\n}\nfun b() {\n    false\n}\n");
    opal.call(&["a"]).code(1).says("error: no").hides("--resume");
    opal.call(&["b"]).code(1).says("`opal b --resume`");
}
