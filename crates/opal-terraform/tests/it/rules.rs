//! Plans against their configurations, and new states against their plans.

use opal_terraform::rules::{broken, is_kept};
use opal_terraform::schema::{Attribute, Block, Nested, Nesting, Of};
use opal_terraform::value::{Type, Value};

fn attribute(of: Of, computed: bool, write_only: bool) -> Attribute {
    Attribute {
        of,
        required: false,
        optional: true,
        computed,
        sensitive: false,
        write_only,
        description: String::new(),
        deprecated: None,
    }
}

fn text(write_only: bool) -> Attribute {
    attribute(Of::Plain(Type::String), true, write_only)
}

fn read(of: &str) -> Type {
    Type::read(of.as_bytes()).unwrap()
}

/// A block with a list, a set, a map and one of another block, and a nested attribute.
fn block() -> Block {
    let fields = || [("key", text(false)), ("secret", text(true))];
    let fields = || fields().map(|(name, it)| (name.to_owned(), it)).into();
    let nested = |nesting| {
        let block = Block { attributes: fields(), ..Block::default() };
        Nested { nesting, block, min_items: 0, max_items: 0 }
    };
    let all = [
        ("list", Nesting::List),
        ("map", Nesting::Map),
        ("set", Nesting::Set),
        ("single", Nesting::Single),
    ];
    let plain = attribute(Of::Plain(read(r#"["list","string"]"#)), false, false);
    let inner = attribute(Of::Nested(Nesting::List, fields()), false, false);
    Block {
        attributes: [("inner".to_owned(), inner), ("plain".to_owned(), plain)].into(),
        blocks: all.map(|(name, nesting)| (name.to_owned(), nested(nesting))).into(),
        ..Block::default()
    }
}

fn key(text: &str) -> Value {
    Value::map([("key", Value::text(text)), ("secret", Value::Null)])
}

fn list(keys: &[&str]) -> Value {
    Value::List(keys.iter().map(|it| key(it)).collect())
}

/// The paths that a plan changes, of one block or attribute.
fn changed(name: &str, config: Value, prior: Value, planned: Value) -> Vec<String> {
    let whole = |value: Value| block().complete(Value::map([(name, value)]));
    broken(&block(), &whole(config), &whole(prior), &whole(planned))
}

#[test]
fn a_plan_that_changes_a_nested_block_is_found_with_its_path() {
    let none = || Value::Null;
    for name in ["list", "inner"] {
        let of =
            |config: &[&str], planned: &[&str]| changed(name, list(config), none(), list(planned));
        assert!(of(&["a", "b"], &["a", "b"]).is_empty());
        // The order counts, and so does the number.
        assert_eq!(
            of(&["a", "b"], &["b", "a"]),
            [format!("{name}[0].key"), format!("{name}[1].key")]
        );
        assert_eq!(of(&["a"], &["a", "b"]), [name]);
        assert_eq!(of(&["a"], &[]), [name]);
    }
    let set =
        |config: &[&str], planned: &[&str]| changed("set", list(config), none(), list(planned));
    assert!(set(&["a", "b"], &["b", "a"]).is_empty());
    assert_eq!(set(&["a", "b"], &["a", "c"]), ["set"]);
    assert_eq!(set(&["a"], &[]), ["set"]);
    let of = |name: &str, value: Value| Value::map([(name, value)]);
    assert_eq!(changed("map", of("x", key("a")), none(), of("x", key("b"))), ["map.x.key"]);
    assert_eq!(changed("map", of("x", key("a")), none(), of("y", key("a"))), ["map"]);
    assert_eq!(changed("single", key("a"), none(), key("b")), ["single.key"]);
    assert_eq!(changed("single", key("a"), none(), none()), ["single"]);
}

#[test]
fn what_is_left_out_write_only_or_as_it_was_is_not_a_change() {
    let left_out = Value::List(vec![Value::map([("key", Value::Null)])]);
    assert!(changed("list", left_out, Value::Null, list(&["chosen"])).is_empty());
    let sent = Value::map([("key", Value::text("a")), ("secret", Value::text("once"))]);
    assert!(changed("single", sent, Value::Null, key("a")).is_empty());
    assert!(changed("list", list(&["A"]), list(&["a"]), list(&["a"])).is_empty());
    assert!(changed("set", list(&["A"]), list(&["a"]), list(&["a"])).is_empty());
}

#[test]
fn a_list_of_plain_values_keeps_its_order_and_its_length() {
    let of = |all: &[&str]| Value::List(all.iter().map(|it| Value::text(*it)).collect());
    let plain = |planned: &[&str]| changed("plain", of(&["a", "b"]), Value::Null, of(planned));
    assert!(plain(&["a", "b"]).is_empty());
    for planned in [&["b", "a"][..], &["a"], &["a", "b", "c"], &["a", "a"]] {
        assert_eq!(plain(planned), ["plain"], "{planned:?}");
    }
}

#[test]
fn an_open_attribute_is_as_configured_whatever_type_the_provider_says() {
    let any = attribute(Of::Plain(Type::Dynamic), false, false);
    let block = Block { attributes: [("any".to_owned(), any)].into(), ..Block::default() };
    let config = Value::List(vec![Value::int(1), Value::int(2)]);
    let typed = |of: &str, value: Value| Value::Typed(Box::new((read(of), value)));
    let said = |planned: Value| {
        let whole = |value: Value| Value::map([("any", value)]);
        broken(&block, &whole(config.clone()), &Value::Null, &whole(planned))
    };
    assert!(said(typed(r#"["tuple",["number","number"]]"#, config.clone())).is_empty());
    assert!(said(typed(r#"["list","number"]"#, config.clone())).is_empty());
    let other = Value::List(vec![Value::int(1), Value::int(3)]);
    assert_eq!(said(typed(r#"["list","number"]"#, other)), ["any"]);
    assert_eq!(said(typed(r#""string""#, Value::Null)), ["any"]);
}

#[test]
fn a_new_state_has_everything_that_was_planned_and_known() {
    let of =
        read(r#"["object",{"l":["list","string"],"s":["set","string"],"m":["map","string"]}]"#);
    let texts = |all: &[&str]| all.iter().map(|it| Value::text(*it)).collect::<Vec<_>>();
    let with = |name: &str, value: Value| {
        let mut whole = Value::map([("l", Value::Null), ("s", Value::Null), ("m", Value::Null)]);
        if let Value::Map(fields) = &mut whole {
            fields.insert(name.to_owned(), value);
        }
        whole
    };
    let open = |first: &str| Value::List(vec![Value::text(first), Value::Unknown]);
    let kept = |name: &str, planned: Value, made: Value| {
        is_kept(&of, &with(name, planned), &with(name, made))
    };
    let list = |all: &[&str]| Value::List(texts(all));
    assert!(kept("l", open("a"), list(&["a", "b"])));
    // One unknown does not open the others.
    assert!(!kept("l", open("a"), list(&["b", "c"])));
    assert!(!kept("l", open("a"), list(&["a"])));
    // Elements of a set change their places once they are known.
    let set = |all: &[&str]| Value::set(texts(all));
    assert!(kept("s", Value::set(vec![Value::text("z"), Value::Unknown]), set(&["z", "a"])));
    assert!(!kept("s", Value::set(vec![Value::text("z"), Value::Unknown]), set(&["a", "b"])));
    let map = |value: Value| Value::map([("k", value)]);
    assert!(kept("m", map(Value::Unknown), map(Value::text("x"))));
    assert!(!kept("m", map(Value::text("x")), map(Value::text("y"))));
    let more = Value::map([("k", Value::text("x")), ("new", Value::text("y"))]);
    assert!(!kept("m", map(Value::text("x")), more));
}
