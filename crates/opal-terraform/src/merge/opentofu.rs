//! The cases that OpenTofu proposes states for, as facts: a schema, what was, what is configured, and
//! what a provider is asked to plan.
//!
//! A schema is an object: `"o"` is optional, `"r"` required, `"c"` computed, `"oc"` both; `nest` is an
//! attribute with attributes of its own, `block` a block. What an object does not name is null, and `"?"` is
//! unknown.

use serde_json::{Value as Json, json};

use super::*;
use crate::value::Type;

fn nesting(word: &str) -> Nesting {
    match word {
        "single" => Nesting::Single,
        "group" => Nesting::Group,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        "map" => Nesting::Map,
        other => panic!("{other}"),
    }
}

fn schema(of: &Json) -> Block {
    let mut block = Block::default();
    for (name, of) in of.as_object().unwrap() {
        let text = |key: &str| of[key].as_str().unwrap();
        if of.get("block").is_some() {
            let (nesting, block_of) = (nesting(text("block")), schema(&of["of"]));
            let nested = Nested { nesting, block: block_of, min_items: 0, max_items: 0 };
            block.blocks.insert(name.clone(), nested);
            continue;
        }
        let (flags, of) = match of.as_str() {
            Some(flags) => (flags, Of::Plain(Type::String)),
            None => {
                let inner = schema(&of["of"]).attributes;
                (text("is"), Of::Nested(nesting(text("nest")), inner))
            }
        };
        let attribute = Attribute {
            of,
            required: flags.contains('r'),
            optional: flags.contains('o'),
            computed: flags.contains('c'),
            sensitive: false,
            write_only: false,
            description: String::new(),
            deprecated: None,
        };
        block.attributes.insert(name.clone(), attribute);
    }
    block
}

fn object(block: &Block, json: &Json) -> Value {
    match json {
        Json::Null => return Value::Null,
        Json::String(_) => return Value::Unknown,
        _ => {}
    }
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        let value = match &attribute.of {
            Of::Plain(_) => plain(&json[name]),
            Of::Nested(nesting, inner) => {
                let inner = Block { attributes: inner.clone(), ..Block::default() };
                nested(*nesting, &inner, &json[name])
            }
        };
        (name.clone(), value)
    });
    let blocks = block.blocks.iter();
    let blocks =
        blocks.map(|(name, of)| (name.clone(), nested(of.nesting, &of.block, &json[name])));
    Value::Map(attributes.chain(blocks).collect())
}

fn nested(nesting: Nesting, block: &Block, json: &Json) -> Value {
    match json {
        Json::Array(items) => {
            let items = items.iter().map(|item| object(block, item)).collect();
            if nesting == Nesting::Set { Value::set(items) } else { Value::List(items) }
        }
        Json::Object(fields) if nesting == Nesting::Map => Value::Map(
            fields.iter().map(|(name, item)| (name.clone(), object(block, item))).collect(),
        ),
        json => object(block, json),
    }
}

fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::String(text) if text == "?" => Value::Unknown,
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::List(items.iter().map(plain).collect()),
        other => panic!("{other}"),
    }
}

/// What is proposed is as expected.
fn proposes(name: &str, of: &Json, prior: &Json, config: &Json, expected: &Json) {
    let block = schema(of);
    let given = propose(&block, &object(&block, prior), &object(&block, config));
    assert!(given == object(&block, expected), "{name}: {given:?}");
}

/// Attributes of one level: optional, computed, both, required.
fn four() -> Json {
    json!({"o": "o", "c": "c", "oc": "oc", "r": "r"})
}

