//! `@parallel`.

use opal_core::action::{Halt, Why};
use opal_testing::{Answer, LoggedSession};

use opal_testing::running::{LONG, Running, millis};

#[test]
fn every_step_block_body_and_iteration_is_a_branch() {
    let source = "@parallel {\n    a\n    {\n        b\n        c\n    }\n    if true { d\ne }\n    \
                  for i in [1, 2] { f @var.i }\n    when 1 { 1 -> g }\n    if false { h }\n}\n";
    let session = LoggedSession::new();
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert!(ran.record.contains(&"6 branches, 6 at a time".to_owned()), "{:?}", ran.record);
    assert_eq!(session.log().len(), 8);
}

#[test]
fn output_comes_in_the_order_of_the_plan_whichever_ends_first() {
    let session = LoggedSession::new()
        .on("a", Answer::prints("A\n").takes(millis(400)))
        .on("b", Answer::prints("B\n").takes(millis(200)))
        .on("c", Answer::prints("C\n"));
    let ran = Running::new("@parallel {\n    a\n    b\n    c\n}\n", &session).run();
    ran.ok();
    assert_eq!(ran.output(), ["A\n", "B\n", "C\n"]);
    let paths = |lines: &[String]| -> Vec<String> {
        let starts = lines.iter().filter(|line| line.starts_with("done"));
        starts.map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect()
    };
    let branch = |index: usize| format!("script.parallel[0].shell[{index}]");
    let (first, second, third) = (branch(0), branch(1), branch(2));
    let last = "script.parallel[0]".to_owned();
    assert_eq!(paths(&ran.seen), [first.clone(), second.clone(), third.clone(), last.clone()]);
    assert_eq!(paths(&ran.record), [third, second, first, last]);
}

#[test]
fn the_first_branch_is_shown_live_and_the_others_when_it_is_their_turn() {
    let session = LoggedSession::new()
        .on("a", Answer::prints("A\n").takes(millis(30)))
        .on("b", Answer::prints("B1\n").says("B2\n"));
    let ran =
        Running::new("@parallel {\n    a\n    {\n        b\n        c\n    }\n}\n", &session).run();
    let seen: Vec<&str> = ran.seen.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(
        seen,
        [
            "start", "2", "start", "out", "done", "start", "out", "err", "done", "start", "done",
            "done"
        ]
    );
}

#[test]
fn nested_branches_keep_the_order_too() {
    let slow = |text: &str, time| Answer::prints(text).takes(millis(time));
    let session = LoggedSession::new()
        .on("a", slow("A\n", 30))
        .on("b", slow("B\n", 5))
        .on("c", slow("C\n", 15))
        .on("d", slow("D\n", 0));
    let source = "@parallel {\n    @parallel {\n        a\n        b\n    }\n    \
                  @parallel {\n        c\n        d\n    }\n}\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert_eq!(ran.output(), ["A\n", "B\n", "C\n", "D\n"]);
}

#[test]
fn much_output_waits_outside_of_memory_and_comes_back_whole() {
    let long: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
    let session = LoggedSession::new()
        .on("a", Answer::default().takes(millis(20)))
        .on("b", Answer::prints(long.clone()));
    let ran = Running::new("@parallel {\n    a\n    b\n}\n", &session).run();
    assert_eq!(ran.output().concat(), long);
}

#[test]
fn a_failure_cancels_the_other_branches_and_their_cleaning_up_still_runs() {
    let session = LoggedSession::new()
        .on("a", Answer::code(3).takes(millis(300)))
        .on("b", Answer::default().takes(LONG));
    let source =
        "@parallel(max=2) {\n    a\n    try { b } catch { x } finally { c }\n    d\n}\ne\n";
    let ran = Running::new(source, &session).run();
    assert_eq!(ran.failure(), "script.parallel[0].shell[0] 3");
    let log = session.log();
    assert_eq!(log[2..], ["stop `b`: cancelled", "run `c` in /p"], "{log:?}");
    assert!(!ran.record.iter().any(|line| line.starts_with("cleaning up")));
    assert!(ran.record.iter().any(|line| line.starts_with("stopped") && line.contains("try")));
}

#[test]
fn with_wait_every_branch_runs_to_its_end() {
    let session = LoggedSession::new()
        .on("a", Answer::code(3).takes(millis(20)))
        .on("b", Answer::code(4))
        .on("c", Answer::default().takes(millis(30)));
    let source = "@parallel(on_failure=\"wait\") {\n    c\n    a\n    b\n}\nd\n";
    let ran = Running::new(source, &session).run();
    assert_eq!(ran.failure(), "script.parallel[0].shell[1] 3", "the first in the plan");
    assert_eq!(session.log().len(), 3);
    assert!(ran.record.contains(&"done script.parallel[0].shell[0] 0".to_owned()));
}

