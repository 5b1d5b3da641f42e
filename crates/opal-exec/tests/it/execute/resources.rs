//! Resources in a run: verified right before they are applied, and again after that.

use opal_core::action::{Halt, Why};
use opal_core::resource::Status;
use opal_exec::verify::Report;
use opal_testing::{Answer, LoggedSession};

use crate::verify::things::{PACKAGE, THING, USER, is_there, log, most_made_at_once};
use opal_testing::planning::Project;
use opal_testing::running::{Ran, Running, millis};

fn running<'s>(source: &str, session: &'s LoggedSession) -> Running<'s> {
    let project = Project::new(source).plugins(&[&THING, &PACKAGE, &USER]);
    Running::on(project, session, std::path::Path::new("/p"))
}

fn run(source: &str) -> Ran {
    running(source, &LoggedSession::new()).run()
}

/// The record without starts and ends.
fn looks(ran: &Ran) -> Vec<&str> {
    let reported = ran.record.iter().map(String::as_str);
    reported
        .filter(|line| Status::ALL.iter().any(|it| line.starts_with(&format!("{}: ", it.name()))))
        .collect()
}

/// Of five things, each depending on the one before.
fn chain(group: &str) -> String {
    let mut source = format!("@test.thing(\"{group}/0\", id=\"0\")\n");
    for n in 1..5 {
        let before = n - 1;
        source += &format!("@test.thing(\"{group}/{n}\", id=\"{n}\", depends_on=[\"{before}\"])\n");
    }
    source
}

#[test]
fn each_of_a_chain_is_verified_made_and_verified_again() {
    let ran = run(&chain("row"));
    ran.ok();
    let expected: Vec<String> = (0..5)
        .flat_map(|n| [format!("look {n}"), format!("make {n}"), format!("look {n}")])
        .collect();
    assert_eq!(log("row"), expected);
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.satisfied), (5, 0));
    assert_eq!(looks(&ran).len(), 10);
}

#[test]
fn what_is_satisfied_is_shown_and_skipped() {
    is_there("half/0");
    is_there("half/1");
    let ran = run(&chain("half"));
    ran.ok();
    assert_eq!(log("half")[..3], ["look 0", "look 1", "look 2"]);
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.satisfied), (3, 2));
    assert!(
        ran.record.contains(&"satisfied script.test.thing[0] 0".to_owned()),
        "{:?}",
        ran.record
    );
    assert_eq!(looks(&ran)[0], "satisfied: there");
    let again = run(&chain("half"));
    again.ok();
    assert_eq!((again.outcome.steps.done, again.outcome.steps.satisfied), (0, 5));
    assert_eq!(log("half").iter().filter(|line| line.starts_with("make")).count(), 3);
}

#[test]
fn what_was_satisfied_in_a_report_is_not_verified_again_and_the_rest_is() {
    is_there("known/0");
    is_there("known/1");
    let session = std::sync::Arc::new(LoggedSession::new());
    let source = chain("known");
    let known: Report = crate::execute::surveyed::survey(&source, &session);
    let before = log("known").len();
    assert_eq!(before, 5, "what depends on something missing is verified too");
    let ran = Running { known: Some(known), ..running(&source, &session) }.run();
    ran.ok();
    assert_eq!(log("known")[before..before + 3], ["look 2", "make 2", "look 2"]);
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.satisfied), (3, 2));
    assert_eq!(looks(&ran)[..2], ["satisfied: there", "satisfied: there"]);
}

#[test]
fn commands_without_a_check_are_unknown_run_and_count_as_met() {
    let session = LoggedSession::new();
    let mut source = "@shell(\"step 0\", id=\"0\")\n".to_owned();
    for n in 1..5 {
        let before = n - 1;
        source += &format!("@shell(\"step {n}\", id=\"{n}\", depends_on=[\"{before}\"])\n");
    }
    let ran = running(&source, &session).run();
    ran.ok();
    assert_eq!(ran.outcome.steps.done, 5);
    let expected: Vec<String> = (0..5).map(|n| format!("run `step {n}` in /p")).collect();
    assert_eq!(session.log(), expected);
    assert!(looks(&ran).iter().all(|line| line.starts_with("unknown: ")), "{:?}", looks(&ran));
    assert_eq!(looks(&ran).len(), 5, "once each: the command has nothing to add");
}