#[test]
fn attributes_and_single_objects() {
    let nest = |is: &str, of: Json| json!({"nest": "single", "is": is, "of": of});
    proposes("nothing at all", &json!({}), &json!({}), &json!({}), &json!({}));
    let config = json!({"foo": "hello", "baz": {"boz": "world", "biz": "?"}});
    let baz = json!({"block": "single", "of": {"boz": "oc", "biz": "oc"}});
    let of = json!({"foo": "o", "bar": "c", "bloop": nest("c", json!({"blop": "r"})), "baz": baz});
    proposes("a create", &of, &json!(null), &config, &config);
    let config = json!({"foo": "bar"});
    proposes("a block that is left out stays out", &of, &json!(null), &config, &config);
    proposes(
        "what was",
        &json!({"foo": "o", "bar": "c", "baz": "oc", "boz": "oc", "n": nest("o", json!({"b": "r"}))}),
        &json!({"foo": "1", "bar": "2", "baz": "3", "boz": "4", "n": {"b": "5"}}),
        &json!({"foo": "hello", "boz": "world", "n": {"b": "bleep"}}),
        &json!({"foo": "hello", "bar": "2", "baz": "3", "boz": "world", "n": {"b": "bleep"}}),
    );
    let of = json!({"foo": {"block": "single", "of": {"bar": "oc", "baz": "oc"}},
        "n": nest("o", json!({"blop": "r", "bleep": "o"}))});
    let prior = json!({"foo": {"bar": "beep", "baz": "boop"}, "n": {"blop": "glub"}});
    proposes(
        "a single block keeps what is computed",
        &of,
        &prior,
        &json!({"foo": {"bar": "bap"}, "n": {"blop": "glub", "bleep": "beep"}}),
        &json!({"foo": {"bar": "bap", "baz": "boop"}, "n": {"blop": "glub", "bleep": "beep"}}),
    );
    proposes("a single block that is gone", &of, &prior, &json!({}), &json!({}));
    let of = json!({"n": nest("oc", json!({"blop": "r", "bleep": "o"}))});
    let prior = json!({"n": {"blop": "glub"}});
    proposes(
        "an object that only a configuration can have made",
        &of,
        &prior,
        &json!({}),
        &json!({}),
    );
    let of = json!({"foo": nest("o", json!({"bar": nest("r", four()), "baz": nest("o", four())}))});
    proposes(
        "objects inside of objects",
        &of,
        &json!({"foo": {"baz": {"c": "hello", "oc": "prior", "r": "present"}}}),
        &json!({"foo": {"bar": "?", "baz": {"oc": "hello", "r": "present"}}}),
        &json!({"foo": {"bar": "?", "baz": {"c": "hello", "oc": "hello", "r": "present"}}}),
    );
}

#[test]
fn lists_and_maps() {
    let blocks =
        |nesting: &str| json!({"foo": {"block": nesting, "of": {"bar": "oc", "baz": "oc"}}});
    proposes(
        "elements of a list, by place",
        &blocks("list"),
        &json!({"foo": [{"bar": "beep", "baz": "boop"}]}),
        &json!({"foo": [{"bar": "bap"}, {"bar": "blep"}]}),
        &json!({"foo": [{"bar": "bap", "baz": "boop"}, {"bar": "blep"}]}),
    );
    proposes(
        "elements of a map, by key",
        &blocks("map"),
        &json!({"foo": {"a": {"bar": "beep", "baz": "boop"}, "b": {"bar": "blep", "baz": "boot"}}}),
        &json!({"foo": {"a": {"bar": "bap"}, "c": {"bar": "bosh"}}}),
        &json!({"foo": {"a": {"bar": "bap", "baz": "boop"}, "c": {"bar": "bosh"}}}),
    );
    let map =
        |is: &str| json!({"n": {"nest": "map", "is": is, "of": {"blop": "o", "bleep": "oc"}}});
    let prior =
        json!({"n": {"a": {"blop": "glub", "bleep": "x"}, "b": {"blop": "blub", "bleep": "x"}}});
    let config = json!({"n": {"a": null, "c": {"blop": "blub"}}});
    proposes("an element that is null now", &map("o"), &prior, &config, &config);
    proposes("a map that is null now", &map("oc"), &prior, &json!({}), &json!({}));
    proposes(
        "a list that is shorter",
        &json!({"n": {"nest": "list", "is": "o", "of": {"blop": "r", "blub": "o"}}}),
        &json!({"n": [{"blop": "bar", "blub": "glub"}, {"blop": "baz"}]}),
        &json!({"n": [{"blop": "bar"}]}),
        &json!({"n": [{"blop": "bar"}]}),
    );
    let inner = json!({"nest": "list", "is": "o", "of": {"foo": "o"}});
    let of = json!({"single": {"nest": "single", "is": "o", "of": {"list": inner}},
        "map": {"nest": "map", "is": "o", "of": {"list": inner}}});
    let list = json!({"list": [{"foo": "a"}, {"foo": "b"}]});
    let config = json!({"single": list, "map": {"one": list}});
    proposes("a create with objects in objects", &of, &json!(null), &config, &config);
    let inner = json!({"nest": "list", "is": "c", "of": {"foo": "o"}});
    let of = json!({"list": {"nest": "list", "is": "c", "of": {"list": inner}}});
    proposes("an unknown object", &of, &json!("?"), &json!(null), &json!("?"));
}

