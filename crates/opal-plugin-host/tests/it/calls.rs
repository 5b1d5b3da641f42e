//! What a guest in Rust can do, and what it sees of the world.

use std::sync::Barrier;

use opal_core::data::Secret;
use opal_core::protocol::call::{
    Acted, Event, Finding, Found, Function, Judged, Opened, Outcome, Verdict,
};

use opal_core::protocol::request::{Content, Service};
use opal_core::protocol::{Body, Refusal};
use opal_core::wiped::Wiped;
use opal_plugins::client::Serve;

use super::fixtures::{Opal, component, hosts, invocation, resolve};

#[test]
fn a_value_is_what_the_guest_makes_of_its_arguments() {
    let (hosts, guest) = (hosts(), component());
    let mut it = invocation("guest.echo", "");
    let args = format!("{{\"a\": \"{}\"}}", "é".repeat(100_000));
    it.args = Secret::new(args.clone());
    let (body, log) = hosts.call(&guest, Function::Resolve, &it, &mut Opal::default()).unwrap();
    assert_eq!(body.get::<String>("value").unwrap(), args);
    assert!(log.is_none());
    assert_eq!(resolve(&hosts, &guest, "guest.subject", "HOME").unwrap(), "\"HOME\"");
    assert_eq!(resolve(&hosts, &guest, "guest.file", "here").unwrap(), "\"content\"");
    assert_eq!(resolve(&hosts, &guest, "guest.file", "large").unwrap().len(), (3 << 20) + 2);
    assert_eq!(resolve(&hosts, &guest, "guest.env", "SET").unwrap(), "\"canary-5150\"");
    assert_eq!(resolve(&hosts, &guest, "guest.env", "UNSET").unwrap(), "null");
    assert_eq!(resolve(&hosts, &guest, "guest.now", "").unwrap(), "1700000000123");
}

#[test]
fn an_error_of_the_guest_arrives_with_its_help() {
    let failure = resolve(&hosts(), &component(), "guest.other", "").unwrap_err();
    let trouble = failure.trouble();
    assert_eq!(trouble.message.to_string(), "acme/guest says: unknown decorator");
    assert_eq!(trouble.help[0].to_string(), "acme/guest says: use another");
    let failure = resolve(&hosts(), &component(), "guest.file", "gone").unwrap_err();
    assert_eq!(failure.trouble().message.to_string(), "acme/guest says: no such file");
}

#[test]
fn the_world_of_a_guest_is_empty() {
    let found = resolve(&hosts(), &component(), "guest.world", "").unwrap();
    assert_eq!(found, "{\"variables\": 0, \"arguments\": 0, \"file\": false, \"time\": 0}");
}

#[test]
fn random_numbers_come_from_the_seed() {
    let (hosts, guest) = (hosts(), component());
    let drawn = |seed: &str| {
        let mut it = invocation("guest.random", "");
        it.seed = seed.repeat(32);
        let opal = &mut Opal::default();
        let (body, _) = hosts.call(&guest, Function::Resolve, &it, opal).unwrap();
        body.get::<String>("value").unwrap()
    };
    assert_eq!(drawn("00"), drawn("00"));
    assert_ne!(drawn("00"), drawn("01"));
}

/// The order of a hash map is the same in every run, and so is what is not a number on every machine.
#[test]
fn hashes_and_nan_are_the_same_everywhere() {
    let (hosts, guest) = (hosts(), component());
    let found = |decorator: &str, seed: &str| {
        let mut it = invocation(decorator, "");
        it.seed = seed.repeat(32);
        let (body, _) = hosts.call(&guest, Function::Resolve, &it, &mut Opal::default()).unwrap();
        body.get::<String>("value").unwrap()
    };
    assert_eq!(found("guest.hash", "00"), found("guest.hash", "01"));
    assert_eq!(found("guest.nan", "00"), "\"7ff8000000000000\"");
}