#[test]
fn what_is_not_reached_by_its_action_fails() {
    let ran = run("@test.thing(\"never/a\", apply=\"nothing\")\nb\n");
    assert_eq!(
        ran.failure(),
        "script.test.thing[0] 1: it was applied, but verification still reports missing: \
         `never/a` does not exist"
    );
    let drifts = run("@test.thing(\"never/b\", is=\"drifted\")\n");
    assert!(drifts.failure().ends_with("verification still reports drifted: different"));
}

#[test]
fn what_is_blocked_fails_with_the_reason_and_is_never_acted_on() {
    let ran = run("@test.thing(\"shut/a\", is=\"blocked\")\n");
    assert_eq!(ran.failure(), "script.test.thing[0] 1: `shut/a` cannot be read");
    assert_eq!(log("shut"), ["look a"]);
    assert_eq!(looks(&ran), ["blocked: `shut/a` cannot be read"]);
    let late = run("@test.thing(\"shut/b\", takes=1m, verify_timeout=50ms)\n");
    assert_eq!(late.failure(), "script.test.thing[0] 1: did not answer within 50ms");
    let bug = run("@test.thing(\"shut/c\", is=\"panic\")\n");
    assert_eq!(bug.failure(), "script.test.thing[0] 1: the verification panicked");
    assert!(!log("shut").iter().any(|line| line.starts_with("make")));
}

#[test]
fn branches_wait_for_what_they_depend_on_whatever_is_first() {
    for (jobs, max) in [(None, ""), (Some(1), ""), (None, "(max=1)"), (Some(2), "(max=3)")] {
        let group = format!("graph{}{}", jobs.unwrap_or(0), max.len());
        let source = format!(
            "@parallel{max} {{\n\
             @test.thing(\"{group}/d\", id=\"d\", depends_on=[\"b\", \"c\"])\n\
             @test.thing(\"{group}/c\", id=\"c\", depends_on=[\"a\"])\n\
             {{\n@test.thing(\"{group}/x\", depends_on=[\"a\"])\n\
             @test.thing(\"{group}/b\", id=\"b\")\n}}\n\
             for n in [\"a\"] {{ @test.thing(\"{group}/\" + n, id=n) }}\n}}\n"
        );
        let session = LoggedSession::new();
        let ran = Running { jobs, ..running(&source, &session) }.run();
        ran.ok();
        let log = log(&group);
        let at = |what: &str| log.iter().position(|line| line == what).unwrap();
        assert!(at("make a") < at("look c") && at("make a") < at("look x"), "{log:?}");
        assert!(at("make b") < at("look d") && at("make c") < at("look d"), "{log:?}");
        let shown: Vec<&String> = ran.seen.iter().filter(|line| line.starts_with("done")).collect();
        assert!(shown[0].contains("parallel[0].test.thing[0]"), "in the order of the plan");
    }
}

/// `a` fails; `b` and `c` depend on it, `d` does not.
fn failing(group: &str, on_failure: &str) -> String {
    format!(
        "@parallel(max=1, on_failure=\"{on_failure}\") {{\n\
         @test.thing(\"{group}/c\", id=\"c\", depends_on=[\"b\"])\n\
         {{\n@test.thing(\"{group}/b\", id=\"b\", depends_on=[\"a\"])\necho more\n}}\n\
         @test.thing(\"{group}/a\", id=\"a\", apply=\"fails\")\n\
         @test.thing(\"{group}/d\", id=\"d\")\n}}\nafter\n"
    )
}