#[test]
fn collections_that_are_null_or_empty() {
    let nest = |nesting: &str| json!({"nest": nesting, "is": "o", "of": {"bar": "o"}});
    let of = json!({"single": nest("single"), "list": nest("list"), "set": nest("set"), "map": nest("map"),
        "deep": {"nest": "map", "is": "o", "of": {"inner": {"nest": "single", "is": "o", "of": four()}}}});
    let one = json!({"bar": "baz"});
    let prior = json!({"single": one, "list": [one], "set": [one], "map": {"k": one},
        "deep": {"a": {"inner": {"o": "1", "c": "2", "oc": "3", "r": "4"}}}});
    proposes("null where they were something", &of, &prior, &json!({}), &json!({}));
    let empty = json!({"set": [], "map": {}});
    proposes(
        "empty stays empty",
        &json!({"set": nest("set"), "map": nest("map")}),
        &empty,
        &empty,
        &empty,
    );
}

#[test]
fn elements_of_sets() {
    let set = |of: Json| json!({"foo": {"block": "set", "of": of}});
    let attribute = |of: Json| json!({"foo": {"nest": "set", "is": "o", "of": of}});
    let both = [set(json!({"bar": "o", "baz": "oc"})), attribute(json!({"bar": "o", "baz": "oc"}))];
    for of in &both {
        let config = json!({"foo": [{"bar": "world"}]});
        proposes("a create", of, &json!(null), &config, &config);
        proposes(
            "what is configured tells elements apart",
            of,
            &json!({"foo": [{"bar": "one", "baz": "OK"}, {"bar": "two", "baz": "OK"}]}),
            &json!({"foo": [{"bar": "one"}, {"bar": "replaced"}]}),
            &json!({"foo": [{"bar": "one", "baz": "OK"}, {"bar": "replaced"}]}),
        );
        proposes(
            "nothing has changed",
            of,
            &json!({"foo": [{"bar": "one", "baz": "1"}, {"bar": "two", "baz": "2"}]}),
            &json!({"foo": [{"bar": "one"}, {"bar": "two"}]}),
            &json!({"foo": [{"bar": "one", "baz": "1"}, {"bar": "two", "baz": "2"}]}),
        );
        let config = json!({"foo": [{"bar": "?"}, {"bar": "?", "baz": "x"}]});
        proposes("unknown elements", of, &json!(null), &config, &config);
    }
    let config = json!({"foo": [{"bar": "new"}]});
    proposes(
        "another element",
        &attribute(json!({"bar": "r"})),
        &json!({"foo": [{"bar": "old"}]}),
        &config,
        &config,
    );
    proposes(
        "all is optional and computed, and what is configured counts",
        &attribute(json!({"bar": "oc", "baz": "oc"})),
        &json!({"foo": [{"bar": "one", "baz": "OK"}, {"bar": "two", "baz": "OK"}]}),
        &json!({"foo": [{"bar": "one"}, {"bar": "two"}]}),
        &json!({"foo": [{"bar": "one", "baz": "OK"}, {"bar": "two", "baz": "OK"}]}),
    );
    let config = json!({"foo": [{"bar": "glub"}, {"bar": "glubglub"}]});
    let prior = json!({"foo": [{"bar": "glubglub"}, {"bar": "glubglub", "baz": "beep"}]});
    proposes(
        "equal elements",
        &attribute(json!({"bar": "r", "baz": "o"})),
        &prior,
        &config,
        &config,
    );
}

