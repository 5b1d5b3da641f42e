//! A provider that answers what it likes: each lie is refused for its reason, and nothing is left of it.

use opal_terraform::value::Value;
use opal_terraform::verify::verify;
use opal_terraform::wire::schema::v6;

use crate::liar::{Liar, ask, bytes, encoded, imported, none, said, thing};
use crate::support::run;

#[test]
fn what_does_not_lie_is_believed() {
    let Some(liar) = Liar::honest() else { return };
    run(async {
        let provider = liar.start().await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        assert!(verify(&provider.observe(), &ask()).await.unwrap().is_satisfied());
        provider.stop().await;
    });
}

#[test]
fn an_exit_a_hang_and_garbage_in_each_call_are_named() {
    for call in [
        "GetProviderSchema",
        "GetResourceIdentitySchemas",
        "ValidateProviderConfig",
        "ConfigureProvider",
        "ValidateResourceConfig",
        "ImportResourceState",
        "ReadResource",
        "PlanResourceChange",
        "ApplyResourceChange",
    ] {
        let Some(liar) = Liar::honest() else { return };
        if !matches!(call, "ImportResourceState" | "ReadResource") {
            liar.read(none());
        }
        named(&liar, call, || liar.refused());
    }
}

#[test]
fn an_exit_a_hang_and_garbage_in_calls_that_only_read_are_named() {
    let config = || Value::map([("id", Value::Null), ("name", Value::text("a"))]);
    for call in [
        "ValidateDataResourceConfig",
        "ReadDataSource",
        "ListResource",
        "UpgradeResourceState",
        "GenerateResourceConfig",
    ] {
        let Some(liar) = Liar::honest() else { return };
        let refused = || {
            let done = liar.done(async |provider| {
                let observe = provider.observe();
                match call {
                    "ListResource" => observe.list("liar_thing", Value::map([])).await.map(drop),
                    "UpgradeResourceState" => {
                        observe.upgrade("liar_thing", 0, "{}").await.map(drop)
                    }
                    "GenerateResourceConfig" => {
                        observe.generate("liar_thing", &config()).await.map(drop)
                    }
                    _ => observe.data("liar_thing", config()).await.map(drop),
                }
            });
            said(&done.expect_err("a lie is believed"))
        };
        named(&liar, call, refused);
    }
}

/// What is said where a call does not end, or has an answer that is none.
fn named(liar: &Liar, call: &str, refused: impl Fn() -> String) {
    liar.acts(call, "exit");
    let why = format!("acme 1.0.0, {call}: the provider ended (exit code 7)");
    assert_eq!(refused(), why);
    // A change takes as long as it takes, and schemas longer than other calls.
    let limit = if call.starts_with("Get") { "1.4s" } else { "700ms" };
    if call != "ApplyResourceChange" {
        liar.acts(call, "hang");
        assert_eq!(refused(), format!("acme 1.0.0, {call}: no answer within {limit}"));
    }
    liar.acts(call, "");
    std::fs::write(liar.path(call), [0xff; 64]).unwrap();
    let said = refused();
    assert!(said.starts_with(&format!("acme 1.0.0, {call}: status 13")), "{said}");
}

#[test]
fn answers_that_the_protocol_does_not_allow_are_refused() {
    let Some(liar) = Liar::honest() else { return };
    for (types, why) in [
        (&[][..], "0 objects instead of one"),
        (&["liar_thing", "liar_thing"], "2 objects instead of one"),
        (&["liar_other"], "an object of another type"),
    ] {
        liar.answer("ImportResourceState", &imported(types));
        let said = liar.refused();
        assert!(said.ends_with(why), "{said}");
    }
    liar.answer("ImportResourceState", &imported(&["liar_thing"]));
    let unknown = Value::map([("id", Value::Unknown), ("name", Value::text("a"))]);
    liar.read(encoded(&unknown));
    let said = liar.refused();
    assert!(said.ends_with("the state of an object has unknown values"), "{said}");
    liar.read(encoded(&thing("b", "1")));
    assert_eq!(liar.refused(), "acme 1.0.0: what was found has another `name`");
    // From here on there is nothing, so it is created.
    liar.read(none());
    liar.plan(encoded(&thing("b", "1")));
    let said = liar.refused();
    assert!(said.ends_with("the plan changes `name`, which is configured"), "{said}");
    liar.plan(encoded(&thing("a", "1")));
    for (state, why) in [
        (encoded(&unknown), "the new state has unknown values"),
        (encoded(&thing("a", "2")), "the new state is not what was planned"),
        (none(), "nothing is there afterwards"),
    ] {
        liar.apply(state);
        let said = liar.refused();
        assert!(said.ends_with(why), "{said}");
    }
    liar.apply(encoded(&thing("a", "1")));
    let why = "acme 1.0.0: it was created (id 1), but what identifies it does not find it";
    assert_eq!(liar.refused(), why);
}

#[test]
fn what_is_there_after_a_failed_apply_is_named_whatever_failed() {
    let Some(liar) = Liar::honest() else { return };
    liar.read(none());
    let made = || liar.applied().map(|acted| acted.done).unwrap_err().made;
    // It is not found afterwards; it is not what was planned; the provider ends while it is verified.
    assert_eq!(made().unwrap().expose(), "1");
    liar.apply(encoded(&thing("a", "2")));
    liar.plan(encoded(&thing("a", "1")));
    assert_eq!(made().unwrap().expose(), "2");
    liar.apply(none());
    assert!(made().is_none());
}

#[test]
fn values_that_explode_are_refused() {
    let Some(liar) = Liar::honest() else { return };
    let deep = [vec![0x91; 100_000], vec![0xc0]].concat();
    for state in [
        deep,
        vec![0xdd, 0xff, 0xff, 0xff, 0xff],
        vec![0xdf, 0xff, 0xff, 0xff, 0xff],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff],
        vec![0xc6, 0xff, 0xff, 0xff, 0xff],
        vec![0xc1],
        vec![0x81],
    ] {
        liar.read(bytes(state.clone()));
        let said = liar.refused();
        let start = "acme 1.0.0, ReadResource: the answer cannot be used: ";
        assert!(said.starts_with(start), "{:x?}: {said}", &state[..state.len().min(8)]);
    }
}

#[test]
fn a_schema_with_a_name_that_a_terminal_obeys_is_refused() {
    let Some(liar) = Liar::honest() else { return };
    let schema = v6::Schema::default();
    let resources = [("liar_\u{1b}[2J".to_owned(), schema)].into();
    liar.answer("GetProviderSchema", &v6::Response { resources, ..v6::Response::default() });
    let said = liar.refused();
    assert!(said.contains("a name with other characters") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn noise_of_a_provider_is_cut_and_does_not_stop_it() {
    let Some(liar) = Liar::honest() else { return };
    liar.acts("ReadResource", "noise");
    run(async {
        let provider = liar.start().await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let verified = verify(&provider.observe(), &ask()).await.unwrap();
        assert!(verified.is_satisfied());
        let log = provider.process().take_log().unwrap();
        assert!(log.expose().len() <= (1 << 20) + 256, "{}", log.expose().len());
        provider.stop().await;
    });
}
