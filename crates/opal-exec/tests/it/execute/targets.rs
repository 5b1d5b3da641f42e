//! Blocks on targets, and fleets.

use opal_testing::planning::Project;
use opal_testing::running::{Ran, Running};
use opal_testing::{Answer, LoggedReach, LoggedSession, MemoryWorld};
use std::path::Path;

fn run(source: &str, world: MemoryWorld, reach: LoggedReach) -> (Ran, LoggedReach, Vec<String>) {
    let session = LoggedSession::new();
    let project = Project::new(source).world(|_| world);
    let mut running = Running::on(project, &session, Path::new("/p"));
    running.reach = Some(reach);
    let ran = running.run();
    let reach = running.reach.take().unwrap();
    (ran, reach, session.log())
}

/// The commands that the audience saw start, in order.
fn commands(ran: &Ran) -> Vec<&str> {
    let started = ran.seen.iter().filter(|line| line.starts_with("start ") && !line.ends_with('{'));
    started.filter_map(|line| Some(line.split_once(": ")?.1)).collect()
}

#[test]
fn a_block_runs_on_its_target_and_what_is_after_it_does_not() {
    let source = "@environ(LOCAL=\"1\") {\n    @workdir(\"web\") {\n        @ssh.host(\"web1\") {\n            \
                  cd /srv\n            ls\n        }\n        make\n    }\n}\n";
    let reach = LoggedReach::default().target("web1", LoggedSession::new());
    let (ran, reach, own) = run(source, MemoryWorld::default(), reach);
    ran.ok();
    assert_eq!(reach.asked(), ["web1 Acting"]);
    assert_eq!(reach.log("web1"), ["run `cd /srv` in /home/web1", "run `ls` in /srv"]);
    assert_eq!(own, ["run `make` in /p/web with LOCAL"]);
}

#[test]
fn another_user_on_a_target_is_reached_through_it() {
    let source = "@ssh.host(\"deploy@web1\") {\n    id\n    @as(\"root\") {\n        id -u\n    }\n    id -g\n}\n";
    let reach = LoggedReach::default()
        .target("web1", LoggedSession::new())
        .target("web1/root", LoggedSession::new());
    let (ran, reach, _) = run(source, MemoryWorld::default(), reach);
    ran.ok();
    assert_eq!(reach.log("web1"), ["run `id` in /home/web1", "run `id -g` in /home/web1"]);
    assert_eq!(reach.log("web1/root"), ["run `id -u` in /home/web1/root"]);
}

#[test]
fn values_are_those_of_the_target_inside_and_of_this_machine_outside() {
    let source = "var HERE = @env.PLACE\n@ssh.host(\"web1\") {\n    echo @env.PLACE @var.HERE @target.name\n}\n";
    let world = MemoryWorld::default()
        .env("PLACE", "office")
        .target("web1", MemoryWorld::default().env("PLACE", "rack"));
    let reach = LoggedReach::default().target("web1", LoggedSession::new());
    let (ran, _, _) = run(source, world, reach);
    ran.ok();
    assert_eq!(commands(&ran), ["echo rack office web1"]);
}

#[test]
fn a_target_that_cannot_be_reached_ends_the_run_with_69_before_its_first_step() {
    let source = "@ssh.host(\"web1\") {\n    ls\n}\necho after\n";
    let (ran, _, own) = run(source, MemoryWorld::default(), LoggedReach::default().absent("web1"));
    assert_eq!(ran.outcome.failed.unwrap().code, 69);
    assert!(own.is_empty(), "{own:?}");
}

#[test]
fn a_fleet_runs_the_block_on_every_target_with_its_own_values() {
    let source = "@ssh.hosts([\"web1\", \"web2\"]) {\n    echo @target.index @env.ROLE\n}\n";
    let of = |role: &str| MemoryWorld::default().env("ROLE", role);
    let world = MemoryWorld::default().target("web1", of("first")).target("web2", of("second"));
    let reach = LoggedReach::default()
        .target("web1", LoggedSession::new())
        .target("web2", LoggedSession::new());
    let (ran, reach, _) = run(source, world, reach);
    ran.ok();
    assert_eq!(reach.log("web1"), ["run `echo {} {}` in /home/web1"]);
    assert_eq!(reach.log("web2"), ["run `echo {} {}` in /home/web2"]);
    assert_eq!(commands(&ran), ["echo 0 first", "echo 1 second"]);
}