#[test]
fn what_depends_on_a_failure_is_left_out_and_says_why() {
    let ran = run(&failing("waited", "wait"));
    assert_eq!(ran.failure(), "script.parallel[0].test.thing[1] 3: it cannot be made");
    assert_eq!(log("waited"), ["look a", "make a", "look d", "make d", "look d"]);
    let skipped: Vec<&str> =
        ran.seen.iter().filter(|line| line.starts_with("skip")).map(String::as_str).collect();
    assert_eq!(
        skipped,
        [
            "skip script.parallel[0].test.thing[0]: dependencies not satisfied: b (skipped)",
            "skip script.parallel[0].block[0].test.thing[0]: \
             dependencies not satisfied: a (failed)",
            "skip script.parallel[0].block[0].shell[0]: dependencies not satisfied: a (failed)",
        ]
    );
    let steps = ran.outcome.steps;
    assert_eq!((steps.done, steps.failed, steps.skipped), (1, 1, 3));
}

#[test]
fn what_several_steps_depend_on_is_named_once() {
    let ran = run("@parallel(max=1, on_failure=\"wait\") {\n\
         {\n@test.thing(\"once/x\", depends_on=[\"b\", \"a\"])\n\
         @test.thing(\"once/y\", depends_on=[\"a\", \"b\"])\n}\n\
         @test.thing(\"once/a\", id=\"a\", apply=\"fails\")\n\
         @test.thing(\"once/b\", id=\"b\", apply=\"fails\")\n}\n");
    let skipped: Vec<&String> = ran.seen.iter().filter(|line| line.starts_with("skip")).collect();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    for line in skipped {
        assert!(line.ends_with("not satisfied: b (not run), a (failed)"), "{line}");
    }
}

#[test]
fn where_a_failure_cancels_the_others_do_not_start() {
    let ran = run(&failing("cancelled", "cancel"));
    assert_eq!(ran.failure(), "script.parallel[0].test.thing[1] 3: it cannot be made");
    assert_eq!(log("cancelled"), ["look a", "make a"]);
    assert_eq!(ran.outcome.steps.skipped, 3);
}

#[test]
fn a_failure_that_was_caught_is_still_not_met() {
    let source = "try { @test.thing(\"caught/a\", id=\"a\", apply=\"fails\") } catch { b }\n\
                  @test.thing(\"caught/c\", depends_on=[\"a\"])\n";
    let ran = run(source);
    assert_eq!(ran.failure(), "script.test.thing[0] 1: dependencies not satisfied: a (failed)");
    assert_eq!(log("caught"), ["look a", "make a"]);
}

#[test]
fn what_precedes_the_first_step_of_a_run_counts_as_met() {
    let session = LoggedSession::new();
    let source = chain("from");
    let from = Some("script.test.thing[3]".to_owned());
    let ran = Running { from, ..running(&source, &session) }.run();
    ran.ok();
    assert_eq!(log("from")[0], "look 3");
    assert_eq!(ran.outcome.steps.skipped, 3);
    let source = "@parallel {\n@test.thing(\"later/a\", id=\"a\")\n\
                  @test.thing(\"later/b\", depends_on=[\"a\"])\n}\n";
    let from = Some("script.parallel[0].test.thing[1]".to_owned());
    Running { from, ..running(source, &session) }.run().ok();
    assert_eq!(log("later"), ["look b", "make b", "look b"]);
}

#[test]
fn a_stop_reaches_those_that_wait_for_their_turn() {
    let session =
        LoggedSession::new().on("a", Answer::default().takes(opal_testing::running::LONG));
    let source = "@parallel {\n@shell(\"a\", id=\"a\")\n\
                  @shell(\"b\", id=\"b\", depends_on=[\"a\"])\n\
                  @shell(\"c\", depends_on=[\"b\"])\n}\n";
    let running = running(source, &session);
    let stop = running.stop.clone();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while session.log().is_empty() {
                std::thread::sleep(millis(1));
            }
            stop.ask(Why::Signal(15));
        });
        running.run()
    });
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(15))));
    assert_eq!(session.log()[1..], ["stop `a`: signal 15"]);
}

