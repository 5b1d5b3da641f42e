//! Descriptors that no built-in has yet: what a plugin may say is checked all the same.

use opal_core::decorator::{Descriptor, Effect, Param, Presence, Returns};
use opal_core::{Code, Registry, Type};
use opal_plan::check;

static LOOKUP: Descriptor = Descriptor {
    path: "store.lookup",
    params: &[
        Param { name: "key", pattern: Some("[a-z]+"), ..Param::BASE },
        Param {
            name: "zone",
            presence: Presence::Optional,
            deprecated: Some("use `key=\"zone/name\"`"),
            ..Param::BASE
        },
    ],
    returns: Some(Returns { version: "1.0.0", ty: Type::String }),
    effect: Effect::Read,
    ..Descriptor::BASE
};

fn codes(text: &str) -> Vec<Code> {
    let registry = Registry::new(&[&LOOKUP]).expect("one path is unique");
    check::check(text, &registry).diagnostics.into_iter().map(|found| found.code).collect()
}

#[test]
fn a_path_of_a_plugin_is_a_reference_in_text() {
    assert_eq!(codes("echo @store.lookup(\"a\") pre@store.lookup(\"a\")\n"), []);
    assert_eq!(codes("echo @store.lookpu(\"a\")\n"), [Code::UnknownDecorator]);
}

#[test]
fn a_deprecated_parameter_is_warned_about_with_what_to_write_instead() {
    let text = "echo @store.lookup(\"a\", zone=\"b\")\n";
    assert_eq!(codes(text), [Code::DeprecatedParameter]);
    let registry = Registry::new(&[&LOOKUP]).expect("one path is unique");
    let found = &check::check(text, &registry).diagnostics[0];
    assert_eq!(found.help, ["use `key=\"zone/name\"`"]);
}

#[test]
fn a_pattern_must_match_as_a_whole() {
    assert_eq!(codes("echo @store.lookup(\"a1\")\n"), [Code::PatternMismatch]);
}
