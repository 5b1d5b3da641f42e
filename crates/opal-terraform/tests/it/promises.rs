//! What opal promises about calls: which it makes, how long they may take, how much they may answer, and
//! what it makes of providers that break the rules of the protocol.

use std::time::Duration;

use opal_core::protocol::call::Found;
use opal_terraform::trouble::Trouble;
use opal_terraform::value::{Value, msgpack};
use opal_terraform::verify::verify;
use opal_terraform::wire::{self, DynamicValue, schema::v6};

use crate::helper::Helper;
use crate::liar::{Liar, ask, block, bytes, encoded, none, said, thing};

const RECIPES: &str = r#"{"liar_thing":{"import":"{name}"}}"#;

/// A helper with a provider that answers what is written.
fn helped(liar: &Liar) -> Helper {
    let mut helper = Helper::start(liar.home.path());
    helper.load(&liar.program, liar.home.path(), "{}", RECIPES);
    helper
}

fn starts(liar: &Liar) -> usize {
    liar.calls().iter().filter(|call| *call == "ConfigureProvider").count()
}

/// How an answer reports an error.
fn error(summary: &str) -> wire::Diagnosed {
    let summary = summary.to_owned();
    let one = wire::Diagnostic { severity: 1, summary, ..Default::default() };
    wire::Diagnosed { diagnostics: vec![one] }
}

#[test]
fn a_satisfied_object_takes_three_calls_and_a_missing_one_is_validated() {
    let Some(liar) = Liar::honest() else { return };
    let verified = || {
        let before = liar.calls().len();
        let found = liar.done(async |provider| verify(&provider.observe(), &ask()).await);
        let calls = liar.calls();
        let is_start = |call: &&str| {
            call.starts_with("Get") || call.contains("Provider") || *call == "Shutdown"
        };
        let calls: Vec<String> = calls[before..]
            .iter()
            .map(String::as_str)
            .filter(|call| !is_start(call))
            .map(str::to_owned)
            .collect();
        (found, calls)
    };
    let (found, calls) = verified();
    assert!(found.unwrap().is_satisfied());
    assert_eq!(calls, ["ImportResourceState", "ReadResource", "PlanResourceChange"]);
    liar.read(none());
    let (found, calls) = verified();
    assert!(!found.unwrap().is_satisfied());
    assert_eq!(calls, ["ImportResourceState", "ReadResource", "ValidateResourceConfig"]);
    // An invalid configuration is said before anything would be made of it.
    liar.answer("ValidateResourceConfig", &error("no such color"));
    let (found, _) = verified();
    assert_eq!(said(&found.unwrap_err()), "acme says: no such color");
}