#[test]
fn objects_inside_of_sets() {
    let set = |of: Json| json!({"foo": {"block": "set", "of": of}});
    let list = json!({"bar": {"block": "list", "of": {"baz": "o", "qux": "oc"}}});
    proposes(
        "a list in a set",
        &set(list),
        &json!({"foo": [{"bar": [{"baz": "beep", "qux": "boop"}]}]}),
        &json!({"foo": [{"bar": [{"baz": "beep"}]}]}),
        &json!({"foo": [{"bar": [{"baz": "beep", "qux": "boop"}]}]}),
    );
    let empty = json!({"foo": [{"bar": []}]});
    proposes(
        "an empty list",
        &set(json!({"bar": {"block": "list", "of": {}}})),
        &empty,
        &empty,
        &empty,
    );
    let map = set(json!({"bar": {"block": "map", "of": {"baz": "o"}}}));
    let config = json!({"foo": [{"bar": {"bing": {"baz": "true"}}}]});
    proposes("a map that was empty", &map, &json!({"foo": [{"bar": {}}]}), &config, &config);
    let config = json!({"foo": [{"bar": {"bing": {"baz": ["true"]}}}]});
    let prior = json!({"foo": [{"bar": {"bing": {"baz": "true"}, "bang": {"baz": ["true"]}}}]});
    proposes("a map of anything", &map, &prior, &config, &config);
    let inner = json!({"nest": "set", "is": "r", "of": four()});
    let of = json!({"foo": {"nest": "set", "is": "o", "of": {"bar": inner}}});
    let one = |text: &str| json!({"bar": [{"o": text, "c": text, "oc": text, "r": text}]});
    let config = json!({"foo": [
        {"bar": [{"o": "new", "oc": "new", "r": "new"}]}, {"bar": [{"oc": "other", "r": "other"}]}]});
    proposes("sets in sets", &of, &json!({"foo": [one("a"), one("b")]}), &config, &config);
    let object = |computed: &str| json!({"obj": {"nest": "single", "is": "o", "of": {"optional": "o", "computed": computed}}});
    let element = |optional: &str, computed: Json| json!({"obj": {"optional": optional, "computed": computed}});
    let prior = json!({"foo": [element("first", json!("1")), element("second", json!("2"))]});
    for of in [json!({"foo": {"nest": "set", "is": "oc", "of": object("c")}}), set(object("oc"))] {
        proposes(
            "one more, and one that changed",
            &of,
            &prior,
            &json!({"foo": [element("first", json!(null)), element("changed", json!(null))]}),
            &json!({"foo": [element("first", json!("1")), element("changed", json!(null))]}),
        );
    }
    let list = json!({"foo": {"nest": "list", "is": "oc", "of": object("c")}});
    let prior = json!({"foo": [element("prior", json!("1"))]});
    let config = json!({"foo": [element("prior", json!(null))]});
    proposes("a list that is configured", &list, &prior, &config, &prior);
    proposes(
        "a list that only a configuration can have made",
        &list,
        &prior,
        &json!({}),
        &json!({}),
    );
}

#[test]
fn sets_inside_of_sets_belong_together_only_if_they_are_equal() {
    let inner = json!({"nest": "set", "is": "o", "of": {"opt": "oc", "oc": "oc"}});
    let of = json!({"multi": {"block": "set", "of": {"opt": "oc", "oc": "oc", "attr": inner}}});
    proposes(
        "sets in sets",
        &of,
        &json!({"multi": [
            {"opt": "one", "oc": "OK", "attr": [{"opt": "one", "oc": "OK"}]},
            {"opt": "two", "oc": "OK", "attr": [{"opt": "two", "oc": "OK"}]}]}),
        &json!({"multi": [
            {"opt": "one", "attr": [{"opt": "one", "oc": "OK"}]},
            {"opt": "two", "oc": "OK", "attr": [{"opt": "two"}]},
            {"opt": "three"}]}),
        &json!({"multi": [
            {"opt": "one", "oc": "OK", "attr": [{"opt": "one", "oc": "OK"}]},
            {"opt": "two", "oc": "OK", "attr": [{"opt": "two"}]},
            {"opt": "three"}]}),
    );
}
