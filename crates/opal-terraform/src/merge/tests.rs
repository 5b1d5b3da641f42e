use super::*;
use crate::value::Type;

const CONFIGURED: (bool, bool) = (true, false);
const COMPUTED: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

fn attribute((optional, computed): (bool, bool)) -> Attribute {
    let (required, sensitive, write_only) = (false, false, false);
    let (description, deprecated) = (String::new(), None);
    let of = Of::Plain(Type::String);
    Attribute { of, required, optional, computed, sensitive, write_only, description, deprecated }
}

fn all(named: &[(&str, (bool, bool))]) -> Attributes {
    named.iter().map(|(name, flags)| ((*name).to_owned(), attribute(*flags))).collect()
}

fn block(named: &[(&str, (bool, bool))]) -> Block {
    Block { attributes: all(named), ..Block::default() }
}

/// A block with one nested block, or one nested attribute, named `n`: configured `a`, computed `c`,
/// either `b`.
const INNER: [(&str, (bool, bool)); 3] = [("a", CONFIGURED), ("b", BOTH), ("c", COMPUTED)];

fn with_block(nesting: Nesting) -> Block {
    let nested = Nested { nesting, block: block(&INNER), min_items: 0, max_items: 0 };
    Block { blocks: [("n".to_owned(), nested)].into(), ..Block::default() }
}

fn with_nested(nesting: Nesting, flags: (bool, bool)) -> Block {
    let of = Of::Nested(nesting, all(&INNER));
    let nested = Attribute { of, ..attribute(flags) };
    Block { attributes: [("n".to_owned(), nested)].into(), ..Block::default() }
}

fn t(text: &str) -> Value {
    match text {
        "-" => Value::Null,
        "?" => Value::Unknown,
        _ => Value::text(text),
    }
}

/// `a b c`: an element.
fn e(text: &str) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    Value::map([("a", t(words[0])), ("b", t(words[1])), ("c", t(words[2]))])
}

fn n(value: Value) -> Value {
    Value::map([("n", value)])
}

fn list(items: &[&str]) -> Value {
    n(Value::List(items.iter().map(|item| e(item)).collect()))
}

fn set(items: &[&str]) -> Value {
    n(Value::set(items.iter().map(|item| e(item)).collect()))
}

fn map(items: &[(&str, &str)]) -> Value {
    n(Value::map(items.iter().map(|(name, item)| (*name, e(item)))))
}

#[test]
fn attributes_follow_the_configuration_and_what_is_computed_stays() {
    let block = block(&INNER);
    for (prior, config, proposed) in [
        (Value::Null, e("x - -"), e("x - -")),
        (Value::Null, e("x y -"), e("x y -")),
        (e("old b1 c1"), e("new - -"), e("new b1 c1")),
        (e("old b1 c1"), e("new b2 -"), e("new b2 c1")),
        (e("old b1 c1"), e("- - -"), e("- b1 c1")),
        (e("old b1 c1"), e("? ? -"), e("? ? c1")),
        (e("old b1 c1"), Value::Null, e("old b1 c1")),
    ] {
        assert!(propose(&block, &prior, &config) == proposed, "{prior:?} {config:?}");
    }
}

#[test]
fn write_only_attributes_are_in_no_state() {
    let mut block = block(&INNER);
    block.attributes.get_mut("a").unwrap().write_only = true;
    assert!(propose(&block, &Value::Null, &e("secret y -")) == e("- y -"));
}

#[test]
fn elements_of_lists_belong_together_by_place() {
    for (prior, config, proposed) in [
        (Value::Null, list(&["x - -"]), list(&["x - -"])),
        (list(&["x b1 c1"]), list(&["y - -"]), list(&["y b1 c1"])),
        (list(&["x b1 c1"]), list(&["x - -", "z - -"]), list(&["x b1 c1", "z - -"])),
        (list(&["x b1 c1", "z b2 c2"]), list(&["z - -"]), list(&["z b1 c1"])),
        (list(&["x b1 c1"]), list(&[]), list(&[])),
        (list(&["x b1 c1"]), n(Value::Unknown), n(Value::Unknown)),
    ] {
        assert!(propose(&with_block(Nesting::List), &prior, &config) == proposed, "{config:?}");
        assert!(propose(&with_nested(Nesting::List, CONFIGURED), &prior, &config) == proposed);
    }
}

#[test]
fn elements_of_maps_belong_together_by_key() {
    let prior = map(&[("k", "x b1 c1"), ("gone", "y b2 c2")]);
    let config = map(&[("k", "z - -"), ("new", "w - -")]);
    let proposed = map(&[("k", "z b1 c1"), ("new", "w - -")]);
    assert!(propose(&with_block(Nesting::Map), &prior, &config) == proposed);
    assert!(propose(&with_nested(Nesting::Map, CONFIGURED), &prior, &config) == proposed);
}

#[test]
fn elements_of_sets_belong_together_where_only_computed_parts_differ() {
    for (prior, config, proposed) in [
        (Value::Null, set(&["x - -"]), set(&["x - -"])),
        (set(&["x b1 c1", "y b2 c2"]), set(&["y - -", "x - -"]), set(&["x b1 c1", "y b2 c2"])),
        // Another configured value: another element, which takes nothing over.
        (set(&["x b1 c1"]), set(&["z - -"]), set(&["z - -"])),
        (set(&["x b1 c1"]), set(&["x b9 -"]), set(&["x b9 -"])),
        // Each prior element is used once.
        (set(&["x b1 c1"]), set(&["x - -", "x b1 -"]), set(&["x b1 c1", "x b1 -"])),
    ] {
        let got = propose(&with_block(Nesting::Set), &prior, &config);
        assert!(got == proposed, "{prior:?} {config:?} {got:?}");
        assert!(propose(&with_nested(Nesting::Set, CONFIGURED), &prior, &config) == proposed);
    }
}

#[test]
fn single_blocks_are_null_where_they_are_left_out_and_groups_never() {
    let prior = n(e("x b1 c1"));
    let left_out = n(Value::Null);
    assert!(propose(&with_block(Nesting::Single), &prior, &left_out) == left_out);
    assert!(propose(&with_block(Nesting::Single), &prior, &n(e("y - -"))) == n(e("y b1 c1")));
    assert!(propose(&with_block(Nesting::Group), &prior, &n(e("- - -"))) == n(e("- b1 c1")));
}

#[test]
fn a_computed_object_stays_unless_a_configuration_had_made_it() {
    let block = with_nested(Nesting::Single, BOTH);
    let none = n(Value::Null);
    assert!(propose(&block, &n(e("- - c1")), &none) == n(e("- - c1")));
    assert!(propose(&block, &n(e("x - c1")), &none) == none);
    assert!(propose(&block, &none, &none) == none);
}
