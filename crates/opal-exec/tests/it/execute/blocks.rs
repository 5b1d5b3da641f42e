//! Steps in order, directories, functions, `try`.

use opal_core::action::{Halt, Why};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_testing::{Answer, LoggedSession};

use opal_testing::planning::Project;
use opal_testing::running::{LONG, Running, log, millis};

#[test]
fn steps_run_in_order_up_to_the_first_that_fails() {
    let session = LoggedSession::new().on("b", Answer::code(3));
    let ran = Running::new("a\nb\nc\n", &session).run();
    assert_eq!(session.log(), ["run `a` in /p", "run `b` in /p"]);
    assert_eq!(ran.failure(), "script.shell[1] 3");
    let failed = ran.outcome.failed.unwrap();
    assert_eq!((failed.number, failed.code, &*failed.text.text()), (Some(2), 3, "b"));
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.failed), (1, 1));
}

#[test]
fn a_step_is_recorded_before_it_does_anything_and_after_it_ended() {
    let session = LoggedSession::new().on("a", Answer::prints("hello\n"));
    let ran = Running::new("a\n", &session).run();
    let reported = ["start script.shell[0]: a", "out 1> hello\n", "done script.shell[0] 0"];
    assert_eq!(ran.record, reported);
    assert_eq!(ran.seen, reported);
}

#[test]
fn a_directory_carries_on_within_its_block_and_ends_with_it() {
    assert_eq!(
        log("cd a\nx\n{\n    cd b\n    y\n}\nz\n"),
        [
            "run `cd a` in /p",
            "run `x` in /p/a",
            "run `cd b` in /p/a",
            "run `y` in /p/a/b",
            "run `z` in /p/a",
        ]
    );
}

#[test]
fn every_kind_of_block_keeps_its_directory_to_itself() {
    for source in [
        "if true { cd b\ny }\nz\n",
        "for i in [1] { cd b\ny }\nz\n",
        "when 1 { 1 -> { cd b\ny } }\nz\n",
        "try { cd b\ny } finally { w }\nz\n",
        "@timeout(1m) { cd b\ny }\nz\n",
        "@environ(A=\"1\") { cd b\ny }\nz\n",
        "@workdir(\".\") { cd b\ny }\nz\n",
        "@retry(2) { cd b\ny }\nz\n",
        "@parallel { { cd b\ny } }\nz\n",
        "fun f() { cd b\ny }\n@cmd.f()\nz\n",
    ] {
        let session = LoggedSession::new();
        Running::new(source, &session).run().ok();
        let log = session.log();
        assert!(log.iter().any(|line| line.starts_with("run `y` in /p/b")), "{source}: {log:?}");
        assert_eq!(log.last().unwrap(), "run `z` in /p", "{source}");
    }
}

#[test]
fn a_function_starts_where_its_call_is() {
    assert_eq!(log("fun f() { x }\ncd a\n@cmd.f()\n"), ["run `cd a` in /p", "run `x` in /p/a"]);
}

#[test]
fn a_plan_of_every_construct_tells_of_decorators_only() {
    let source = "fun f(n) { a @var.n }\nif true { for i in [1, 2] { @cmd.f(i) } }\n";
    let session = LoggedSession::new();
    let ran = Running::new(source, &session).run();
    ran.ok();
    let starts: Vec<_> = ran.record.iter().filter(|line| line.starts_with("start")).collect();
    assert_eq!(starts.len(), 4, "{starts:?}");
    assert!(starts[0].ends_with('{') && starts[1].ends_with("a 1"), "{starts:?}");
}

#[test]
fn what_fails_is_caught_and_the_run_goes_on() {
    let session = LoggedSession::new().on("a", Answer::code(1));
    let source = "try {\n    a\n    b\n} catch {\n    c\n} finally {\n    d\n}\ne\n";
    Running::new(source, &session).run().ok();
    assert_eq!(session.log(), ["run `a` in /p", "run `c` in /p", "run `d` in /p", "run `e` in /p"]);
}

#[test]
fn without_a_failure_nothing_is_caught_and_finally_runs() {
    assert_eq!(log("try { a } catch { b } finally { c }\n"), ["run `a` in /p", "run `c` in /p"]);
}

#[test]
fn the_first_failure_stays_whatever_cleaning_up_does() {
    let session = LoggedSession::new()
        .on("a", Answer::code(3))
        .on("c", Answer::code(4))
        .on("d", Answer::code(5));
    let ran = Running::new("try { a } finally { c }\n", &session).run();
    assert_eq!(ran.failure(), "script.try[0].shell[0] 3");
    assert!(ran.record.iter().any(|line| line.contains("failed") && line.ends_with(" 4")));
    let ran = Running::new("try { b } finally { d }\n", &session).run();
    assert!(ran.failure().ends_with(" 5"), "{}", ran.failure());
    let ran = Running::new("try { a } catch { d } finally { b }\n", &session).run();
    assert!(ran.failure().ends_with(" 5"), "{}", ran.failure());
    assert_eq!(session.log().last().unwrap(), "run `b` in /p");
}