#[test]
fn a_state_is_verified_without_a_stage_and_applied_with_one() {
    let (hosts, guest) = (hosts(), component());
    let status = |subject: &str, text: &str| {
        let mut it = invocation("guest.text", subject);
        it.text = Some(Secret::new(text));
        let mut opal = Opal::default();
        let (body, _) = hosts.call(&guest, Function::Verify, &it, &mut opal).unwrap();
        assert_eq!(opal.asked, [format!("probe.read {subject}")]);
        body.read::<Finding>().unwrap().status
    };
    assert_eq!(status("here", "content"), Found::Satisfied);
    assert_eq!(status("here", "other"), Found::Drifted);
    assert_eq!(status("gone", "content"), Found::Missing);
    let mut it = invocation("guest.text", "gone");
    it.text = Some(Secret::new("content"));
    let mut opal = Opal::default();
    let (body, _) = hosts.call(&guest, Function::Act, &it, &mut opal).unwrap();
    let acted: Acted = body.read().unwrap();
    assert_eq!(acted.output.expose(), "{\"changed\": true}");
    assert_eq!((acted.identity.unwrap().expose(), acted.adopted), ("gone", false));
    assert_eq!(opal.written, [("gone".to_owned(), b"content".to_vec())]);
    assert_eq!(opal.asked, ["stage.log writes the file", "stage.write"]);
}

#[test]
fn a_wrapper_opens_and_closes_with_its_token_after_every_outcome() {
    let (hosts, guest) = (hosts(), component());
    let mut opal = Opal::default();
    let it = invocation("guest.wrap", "token-1");
    let (body, _) = hosts.call(&guest, Function::Begin, &it, &mut opal).unwrap();
    let opened: Opened = body.read().unwrap();
    assert_eq!((opened.token.expose(), opened.env[0].0.as_str()), ("token-1", "GUEST"));
    assert_eq!(opal.asked, ["stage.keep token-1"]);
    for (outcome, how) in
        [(Outcome::Done, "done"), (Outcome::Failed(3), "failed 3"), (Outcome::Stopped, "stopped")]
    {
        let mut it = invocation("guest.wrap", "");
        it.token = Some(Secret::new("token-1"));
        it.outcome = Some(outcome);
        let mut opal = Opal::default();
        hosts.call(&guest, Function::End, &it, &mut opal).unwrap();
        assert_eq!(opal.written, [("token-1".to_owned(), how.as_bytes().to_vec())]);
    }
}

#[test]
fn a_policy_judges_each_run_of_a_block() {
    let (hosts, guest) = (hosts(), component());
    let judged = |attempt, outcome| {
        let mut it = invocation("guest.policy", "");
        it.event = Some(Event { target: None, attempt, outcome });
        let opal = &mut Opal::default();
        let (body, _) = hosts.call(&guest, Function::Judge, &it, opal).unwrap();
        body.read::<Judged>().unwrap().verdict
    };
    assert!(matches!(judged(1, None), Verdict::Proceed));
    assert!(matches!(judged(1, Some(Outcome::Failed(1))), Verdict::Retry(5)));
    let stopped = judged(3, Some(Outcome::Failed(1)));
    assert!(matches!(stopped, Verdict::Stop(reason) if reason.expose() == "tried enough"));
}

/// An opal that answers nobody before all have asked.
struct Slow<'a>(&'a Barrier);

impl Serve for Slow<'_> {
    fn serve(&mut self, _: Service, _: &Body) -> Result<Body, Refusal> {
        self.0.wait();
        Ok(Body::of(&Content { bytes: Wiped::new(b"content".to_vec()) }))
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// More than the helper computes at a time: those that wait for opal take no room.
#[test]
fn two_hundred_calls_that_wait_for_opal_leave_the_helper_alive() {
    const CALLS: usize = 200;
    let (hosts, guest, barrier) = (hosts(), component(), Barrier::new(CALLS));
    std::thread::scope(|scope| {
        for _ in 0..CALLS {
            let (hosts, guest, barrier) = (&hosts, &guest, &barrier);
            scope.spawn(move || {
                let it = invocation("guest.file", "here");
                let given = hosts.call(guest, Function::Resolve, &it, &mut Slow(barrier));
                assert_eq!(given.unwrap().0.get::<String>("value").unwrap(), "\"content\"");
            });
        }
    });
    assert_eq!(hosts.pids().len(), 1);
}

#[test]
fn calls_of_many_threads_are_answered_in_parallel() {
    let (hosts, guest) = (hosts(), component());
    std::thread::scope(|scope| {
        for thread in 0..300 {
            let (hosts, guest) = (&hosts, &guest);
            scope.spawn(move || {
                let subject = format!("{thread}");
                let found = resolve(hosts, guest, "guest.subject", &subject).unwrap();
                assert_eq!(found, format!("{subject:?}"));
                assert_eq!(resolve(hosts, guest, "guest.file", "here").unwrap(), "\"content\"");
            });
        }
    });
    assert_eq!(hosts.pids().len(), 1);
}
