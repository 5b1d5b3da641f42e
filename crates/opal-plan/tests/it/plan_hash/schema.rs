//! The schemas of plugins are in the hash, those of the built-ins are not.

use opal_core::Data;
use opal_core::decorator::{Block, Descriptor, Effect, Param, Plugin, Presence, Returns};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};
use opal_core::{Type, Value};

use crate::plan_hash::hash;
use opal_testing::planning::Project;

#[derive(Debug)]
struct Always;

impl Resolver for Always {
    fn resolve(&self, _: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        Ok(Data::text("value"))
    }
}

static PLUGIN: Plugin = Plugin {
    name: "store",
    version: "1.0.0",
    source: "registry:store",
    verification: "passed",
    signed_by: None,
    checksum: "sha256:00",
    engine: "wasm",
    capabilities: &[],
};

static NEWER: Plugin = Plugin { version: "1.0.1", ..PLUGIN };

const LOOKUP: Descriptor = Descriptor {
    path: "store.lookup",
    summary: "a value of the store",
    params: &[Param { name: "key", ..Param::BASE }],
    returns: Some(Returns { version: "1.0.0", ty: Type::String }),
    effect: Effect::Read,
    resolver: Some(&Always),
    plugin: Some(&PLUGIN),
    ..Descriptor::BASE
};

const GUARD: Descriptor = Descriptor {
    path: "store.guard",
    params: &[Param {
        name: "times",
        ty: Type::Int,
        presence: Presence::Default(Value::Int(2)),
        ..Param::BASE
    }],
    block: Block::Required,
    plugin: Some(&PLUGIN),
    ..Descriptor::BASE
};

static FIRST_LOOKUP: Descriptor = LOOKUP;
static FIRST_GUARD: Descriptor = GUARD;
static OTHER_WORDS: Descriptor = Descriptor { summary: "reads the store", docs: "More.", ..LOOKUP };
static OTHER_VERSION: Descriptor = Descriptor { plugin: Some(&NEWER), ..LOOKUP };
static OTHER_RESULT: Descriptor =
    Descriptor { returns: Some(Returns { version: "2.0.0", ty: Type::String }), ..LOOKUP };
static OTHER_PARAMS: Descriptor = Descriptor {
    params: &[
        Param { name: "key", ..Param::BASE },
        Param { name: "zone", presence: Presence::Optional, ..Param::BASE },
    ],
    ..LOOKUP
};
static OTHER_PATTERN: Descriptor = Descriptor {
    params: &[Param { name: "key", pattern: Some("[a-z]+"), ..Param::BASE }],
    ..LOOKUP
};
static OTHER_DEFAULT: Descriptor = Descriptor {
    params: &[Param {
        name: "times",
        ty: Type::Int,
        presence: Presence::Default(Value::Int(3)),
        ..Param::BASE
    }],
    ..GUARD
};
static OTHER_BLOCK: Descriptor = Descriptor { block: Block::Optional, ..GUARD };

const SOURCE: &str = "@store.guard { echo @store.lookup(\"a\") }\n";

fn with(lookup: &'static Descriptor, guard: &'static Descriptor) -> Project {
    Project::new(SOURCE).plugins(&[lookup, guard])
}

#[test]
fn another_schema_is_another_plan() {
    let before = hash(&with(&FIRST_LOOKUP, &FIRST_GUARD));
    for lookup in [&OTHER_RESULT, &OTHER_PARAMS, &OTHER_PATTERN] {
        assert_ne!(before, hash(&with(lookup, &FIRST_GUARD)), "{lookup:?}");
    }
    for guard in [&OTHER_DEFAULT, &OTHER_BLOCK] {
        assert_ne!(before, hash(&with(&FIRST_LOOKUP, guard)), "{guard:?}");
    }
}

#[test]
fn other_words_and_another_version_of_a_plugin_are_the_same_plan() {
    let before = hash(&with(&FIRST_LOOKUP, &FIRST_GUARD));
    for lookup in [&OTHER_WORDS, &OTHER_VERSION] {
        assert_eq!(before, hash(&with(lookup, &FIRST_GUARD)), "{lookup:?}");
    }
}

#[test]
fn a_plugin_that_the_plan_does_not_use_is_not_in_its_hash() {
    let plain = Project::new("echo a\n");
    let beside = Project::new("echo a\n").plugins(&[&FIRST_LOOKUP, &FIRST_GUARD]);
    assert_eq!(hash(&plain), hash(&beside));
}
