//! `@retry`, `@timeout`, `@workdir`, `@environ`, `@log`, `@confirm`, `@shell`.

use std::path::Path;

use opal_core::{Secret, resolver};
use opal_testing::MemoryWorld;
use opal_testing::{Answer, LoggedSession};

use opal_testing::planning::Project;
use opal_testing::running::{LONG, Running, log, millis};

#[test]
fn an_attempt_that_fails_is_followed_by_another_after_a_pause() {
    let session = LoggedSession::new()
        .on("b", Answer::code(3))
        .on("b", Answer::code(4))
        .on("b", Answer::code(0));
    let source = "@retry(5, delay=1ms) {\n    a\n    b\n}\nc\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    let runs = ["run `a` in /p", "run `b` in /p"];
    assert_eq!(
        session.log(),
        [runs, runs, runs].concat().into_iter().chain(["run `c` in /p"]).collect::<Vec<_>>()
    );
    assert_eq!(
        ran.record[..9],
        [
            "start script.retry[0]: @retry(attempts=5, delay=1ms) {",
            "start script.retry[0].shell[0]: a",
            "done script.retry[0].shell[0] 0",
            "start script.retry[0].shell[1]: b",
            "failed script.retry[0].shell[1] 3",
            "retry 1/5 after 3 in 1ms",
            "start script.retry[0].shell[0] #2: a",
            "done script.retry[0].shell[0] 0",
            "start script.retry[0].shell[1] #2: b",
        ]
    );
    assert!(ran.record.contains(&"retry 2/5 after 4 in 2ms".to_owned()));
}

#[test]
fn the_failure_of_the_last_attempt_is_the_failure_of_the_step() {
    let session = LoggedSession::new().on("a", Answer::code(3)).on("a", Answer::code(4));
    let ran = Running::new("@retry(2, delay=1ms) { a }\n", &session).run();
    assert_eq!(ran.failure(), "script.retry[0].shell[0] 4");
    let failed = ran.outcome.failed.unwrap();
    assert_eq!((failed.attempt, failed.number), (2, Some(3)));
}

#[test]
fn attempts_start_where_they_are() {
    let session = LoggedSession::new().on("a", Answer::code(3)).on("a", Answer::code(0));
    Running::new("cd x\n@retry(2, delay=1ms) {\n    cd y\n    a\n}\n", &session).run().ok();
    let starts: Vec<_> =
        session.log().into_iter().filter(|line| line.starts_with("run `cd y`")).collect();
    assert_eq!(starts, ["run `cd y` in /p/x", "run `cd y` in /p/x"]);
}

#[test]
fn a_block_that_takes_too_long_is_stopped_and_fails_with_124() {
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG));
    let ran = Running::new("@timeout(200ms) {\n    a\n    b\n}\nc\n", &session).run();
    let said = "timed out after 200ms: `script.timeout[0].shell[0]` took too long";
    assert_eq!(ran.failure(), format!("script.timeout[0] 124: {said}"));
    assert_eq!(session.log(), ["run `a` in /p", "stop `a`: out of time"]);
    assert_eq!(ran.record[2], "timed_out script.timeout[0].shell[0] 143");
    assert_eq!(ran.record[3], format!("timed_out script.timeout[0] 124: {said}"));
}

#[test]
fn what_does_not_end_when_it_is_asked_is_killed_after_the_grace_period() {
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG).stubborn());
    let ran = Running::new("@timeout(100ms, grace=10ms) { a }\n", &session).run();
    assert!(ran.failure().contains(" 124"));
    assert_eq!(session.log()[1..], ["stop `a`: out of time", "kill `a`"]);
}

#[test]
fn a_time_limit_is_a_failure_to_catch_and_to_retry() {
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG));
    let source = "try { @timeout(100ms) { a } } catch { b }\n";
    Running::new(source, &session).run().ok();
    assert_eq!(session.log().last().unwrap(), "run `b` in /p");
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG));
    let ran = Running::new("@retry(2, delay=1ms) { @timeout(100ms) { a } }\n", &session).run();
    assert!(ran.failure().contains("timeout[0] 124"));
    assert_eq!(session.log().iter().filter(|line| line.starts_with("run")).count(), 2);
}

#[test]
fn a_limit_around_attempts_is_for_all_of_them_together() {
    let session = LoggedSession::new().on("a", Answer::code(1));
    let ran = Running::new("@timeout(300ms) { @retry(100, delay=1m) { a } }\n", &session).run();
    assert_eq!(ran.failure(), "script.timeout[0] 124: timed out after 300ms");
    assert_eq!(session.log(), ["run `a` in /p"]);
}

#[test]
fn of_nested_limits_the_one_that_is_over_fails() {
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG));
    let ran = Running::new("@timeout(1h) { @timeout(200ms) { a } }\n", &session).run();
    assert!(ran.failure().starts_with("script.timeout[0].timeout[0] 124"), "{}", ran.failure());
    let session = LoggedSession::new().on("a", Answer::default().takes(LONG));
    let source = "@timeout(200ms) { try { @timeout(1h) { a } } catch { b } finally { c } }\n";
    let ran = Running::new(source, &session).run();
    assert!(ran.failure().starts_with("script.timeout[0] 124"), "{}", ran.failure());
    assert_eq!(session.log()[2..], ["run `c` in /p"]);
    assert!(!ran.outcome.cleaned_up, "only a part was stopped");
}