/// As soon as `group` has been made for the first time.
fn interrupted(source: &str, group: &str) -> Ran {
    let session = LoggedSession::new();
    let running = running(source, &session);
    let stop = running.stop.clone();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !log(group).iter().any(|line| line.starts_with("make")) {
                std::thread::sleep(millis(1));
            }
            stop.ask(Why::Signal(2));
        });
        running.run()
    })
}

#[test]
fn what_was_stopped_has_not_failed() {
    let ran = interrupted("@test.thing(\"cut/a\", apply=\"stopped\")\n", "cut");
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(2))));
    assert_eq!((ran.outcome.steps.failed, ran.outcome.steps.stopped), (0, 1));
    let ran = run("@timeout(50ms) { @test.thing(\"late/a\", apply=\"stopped\", id=\"slow\") }\n");
    assert_eq!(ran.failure(), "script.timeout[0] 124: timed out after 50ms: `slow` took too long");
    let session = LoggedSession::new().on("bad", Answer::code(5));
    let source = "@parallel {\n@test.thing(\"beside/a\", apply=\"stopped\")\nbad\n}\n";
    let ran = running(source, &session).run();
    assert_eq!(ran.failure(), "script.parallel[0].shell[0] 5");
    assert_eq!((ran.outcome.steps.failed, ran.outcome.beside.len()), (1, 0));
}

#[test]
fn what_depends_on_something_that_ran_out_of_time_says_so() {
    let ran = run("@parallel(on_failure=\"wait\") {\n\
                   @timeout(50ms) { @test.thing(\"over/a\", id=\"a\", apply=\"stopped\") }\n\
                   @test.thing(\"over/b\", depends_on=[\"a\"])\n}\n");
    let expected =
        "skip script.parallel[0].test.thing[0]: dependencies not satisfied: a (timed out)";
    assert!(ran.seen.iter().any(|line| line == expected), "{:?}", ran.seen);
}

#[test]
fn packages_and_users_are_changed_one_at_a_time_and_other_things_in_parallel() {
    let all = |decorators: [&str; 2], group: &str| {
        let step = |n: usize| {
            let decorator = decorators[n % 2];
            format!("@test.{decorator}(\"{group}/{n}\", apply=\"slowly\")\n")
        };
        let steps: String = (0..6).map(step).collect();
        run(&format!("@parallel {{\n{steps}}}\n")).ok();
        most_made_at_once(group)
    };
    assert_eq!(all(["package", "user"], "system"), 1);
    assert!(all(["thing", "thing"], "things") > 1);
}

#[test]
fn who_waits_to_be_alone_hears_that_it_is_to_stop() {
    let source = "@parallel {\n@test.package(\"alone/a\", apply=\"stopped\")\n\
                  @test.user(\"alone/b\", apply=\"stopped\")\n}\n";
    let ran = interrupted(source, "alone");
    assert_eq!(ran.outcome.halt, Some(Halt::Stopped(Why::Signal(2))));
    let made = log("alone").iter().filter(|line| line.starts_with("make")).count();
    // The other had perhaps not begun.
    assert_eq!(made, 1);
}

#[test]
fn a_check_that_holds_leaves_the_command_out_and_binds_nothing() {
    let session = LoggedSession::new();
    let source = "let.made = @shell(\"make\", id=\"a\")\necho @let.made\n";
    running(source, &session).run().ok();
    assert_eq!(session.log().len(), 2);
}

#[test]
fn values_are_hidden_in_what_looks_tell() {
    let session = LoggedSession::new();
    let source = "@test.thing(@secret.env.NAME, apply=\"nothing\")\n";
    let project = Project::new(source)
        .plugins(&[&THING])
        .world(|world| world.env("NAME", "veiled/canary-5150"));
    let ran = Running::on(project, &session, std::path::Path::new("/p")).run();
    let all = format!("{:?} {:?} {}", ran.record, ran.seen, ran.failure());
    assert!(all.contains("does not exist") && !all.contains("canary-5150"), "{all}");
}
