//! Guests that misbehave: each is contained, and the helper goes on.

use std::time::{Duration, Instant};

use opal_core::protocol::call::{Function, Outcome};
use opal_core::protocol::request::Service;
use opal_core::protocol::{Ending, Refusal};
use opal_plugins::client::failure::Why;
use opal_plugins::client::{CallFailure, Hosts};

use super::fixtures::{Opal, compile, component, hosts, invocation, named, resolve};

fn ending(failure: &CallFailure) -> Option<Ending> {
    match &failure.why {
        Why::Refused(refusal) => refusal.engine,
        _ => None,
    }
}

fn goes_on(hosts: &Hosts) {
    let found = resolve(hosts, &component(), "guest.subject", "after").unwrap();
    assert_eq!(found, "\"after\"");
}

#[test]
fn what_traps_fails_and_the_helper_goes_on() {
    let hosts = hosts();
    for (decorator, expected) in [
        ("guest.panic", Ending::Trap),
        ("guest.exit", Ending::Trap),
        ("guest.memory", Ending::Memory),
        ("guest.large", Ending::Volume),
        ("guest.calls", Ending::HostCalls),
    ] {
        let failure = resolve(&hosts, &component(), decorator, "").unwrap_err();
        assert_eq!(ending(&failure), Some(expected), "{decorator}: {failure:?}");
        assert_eq!(failure.code(), 69);
        let said = failure.trouble().message.to_string();
        assert!(said.starts_with("plugin `acme/guest` 1.2.3 failed in `@guest."), "{said}");
        goes_on(&hosts);
    }
}

#[test]
fn exactly_ten_thousand_calls_of_opal_are_served() {
    let mut opal = Opal::default();
    let it = invocation("guest.calls", "");
    let failure = hosts().call(&component(), Function::Resolve, &it, &mut opal).unwrap_err();
    assert_eq!(ending(&failure), Some(Ending::HostCalls));
    assert_eq!(opal.asked.len(), 10_000);
}

#[test]
fn a_loop_ends_at_the_time_limit() {
    let hosts = hosts();
    let failure = resolve(&hosts, &component(), "guest.loop", "").unwrap_err();
    assert_eq!(ending(&failure), Some(Ending::Time));
    assert_eq!(failure.code(), 124);
    goes_on(&hosts);
}

#[test]
fn a_loop_ends_when_the_run_is_stopped() {
    let hosts = hosts();
    goes_on(&hosts);
    for (function, decorator) in [(Function::Resolve, "guest.loop"), (Function::End, "guest.hang")]
    {
        let at = Instant::now() + Duration::from_millis(50);
        let mut opal = Opal { stops_after: Some(at), ..Opal::default() };
        let mut it = invocation(decorator, "");
        it.outcome = Some(Outcome::Done);
        let failure = hosts.call(&component(), function, &it, &mut opal).unwrap_err();
        assert_eq!(ending(&failure), Some(Ending::Cancelled), "{failure:?}");
        goes_on(&hosts);
    }
}

#[test]
fn a_guest_that_waits_for_opal_ends_when_the_run_is_stopped() {
    let hosts = hosts();
    let mut opal = Opal { stops_at: Some(Service::ProbeNow), ..Opal::default() };
    let it = invocation("guest.calls", "");
    let failure = hosts.call(&component(), Function::Resolve, &it, &mut opal).unwrap_err();
    assert!(ending(&failure) == Some(Ending::Cancelled), "{failure:?}");
    goes_on(&hosts);
}

#[test]
fn what_a_guest_prints_is_kept_up_to_64_kib() {
    let mut opal = Opal::default();
    let it = invocation("guest.print", "printed");
    let (_, log) = hosts().call(&component(), Function::Resolve, &it, &mut opal).unwrap();
    let log = log.unwrap();
    assert_eq!(log.expose().len(), 64 << 10);
    assert!(log.expose().starts_with("0123456789 printed\n"));
}

#[test]
fn a_handle_of_another_call_is_denied_by_opal() {
    // The guest was given no secret, and asks for the one of a variable that is not set.
    let failure = resolve(&hosts(), &component(), "guest.ask", "true").unwrap_err();
    assert_eq!(failure.trouble().message.to_string(), "acme/guest says: not granted");
}

/// A component in text form, compiled.
fn refused(text: &str) -> Refusal {
    compile(&wat::parse_str(text).unwrap()).unwrap_err()
}

#[test]
fn components_that_want_more_are_refused_before_they_run() {
    for (text, reason) in [
        ("(component (import \"acme:net/raw@1.0.0\" (instance)))", "imports `acme:net/raw@1.0.0`"),
        (
            "(component (import \"wasi:sockets/tcp@0.3.0\" (instance)))",
            "imports `wasi:sockets/tcp@0.3.0`",
        ),
        ("(component (import \"f\" (func)))", "imports `f`"),
        (
            "(component (component $c) (instance $i (instantiate $c)) (export \"acme:own/thing@1.0.0\" (instance $i)))",
            "exports `acme:own/thing@1.0.0`",
        ),
    ] {
        let refusal = refused(text);
        let said = refusal.message.expose();
        assert!(said.contains(reason), "{text}: {said}");
        assert_eq!(refusal.engine, Some(Ending::Load));
    }
    for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0", b"(component)", &[0xff; 1_000]] {
        assert_eq!(compile(bytes).unwrap_err().engine, Some(Ending::Load));
    }
}

#[test]
fn exports_equal_the_manifest() {
    let (compiled, exports) = compile(super::fixtures::guest()).unwrap();
    assert_eq!(exports, ["action", "policy", "state", "value", "wrapper"]);
    for declared in [&["value"][..], &["action", "policy", "state", "value", "wrapper", "sink"]] {
        let declared = declared.iter().map(|it| (*it).to_owned()).collect();
        let false_one = named("acme/false", compiled.try_clone().unwrap(), declared);
        let failure = resolve(&hosts(), &false_one, "guest.echo", "").unwrap_err();
        assert_eq!(ending(&failure), Some(Ending::Load));
        let said = failure.trouble().message.to_string();
        assert!(said.contains("its manifest says"), "{said}");
    }
}

#[test]
fn code_that_this_helper_did_not_compile_is_refused() {
    let (_, exports) = compile(super::fixtures::guest()).unwrap();
    let mut foreign = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut foreign, b"\x7fELF not really").unwrap();
    let failure = resolve(&hosts(), &named("acme/x", foreign, exports), "guest.echo", "");
    assert_eq!(ending(&failure.unwrap_err()), Some(Ending::Load));
}