#[test]
fn a_directory_and_variables_hold_for_a_block_and_nothing_after_it() {
    assert_eq!(
        log(
            "@workdir(\"web\") {\n    a\n    @environ(X=\"1\", Y=\"2\") {\n        @workdir(\"../api\") { b }\n        @environ(X=\"3\") { c }\n    }\n    d\n}\ne\n"
        ),
        [
            "run `a` in /p/web",
            "run `b` in /p/api with X, Y",
            "run `c` in /p/web with X, Y",
            "run `d` in /p/web",
            "run `e` in /p",
        ]
    );
}

#[test]
fn a_directory_that_is_absent_fails_the_step_unless_it_is_made() {
    let session = LoggedSession::new().without("gone");
    let ran = Running::new("@workdir(\"gone\") { a }\n", &session).run();
    assert_eq!(ran.failure(), "script.workdir[0] 1: the directory `gone` does not exist");
    assert!(session.log().is_empty());
    Running::new("@workdir(\"gone\", create=true) { a }\n", &session).run().ok();
    assert_eq!(session.log(), ["make gone", "run `a` in /p/gone"]);
}

#[test]
fn a_message_is_reported_with_its_level_and_a_question_was_asked_before() {
    let session = LoggedSession::new();
    let ran =
        Running::new("@confirm(\"sure?\")\n@log(\"hello\", level=\"warn\")\na\n", &session).run();
    ran.ok();
    assert!(ran.record.contains(&"warn: hello".to_owned()), "{:?}", ran.record);
    assert_eq!(session.log(), ["run `a` in /p"]);
    assert_eq!(ran.outcome.steps.done, 3);
}

#[test]
fn questions_come_in_the_order_of_the_plan() {
    let session = LoggedSession::new();
    let source =
        "fun f() { @confirm(\"two\") }\n@confirm(\"one\")\n@cmd.f()\n@confirm(\"three\")\n";
    assert_eq!(Running::new(source, &session).questions(), ["one", "two", "three"]);
    let from = Some("script.f[0]".to_owned());
    let later = Running { from, ..Running::new(source, &session) };
    assert_eq!(later.questions(), ["two", "three"]);
}

#[test]
fn a_shell_step_has_settings_of_its_own() {
    let session = LoggedSession::new().on("b", Answer::code(3));
    let source = "@shell(\"a\", shell=\"zsh\", workdir=\"web\", env={X: \"1\"})\n\
                  @shell(\"b\", allow_failure=true)\nc\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert_eq!(
        session.log(),
        ["run `a` in /p/web with X by zsh", "run `b` in /p", "run `c` in /p"]
    );
    assert!(ran.record.contains(&"done script.shell[1] 3".to_owned()), "{:?}", ran.record);
}

#[test]
fn a_check_that_succeeds_leaves_its_command_out() {
    let ends = |code| resolver::Answer {
        code,
        stdout: Secret::new("noise\n"),
        stderr: Secret::new("noise\n"),
    };
    let world = MemoryWorld::default()
        .answer("is-there", ends(0))
        .answer("is-not", ends(1))
        .answer("is-not", ends(0));
    let session = LoggedSession::new().world(world);
    let source = "@shell(\"a\", check=\"is-there\")\n@shell(\"b\", check=\"is-not\")\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert_eq!(session.log(), ["run `b` in /p"]);
    assert!(ran.output().is_empty());
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.satisfied), (1, 1));
}

#[test]
fn a_pause_ends_when_the_run_is_stopped() {
    let session = LoggedSession::new().on("a", Answer::code(1));
    let running = Running::new("@retry(2, delay=1h) { a }\n", &session);
    let stop = running.stop.clone();
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(millis(20));
            stop.ask(opal_core::action::Why::Signal(15));
        });
        running.run()
    });
    let stopped = opal_core::action::Halt::Stopped(opal_core::action::Why::Signal(15));
    assert_eq!(ran.outcome.halt, Some(stopped));
}

#[test]
fn a_value_too_short_for_the_vault_is_hidden_where_a_message_names_it() {
    let session = LoggedSession::new().without("ab");
    for (source, said) in [
        ("@workdir(@env.WHERE) { a }\n", "`…`"),
        ("@workdir(\"ab\") { a }\n", "`ab`"),
        ("@environ(X=@env.WHERE) { @workdir(\"ab\") { a } }\n", "`ab`"),
    ] {
        let project = Project::new(source).world(|world| world.env("WHERE", "ab"));
        let ran = Running::on(project, &session, Path::new("/p")).run();
        assert!(ran.failure().contains(said), "{source}: {}", ran.failure());
    }
}

#[test]
fn what_a_session_says_about_a_failure_holds_no_value() {
    const VALUE: &str = "/srv/hunter22hunter22";
    let session = LoggedSession::new().without(VALUE);
    for (source, from) in [
        ("@workdir(@secret.env.WHERE) { a }\n", None),
        ("cd @secret.env.WHERE\nb\n", Some("script.shell[1]".to_owned())),
    ] {
        let project = Project::new(source).world(|world| world.env("WHERE", VALUE));
        let ran = Running { from, ..Running::on(project, &session, Path::new("/p")) }.run();
        assert!(ran.failure().contains("1: the directory `<21:"), "{}", ran.failure());
        let all = format!("{:?} {:?} {:?}", ran.outcome, ran.record, ran.seen);
        assert!(!all.contains("hunter22"), "{all}");
    }
}