#[test]
fn a_provider_that_refuses_its_configuration_is_asked_once() {
    let Some(liar) = Liar::honest() else { return };
    liar.answer("ConfigureProvider", &error("no credentials"));
    let mut helper = helped(&liar);
    for name in ["a", "b", "c"] {
        let args = format!(r#"{{"name":"{name}"}}"#);
        let why = helper.refused("state.verify", "liar_thing", &args);
        assert_eq!(why, "acme says: no credentials");
    }
    assert_eq!(starts(&liar), 1);
    assert!(helper.end().success());
}

#[test]
fn a_provider_that_hangs_is_replaced_by_another_process() {
    let Some(liar) = Liar::honest() else { return };
    let mut helper = helped(&liar);
    liar.acts("ReadResource", "hang");
    let args = r#"{"name":"a","verify_timeout":"300ms"}"#;
    let why = helper.refused("state.verify", "liar_thing", args);
    assert!(why.ends_with("no answer within 300ms"), "{why}");
    liar.acts("ReadResource", "");
    assert_eq!(helper.verify("liar_thing", r#"{"name":"a"}"#).0, Found::Satisfied);
    assert_eq!(starts(&liar), 2);
    assert!(helper.end().success());
}

#[test]
fn the_limit_of_a_step_is_the_limit_of_each_of_its_calls() {
    let Some(liar) = Liar::honest() else { return };
    liar.acts("ReadResource", "hang");
    // Longer than the limit of the connection, and shorter.
    for (limit, shown) in [(900, "900ms"), (200, "200ms")] {
        let found = liar.done(async |provider| {
            let observe = provider.observe().within(Duration::from_millis(limit));
            verify(&observe, &ask()).await
        });
        let why = format!("acme 1.0.0, ReadResource: no answer within {shown}");
        assert_eq!(said(&found.unwrap_err()), why);
    }
}

#[test]
fn a_list_that_does_not_end_is_refused() {
    let Some(liar) = Liar::honest() else { return };
    let event = wire::ListEvent { display_name: "x".repeat(4 << 20), ..Default::default() };
    liar.answer("ListResource", &event);
    liar.acts("ListResource", "again");
    let listed = liar.done(async |provider| {
        let observe = provider.observe().within(Duration::from_secs(60));
        observe.list("liar_thing", Value::map([])).await
    });
    let why = "acme 1.0.0, ListResource: the answer is too large";
    assert_eq!(said(&listed.unwrap_err()), why);
}

#[test]
fn what_a_provider_puts_off_is_refused() {
    let Some(liar) = Liar::honest() else { return };
    let deferred = Some(wire::Empty::default());
    liar.answer("ReadResource", &wire::ReadResponse { deferred, ..Default::default() });
    let why = "acme 1.0.0, ReadResource: the answer cannot be used: it is deferred, which opal does not allow";
    assert_eq!(liar.refused(), why);
}

#[test]
fn a_plan_that_changes_a_block_is_refused_and_of_an_old_library_noted() {
    let Some(liar) = Liar::honest() else { return };
    let attribute = v6::Attribute {
        name: "port".to_owned(),
        of: br#""number""#.to_vec(),
        optional: true,
        ..v6::Attribute::default()
    };
    let inner = v6::Block { attributes: vec![attribute], ..v6::Block::default() };
    let rule = v6::NestedBlock {
        type_name: "rule".to_owned(),
        block: Some(inner),
        // A list.
        nesting: 2,
        ..v6::NestedBlock::default()
    };
    liar.describe(v6::Block { block_types: vec![rule], ..block() });
    let whole = |port: i64| {
        let rule = Value::List(vec![Value::map([("port", Value::int(port))])]);
        let Value::Map(mut fields) = thing("a", "1") else { panic!() };
        fields.insert("rule".to_owned(), rule);
        Value::Map(fields)
    };
    let of = br#"["object",{"id":"string","name":"string","rule":["list",["object",{"port":"number"}]]}]"#;
    let of = opal_terraform::value::Type::read(of).unwrap();
    let written = |value: &Value| bytes(msgpack::encode(value, &of).unwrap());
    let asked = || {
        let Value::Map(mut config) = whole(80) else { panic!() };
        config.insert("id".to_owned(), Value::Null);
        let mut ask = ask();
        ask.config = Value::Map(config);
        ask
    };
    liar.read(none());
    let state = Some(written(&whole(80)));
    let one = wire::Imported { type_name: "liar_thing".to_owned(), state, ..Default::default() };
    let imported = wire::ImportResponse { imported: vec![one], ..Default::default() };
    liar.answer("ImportResourceState", &imported);
    let planned = |state: DynamicValue, legacy_type_system: bool| {
        let planned_state = Some(state);
        let answer = wire::PlanResponse { planned_state, legacy_type_system, ..Default::default() };
        liar.answer("PlanResourceChange", &answer);
    };
    planned(written(&whole(81)), false);
    let why = "acme 1.0.0, PlanResourceChange: the answer cannot be used: the plan changes `rule[0].port`, \
               which is configured";
    let applied = || liar.applied_as(asked());
    assert_eq!(said(&applied().map(|acted| acted.done).unwrap_err()), why);
    // Old libraries may do so: then it is done, and found to be something else.
    planned(written(&whole(81)), true);
    liar.apply(written(&whole(81)));
    let trouble: Trouble = applied().map(|acted| acted.done).unwrap_err();
    assert!(said(&trouble).contains("it was created (id 1)"), "{trouble:?}");
}

#[test]
fn what_an_old_library_does_against_the_rules_is_in_the_log() {
    let Some(liar) = Liar::honest() else { return };
    // The cloud says `1` when it is planned and read, and `2` in between.
    let applied = |legacy_type_system: bool| {
        let new_state = Some(encoded(&thing("a", "2")));
        let answer = wire::ApplyResponse { new_state, legacy_type_system, ..Default::default() };
        liar.answer("ApplyResourceChange", &answer);
    };
    let mut helper = helped(&liar);
    let args = r#"{"name":"a","rewrite":true}"#;
    applied(false);
    let why = helper.refused("action.act", "liar_thing", args);
    assert!(why.ends_with("the new state is not what was planned"), "{why}");
    assert!(!helper.log.contains("allows"), "{}", helper.log);
    applied(true);
    helper.ask("action.act", "liar_thing", args).unwrap();
    let note = "acme 1.0.0: the new state is not what was planned, which its library allows";
    assert!(helper.log.contains(note), "{}", helper.log);
    assert!(helper.end().success());
}