/// Asks the run to stop once it has come to `sleep`.
fn interrupted(source: &str, session: &LoggedSession, kill: bool) -> opal_testing::running::Ran {
    let running = Running::new(source, session);
    let stop = running.stop.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !session.log().iter().any(|line| line.starts_with("run `sleep")) {
                std::thread::sleep(millis(1));
            }
            stop.ask(Why::Signal(2));
            if kill {
                stop.kill();
            }
        });
        running.run()
    })
}

#[test]
fn an_interruption_stops_what_runs_and_cleans_up() {
    let session = LoggedSession::new().on("sleep", Answer::default().takes(LONG));
    let source = "try {\n    sleep\n    a\n} catch {\n    b\n} finally {\n    c\n    d\n}\ne\n";
    let ran = interrupted(source, &session, false);
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(2))));
    assert!(ran.outcome.cleaned_up);
    assert_eq!(
        session.log(),
        ["run `sleep` in /p", "stop `sleep`: signal 2", "run `c` in /p", "run `d` in /p"]
    );
    assert_eq!(
        ran.record,
        [
            "start script.try[0].shell[0]: sleep",
            "stopped script.try[0].shell[0] 143",
            "cleaning up: interrupted",
            "start script.try[0].finally.shell[0]: c",
            "done script.try[0].finally.shell[0] 0",
            "start script.try[0].finally.shell[1]: d",
            "done script.try[0].finally.shell[1] 0",
        ]
    );
}

#[test]
fn the_order_to_kill_skips_cleaning_up() {
    let session = LoggedSession::new().on("sleep", Answer::default().takes(LONG).stubborn());
    let ran = interrupted("try { sleep } finally { c }\n", &session, true);
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(2))));
    assert!(!ran.outcome.cleaned_up);
    assert!(!session.log().iter().any(|line| line.contains('c')), "{:?}", session.log());
    assert!(session.log().contains(&"kill `sleep`".to_owned()));
}

#[test]
fn a_try_that_has_not_begun_cleans_nothing_up() {
    let session = LoggedSession::new().on("sleep", Answer::default().takes(LONG));
    let ran = interrupted("sleep\ntry { a } finally { c }\n", &session, false);
    assert!(!ran.outcome.cleaned_up);
    assert_eq!(session.log(), ["run `sleep` in /p", "stop `sleep`: signal 2"]);
}

#[test]
fn nested_finally_blocks_run_from_the_inside_out() {
    let session = LoggedSession::new().on("sleep", Answer::default().takes(LONG));
    let source = "try { try { sleep } finally { a } } finally { b }\n";
    let ran = interrupted(source, &session, false);
    assert_eq!(session.log()[2..], ["run `a` in /p", "run `b` in /p"]);
    let said = ran.record.iter().filter(|line| line.starts_with("cleaning up"));
    assert_eq!(said.count(), 1);
}

#[test]
fn a_command_that_cannot_be_run_fails_with_the_shells_code() {
    let missing = Trouble::new(TroubleKind::Missing, "`zsh` does not exist", "install it");
    let denied = Trouble::new(TroubleKind::Denied, "it may not be run", "see its mode");
    let session =
        LoggedSession::new().on("a", Answer::fails(missing)).on("b", Answer::fails(denied));
    let ran = Running::new("@shell(\"a\", shell=\"zsh\")\n", &session).run();
    assert_eq!(ran.failure(), "script.shell[0] 127: `zsh` does not exist");
    assert_eq!(ran.record.last().unwrap(), "failed script.shell[0] 127: `zsh` does not exist");
    let ran = Running::new("b\n", &session).run();
    assert_eq!(ran.failure(), "script.shell[0] 126: it may not be run");
}

#[test]
fn secrets_are_hidden_in_events_and_output() {
    let session = LoggedSession::new().on("a {}", Answer::prints("got canary-51500\n"));
    let project = Project::new("a @env.TOKEN\n").world(|world| world.env("TOKEN", "canary-51500"));
    let ran = Running::on(project, &session, std::path::Path::new("/p")).run();
    ran.ok();
    let all = format!("{:?} {:?} {:?}", ran.seen, ran.record, session.log());
    assert!(!all.contains("canary"), "{all}");
    assert_eq!(ran.output().len(), 1);
}

#[test]
fn plain_values_are_clear_in_events_and_output() {
    let session = LoggedSession::new().on("a {}", Answer::prints("got /home/bo\n"));
    let project = Project::new("a @env.HOME\n").world(|world| world.env("HOME", "/home/bo"));
    let ran = Running::on(project, &session, std::path::Path::new("/p")).run();
    ran.ok();
    assert_eq!(ran.output(), ["got /home/bo\n"]);
    assert!(
        ran.record.contains(&"start script.shell[0]: a /home/bo".to_owned()),
        "{:?}",
        ran.record
    );
}