fn fleet(options: &str, reach: LoggedReach) -> (Ran, LoggedReach) {
    let source = format!(
        "@ssh.hosts([\"a\", \"b\", \"c\", \"d\"], max_concurrency=1{options}) {{\n    one\n    two\n}}\n"
    );
    let (ran, reach, _) = run(&source, MemoryWorld::default(), reach);
    (ran, reach)
}

fn table(ran: &Ran) -> &str {
    ran.record.iter().rfind(|line| line.contains("a ok") || line.contains("a failed")).unwrap()
}

fn failing(code: i32) -> LoggedSession {
    LoggedSession::new().on("two", Answer::code(code))
}

#[test]
fn no_target_starts_once_more_have_failed_than_are_tolerated() {
    let reach = LoggedReach::default().target("b", failing(3));
    let (ran, reach) = fleet("", reach);
    assert_eq!(table(&ran), "a ok, b failed `two` 3, c skipped, d skipped");
    assert_eq!(ran.outcome.failed.as_ref().unwrap().code, 3);
    let said = ran.outcome.failed.as_ref().unwrap().trouble.as_ref().unwrap().message.to_string();
    assert_eq!(said, "1 of 4 targets failed (tolerate=0)");
    assert_eq!(reach.asked(), ["a Acting", "b Acting"]);

    let reach = LoggedReach::default().target("b", failing(3)).absent("c");
    let (ran, _) = fleet(", tolerate=\"50%\"", reach);
    assert_eq!(table(&ran), "a ok, b failed `two` 3, c unreachable 69, d ok");
    assert!(ran.outcome.halt.is_none());
}

#[test]
fn a_fleet_ends_with_the_code_of_its_first_failed_target_in_plan_order() {
    let reach = LoggedReach::default().absent("a").target("b", failing(3));
    let (ran, _) = fleet(", tolerate=1", reach);
    let rows = ran.record.iter().rfind(|line| line.contains("a unreachable")).unwrap();
    assert_eq!(rows, "a unreachable 69, b failed `two` 3, c skipped, d skipped");
    assert_eq!(ran.outcome.failed.unwrap().code, 69);
}

#[test]
fn a_batch_begins_when_the_one_before_has_ended() {
    let source = "@ssh.hosts([\"a\", \"b\", \"c\", \"d\"], batch=[1, \"50%\"]) {\n    one\n}\n";
    let reach = LoggedReach::default().target("a", LoggedSession::new().on("one", Answer::code(1)));
    let (ran, reach, _) = run(source, MemoryWorld::default(), reach);
    assert_eq!(table(&ran), "a failed `one` 1, b skipped, c skipped, d skipped");
    assert_eq!(reach.asked(), ["a Acting"]);
}

#[test]
fn with_preflight_nothing_runs_where_too_many_cannot_be_reached() {
    let reach = LoggedReach::default().target("a", LoggedSession::new()).absent("d");
    let (ran, reach) = fleet(", preflight=true", reach);
    assert!(reach.log("a").is_empty(), "{:?}", reach.log("a"));
    let rows = ran.record.iter().rfind(|line| line.contains("d unreachable")).unwrap();
    assert_eq!(rows, "a skipped, b skipped, c skipped, d unreachable 69");
}

fn watched(names: &[&str]) -> LoggedReach {
    names.iter().fold(LoggedReach::default(), |all, name| all.target(name, LoggedSession::new()))
}

/// Continues a run.
fn again(source: &str, before: &Ran, reach: LoggedReach) -> (Ran, LoggedReach) {
    let session = LoggedSession::new();
    let mut running = Running::on(Project::new(source), &session, Path::new("/p"));
    running.reach = Some(reach);
    running.from = before.outcome.failed.as_ref().map(|failed| failed.path.clone());
    running.earlier =
        opal_exec::execute::continued(&running.plan().plan, before.outcome.fleets.clone());
    let ran = running.run();
    let reach = running.reach.take().unwrap();
    (ran, reach)
}

