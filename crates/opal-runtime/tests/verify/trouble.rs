//! Looks that fail, hang, panic or are interrupted.

use std::time::{Duration, Instant};

use opal_core::action::Why;
use opal_core::placeholder::PlaceholderKey;
use opal_core::resource::Status;
use opal_runtime::plan::Purpose;

use crate::looking::{Looking, lines};
use crate::things::log;

#[test]
fn an_error_in_one_hides_no_other() {
    let source = "@test.thing(\"errors/a\", id=\"a\", is=\"panic\")\n\
                  @test.thing(\"errors/b\", id=\"b\", is=\"blocked\")\n\
                  @test.thing(\"errors/c\", id=\"c\")\n";
    let looked = Looking::new(source).look();
    assert_eq!(
        looked.lines(),
        [
            "a blocked: the look panicked",
            "b blocked: `errors/b` may not be looked at",
            "c missing: `errors/c` is not there",
        ]
    );
    let help = |id: &str| looked.of(id).blocked.as_ref().unwrap().help[0].text().into_owned();
    assert_eq!(help("a"), "this is a bug: please report it");
    assert_eq!(help("b"), "ask for permission");
}

#[test]
fn what_takes_too_long_is_blocked_and_says_so() {
    let source = "@test.thing(\"slow/a\", id=\"a\", takes=1m, verify_timeout=100ms)\n\
                  @test.thing(\"slow/b\", id=\"b\", takes=1m, is=\"hanging\", verify_timeout=50ms)\n\
                  @test.thing(\"slow/c\", id=\"c\")\n\
                  @test.thing(\"slow/d\", id=\"d\", depends_on=[\"a\"])\n";
    let since = Instant::now();
    let looked = Looking::new(source).look();
    assert_eq!(
        looked.lines(),
        [
            "a blocked: did not answer within 100ms",
            "b blocked: did not answer within 50ms",
            "c missing: `slow/c` is not there",
            "d blocked: dependencies not satisfied: a (blocked)",
        ]
    );
    assert!(since.elapsed() < Duration::from_secs(30), "who hangs is left behind");
    let blocked = looked.of("a").blocked.as_ref().unwrap();
    assert!(!blocked.by_prerequisite);
    assert!(blocked.help[0].text().contains("`verify_timeout`"));
}

#[test]
fn hanging_looks_hold_nobody_up() {
    let source = "for i in 1...4 { @test.thing(\"hung/\" + str(i), takes=1m, is=\"hanging\") }\n\
                  @test.thing(\"hung/last\", id=\"last\")\n";
    let timeout = Some(Duration::from_millis(20));
    let looked = Looking { jobs: 2, timeout, ..Looking::new(source) }.look();
    assert_eq!(looked.report.verifications.len(), 5);
    assert_eq!(looked.of("last").status, Status::Missing);
}

#[test]
fn a_time_for_all_counts_more_than_that_of_a_step() {
    let source = "@test.thing(\"times/a\", id=\"a\", takes=1m, verify_timeout=1h)\n\
                  @test.thing(\"times/b\", id=\"b\", takes=200ms, verify_timeout=1ms)\n";
    let one = Looking { timeout: Some(Duration::from_millis(100)), ..Looking::new(source) };
    assert_eq!(one.look().lines()[0], "a blocked: did not answer within 100ms");
    let other = Looking {
        timeout: Some(Duration::from_mins(1)),
        only: vec!["b".into()],
        ..Looking::new(source)
    };
    assert_eq!(other.look().lines(), ["b missing: `times/b` is not there"]);
}

#[test]
fn an_interruption_ends_it_and_nothing_more_is_looked_at() {
    let source = "@test.thing(\"stopped/a\", id=\"a\")\n\
                  @test.thing(\"stopped/b\", id=\"b\", takes=1m)\n\
                  @test.thing(\"stopped/c\", id=\"c\", takes=1m, is=\"hanging\")\n\
                  for i in 1...20 { @test.thing(\"stopped/\" + str(i)) }\n";
    let looking = Looking { jobs: 2, ..Looking::new(source) };
    let stop = looking.stop.clone();
    let since = Instant::now();
    let looked = std::thread::scope(|scope| {
        scope.spawn(move || {
            while log("stopped").len() < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.ask(Why::Signal(2));
        });
        looking.look()
    });
    assert_eq!(looked.report.stopped, Some(Why::Signal(2)));
    assert_eq!(looked.lines(), ["a missing: `stopped/a` is not there"]);
    assert_eq!(log("stopped").len(), 3);
    assert!(since.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_quick_plan_cannot_be_verified() {
    let mut looking = Looking::new("@test.thing(\"quick/a\")\n");
    looking.project.purpose = Purpose::Quick;
    let trouble = looking.try_look().err().unwrap().trouble;
    assert!(trouble.message.contains("quick plan"), "{trouble:?}");
}

#[test]
fn differences_have_digests_under_the_key_of_a_contract_and_only_there() {
    let source = "@test.thing(\"digest/a\", id=\"a\", is=\"drifted\")\n\
                  @test.thing(\"digest/b\", id=\"b\", is=\"drifted\")\n\
                  @test.thing(\"digest/c\", id=\"c\")\n";
    assert!(Looking::new(source).look().of("a").digest.is_none());
    let with = |key: u8| {
        let key = Some(PlaceholderKey::new([key; 32]));
        Looking { key, ..Looking::new(source) }.look()
    };
    let (one, other) = (with(1), with(2));
    let digest = one.of("a").digest.clone().unwrap();
    assert_eq!(Some(&digest), one.of("b").digest.as_ref(), "what is the same has the same");
    assert_ne!(Some(&digest), other.of("a").digest.as_ref());
    assert!(one.of("c").digest.is_none());
}

#[test]
fn values_are_hidden_in_all_that_is_said() {
    let mut looking = Looking::new("@test.thing(@env.NAME, id=\"a\", is=\"blocked\")\n");
    looking.project.world =
        std::mem::take(&mut looking.project.world).env("NAME", "hidden/canary-5150");
    let looked = looking.look();
    let all = format!("{:?} {:?}", looked.lines(), looked.report);
    assert!(all.contains("may not be looked at") && !all.contains("canary-5150"), "{all}");
}

#[test]
fn a_plan_without_resources_has_nothing_to_tell() {
    assert_eq!(lines("make\n"), [""; 0]);
}