#[test]
fn with_wait_all_that_failed_are_named_in_the_order_of_the_plan() {
    let session = LoggedSession::new()
        .on("a", Answer::code(3).takes(millis(50)))
        .on("b", Answer::code(4))
        .on("c", Answer::code(5).takes(millis(20)))
        .on("e", Answer::code(6));
    let wait = "@parallel(on_failure=\"wait\")";
    let source = format!(
        "{wait} {{\n    a\n    {wait} {{\n        b\n        c\n    }}\n    d\n    e\n}}\n"
    );
    let ran = Running::new(&source, &session).run();
    assert_eq!(ran.failure(), "script.parallel[0].shell[0] 3");
    let beside = ran.outcome.beside.iter().map(|step| (step.code, step.text.text().into_owned()));
    let expected = [(4, "b"), (5, "c"), (6, "e")].map(|(code, text)| (code, text.to_owned()));
    assert_eq!(beside.collect::<Vec<_>>(), expected);
    assert_eq!(ran.outcome.more, 0);
}

#[test]
fn of_many_that_failed_some_are_named_and_the_others_counted() {
    let source = "@parallel(on_failure=\"wait\") {\n    for i in 1...40 { a @var.i }\n}\n";
    let session = LoggedSession::new().on("a {}", Answer::code(1));
    let ran = Running::new(source, &session).run();
    assert_eq!((ran.outcome.beside.len(), ran.outcome.more), (15, 24));
}

#[test]
fn no_more_branches_run_at_a_time_than_allowed() {
    for (source, jobs, most) in [
        ("@parallel(max=2) { for i in 1...8 { a @var.i } }\n", None, 2),
        ("@parallel { for i in 1...8 { a @var.i } }\n", Some(3), 3),
        (
            "@parallel { for i in 1...4 { @parallel { for j in 1...4 { a @var.j } } } }\n",
            Some(2),
            2,
        ),
        (
            "@parallel { for i in 1...4 { @parallel { for j in 1...4 { a @var.j } } } }\n",
            Some(1),
            1,
        ),
    ] {
        let session = LoggedSession::new().on("a {}", Answer::default().takes(millis(20)));
        let running = Running { jobs, ..Running::new(source, &session) };
        running.run().ok();
        assert_eq!(session.most_at_work(), most, "{source}");
    }
}

#[test]
fn branches_do_not_share_directories() {
    let session = LoggedSession::new();
    let source = "cd x\n@parallel {\n    {\n        cd a\n        b\n    }\n    c\n}\nd\n";
    Running::new(source, &session).run().ok();
    let log = session.log();
    assert!(log.contains(&"run `b` in /p/x/a".to_owned()), "{log:?}");
    assert!(log.contains(&"run `c` in /p/x".to_owned()), "{log:?}");
    assert_eq!(log.last().unwrap(), "run `d` in /p/x");
}

#[test]
fn those_who_watch_see_how_far_it_is() {
    let session = LoggedSession::new().on("b", Answer::code(1));
    let source = "@parallel(on_failure=\"wait\", max=1) {\n    a\n    b\n}\n";
    let ran = Running::new(source, &session).run();
    assert_eq!(
        ran.progress,
        ["0/2, 0 failed: a", "1/2, 0 failed: ", "1/2, 0 failed: b", "2/2, 1 failed: "]
    );
}

#[test]
fn an_interruption_reaches_every_branch() {
    let session = LoggedSession::new()
        .on("a", Answer::default().takes(LONG))
        .on("b", Answer::default().takes(LONG));
    let running = Running::new("@parallel {\n    a\n    b\n}\n", &session);
    let stop = running.stop.clone();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while session.log().len() < 2 {
                std::thread::sleep(millis(1));
            }
            stop.ask(Why::Signal(15));
        });
        running.run()
    });
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(15))));
    let log = session.log();
    assert_eq!(log.iter().filter(|line| line.ends_with(": signal 15")).count(), 2, "{log:?}");
    assert_eq!(ran.outcome.steps.stopped, 2);
}

#[test]
fn a_deep_plan_fits_into_the_stack_of_a_branch() {
    let (open, close) = ("@timeout(1m) { ".repeat(50), " }".repeat(50));
    let source = format!("@parallel {{\n    {open}a{close}\n    {open}b{close}\n}}\n");
    let session = LoggedSession::new();
    Running::new(&source, &session).run().ok();
    assert_eq!(session.log().len(), 2);
}

#[test]
fn that_it_cleans_up_is_reported_at_once_whichever_branch_is_shown() {
    let session = LoggedSession::new()
        .on("a", Answer::default().takes(LONG).stubborn())
        .on("b", Answer::default().takes(LONG));
    let source = "@parallel {\n    a\n    try { b } finally { c }\n}\n";
    let running = Running::new(source, &session);
    let stop = running.stop.clone();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let wait_for = |what: &str| {
                while !session.log().iter().any(|line| line.starts_with(what)) {
                    std::thread::sleep(millis(1));
                }
            };
            wait_for("run `a`");
            wait_for("run `b`");
            stop.ask(Why::Signal(2));
            wait_for("run `c`");
            stop.kill();
        });
        running.run()
    });
    let at = |what: &str| ran.seen.iter().position(|line| line.starts_with(what)).unwrap();
    let first = "stopped script.parallel[0].shell[0]";
    assert!(at("cleaning up: interrupted") < at(first), "{:#?}", ran.seen);
}