#[test]
fn a_resumed_fleet_repeats_no_target_that_ended_well_and_continues_the_others_where_they_ended() {
    let source = "@ssh.hosts([\"a\", \"b\", \"c\", \"d\"], max_concurrency=1, tolerate=1) {\n    cd /srv\n    one\n    two\n}\n";
    let reach = LoggedReach::default().absent("b").target("c", failing(3));
    let (before, reach, _) = run(source, MemoryWorld::default(), reach);
    assert_eq!(reach.log("c").len(), 3);
    let rows = |ran: &Ran| ran.record.iter().rfind(|line| line.contains("a ok")).unwrap().clone();
    assert_eq!(rows(&before), "a ok, b unreachable 69, c failed `two` 3, d skipped");
    // Of the steps that it omits, a `cd` still moves.
    let (ran, reach) = again(source, &before, watched(&["a", "b", "c", "d"]));
    ran.ok();
    assert_eq!(rows(&ran), "a ok, b ok, c ok, d ok");
    assert_eq!(reach.asked(), ["b Acting", "c Acting", "d Acting"]);
    assert_eq!(reach.log("b").len(), 3);
    assert_eq!(reach.log("c"), ["run `two` in /srv"]);
    let earlier = ran.outcome.fleets[0].rows.iter().map(|row| row.is_earlier);
    assert_eq!(earlier.collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!(ran.outcome.steps.skipped, 2);
    // A second continuation knows what both have done.
    let (ran, reach) =
        again(source, &before, LoggedReach::default().absent("d").target("c", failing(4)));
    assert_eq!(rows(&ran), "a ok, b ok, c failed `two` 4, d unreachable 69");
    assert_eq!(reach.log("c"), ["run `two` in /srv"]);
    let (ran, reach) = again(source, &ran, LoggedReach::default());
    ran.ok();
    assert_eq!(reach.asked(), ["c Acting", "d Acting"]);
}

#[test]
fn a_fleet_that_is_tried_again_runs_on_all_targets() {
    let source = "@retry(2, delay=1ms) {\n    @ssh.hosts([\"a\", \"b\"], max_concurrency=1) {\n        one\n        two\n    }\n}\n";
    let reach = || watched(&["a"]).target("b", failing(3));
    let (before, _, _) = run(source, MemoryWorld::default(), reach());
    let (_, reach) = again(source, &before, reach());
    assert_eq!(reach.log("a").len(), 2);
    assert_eq!(reach.log("b").len(), 3);
}

#[test]
fn each_target_begins_at_the_step_that_from_names() {
    let session = LoggedSession::new();
    let source = "@ssh.hosts([\"a\", \"b\", \"c\"]) {\n    one\n    two\n    three\n}\n";
    let mut running = Running::on(Project::new(source), &session, Path::new("/p"));
    running.reach = Some(watched(&["a", "b", "c"]));
    let plan = running.plan().plan;
    running.from = opal_exec::execute::leaf(&plan, 2).map(str::to_owned);
    let ran = running.run();
    ran.ok();
    let reach = running.reach.take().unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(reach.log(name).len(), 2, "{name}");
    }
}

#[test]
fn a_fleet_whose_output_goes_into_a_file_is_repeated_whole() {
    let source = "@ssh.hosts([\"a\", \"b\"], max_concurrency=1) {\n    one\n    two\n} | sort\n";
    let (before, _, _) =
        run(source, MemoryWorld::default(), LoggedReach::default().target("b", failing(3)));
    let running = Project::new(source).plan().unwrap();
    assert!(opal_exec::execute::continued(&running.plan, before.outcome.fleets).is_empty());
}

#[test]
fn the_last_line_of_a_failed_fleet_counts_steps_and_not_the_fleet() {
    let (ran, _) = fleet("", LoggedReach::default().target("b", failing(3)));
    let steps = ran.outcome.steps;
    assert_eq!((steps.done, steps.failed), (3, 1));
    let (ran, _) = fleet("", LoggedReach::default().absent("a"));
    assert_eq!((ran.outcome.steps.done, ran.outcome.steps.failed), (0, 1));
}

#[test]
fn what_a_target_decides_is_run_only_there() {
    let source = "@ssh.hosts([\"a\", \"b\", \"c\"]) {\n    if @os.name == \"macos\" {\n        brew update\n    } \
                  else {\n        apt-get update\n    }\n}\n";
    let on = |os: &str| {
        let host = opal_core::resolver::Host { os: os.into(), arch: "x".into(), name: "y".into() };
        MemoryWorld::default().on(host)
    };
    let world = MemoryWorld::default()
        .target("a", on("linux"))
        .target("b", on("macos"))
        .target("c", on("linux"));
    let reach = ["a", "b", "c"]
        .iter()
        .fold(LoggedReach::default(), |reach, name| reach.target(name, LoggedSession::new()));
    let (ran, reach, _) = run(source, world, reach);
    ran.ok();
    assert_eq!(reach.log("a"), ["run `apt-get update` in /home/a"]);
    assert_eq!(reach.log("b"), ["run `brew update` in /home/b"]);
    assert_eq!(reach.log("c"), ["run `apt-get update` in /home/c"]);
}
