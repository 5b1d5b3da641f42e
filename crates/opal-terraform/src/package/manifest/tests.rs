use std::collections::BTreeMap;

use super::*;
use crate::schema::{Attribute, Nested, Nesting, Of};
use crate::value::Type;

fn attribute(of: &str, required: bool, computed: bool) -> Attribute {
    Attribute {
        of: Of::Plain(Type::read(of.as_bytes()).unwrap()),
        required,
        optional: !required && !computed,
        computed,
        sensitive: false,
        write_only: false,
        description: String::new(),
        deprecated: None,
    }
}

fn build(resources: Vec<(&str, Block)>, data: Vec<(&str, Block)>) -> Manifest {
    let own =
        |all: Vec<(&str, Block)>| all.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    let schemas = Schemas { resources: own(resources), data: own(data), ..Schemas::default() };
    let recipes = Recipes::new(&BTreeMap::new()).unwrap();
    let source = Source::read("acme/box").unwrap();
    manifest(&schemas, &recipes, &source, &Version::read("1.2.3").unwrap(), "box")
}

fn entry(manifest: &Manifest, path: &str) -> Json {
    let mut rows = manifest.index.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let row = rows.find(|row| row["path"] == path).unwrap();
    let (start, length) = (row["offset"].as_u64().unwrap(), row["length"].as_u64().unwrap());
    let text = &manifest.text[start as usize..][..length as usize];
    serde_json::from_str(text).unwrap()
}

#[test]
fn each_type_becomes_the_type_of_the_page() {
    let text = r#""string""#;
    let all = [
        ("s", text, json!({"type": "string"})),
        ("n", r#""number""#, json!({"type": "number", "x-opal-numeric": true})),
        ("b", r#""bool""#, json!({"type": "boolean"})),
        ("l", r#"["list","string"]"#, json!({"type": "array", "items": {"type": "string"}})),
        ("t", r#"["set","bool"]"#, json!({"type": "array", "items": {"type": "boolean"}})),
        (
            "m",
            r#"["map","bool"]"#,
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
        ),
        (
            "o",
            r#"["object",{"x":"string"}]"#,
            json!({
                "type": "object", "additionalProperties": false, "required": [],
                "properties": {"x": {"type": "string"}},
            }),
        ),
        ("d", r#""dynamic""#, json!({"x-opal-any": true})),
    ];
    let attributes =
        all.iter().map(|(name, of, _)| ((*name).to_owned(), attribute(of, false, false)));
    let block = Block { attributes: attributes.collect(), ..Block::default() };
    let manifest = build(vec![("box_thing", block)], vec![]);
    let params = &entry(&manifest, "box.thing")["params"]["properties"];
    for (name, _, expected) in all {
        assert_eq!(params[name], expected, "{name}");
    }
}

#[test]
fn blocks_nest_as_the_page_says() {
    let inner = Block {
        attributes: [("p".to_owned(), attribute(r#""string""#, true, false))].into(),
        ..Block::default()
    };
    let nested =
        |nesting, max_items| Nested { nesting, block: inner.clone(), min_items: 0, max_items };
    let blocks = [
        ("single", nested(Nesting::Single, 0)),
        ("group", nested(Nesting::Group, 0)),
        ("list", nested(Nesting::List, 0)),
        ("set", nested(Nesting::Set, 0)),
        ("one", nested(Nesting::List, 1)),
        ("map", nested(Nesting::Map, 0)),
    ];
    let blocks = blocks.map(|(name, it)| (name.to_owned(), it)).into();
    let manifest = build(vec![("box_thing", Block { blocks, ..Block::default() })], vec![]);
    let entry = entry(&manifest, "box.thing");
    let params = &entry["params"]["properties"];
    let of = json!({
        "type": "object", "additionalProperties": false, "required": ["p"],
        "properties": {"p": {"type": "string"}},
    });
    for name in ["single", "group"] {
        assert_eq!(params[name], of, "{name}");
    }
    for name in ["list", "set"] {
        assert_eq!(params[name], json!({"type": "array", "items": of}), "{name}");
    }
    // Of which there is at most one, a Map alone is enough.
    let one = json!({"type": "array", "items": of, "x-opal-one-or-more": true});
    assert_eq!(params["one"], one);
    assert_eq!(params["map"], json!({"type": "object", "additionalProperties": of}));
    // Results keep the nesting of the schema.
    assert_eq!(entry["returns"]["properties"]["one"]["type"], json!(["array", "null"]));
}

#[test]
fn an_attribute_with_a_name_of_ours_gets_an_underscore() {
    let names = ["id", "mark", "settle", "name"];
    let attributes = names.map(|name| (name.to_owned(), attribute(r#""string""#, true, false)));
    let block = Block { attributes: attributes.into(), ..Block::default() };
    let manifest = build(vec![("box_thing", block)], vec![]);
    let entry = entry(&manifest, "box.thing");
    assert_eq!(entry["params"]["required"], json!(["id_", "mark_", "name", "settle_"]));
    for name in names {
        assert_eq!(super::attribute(&parameter(name)), name);
        assert!(entry["returns"]["properties"].get(name).is_some(), "{name}");
    }
}

#[test]
fn what_is_computed_is_a_result_and_what_is_sensitive_a_secret() {
    let secret = Attribute { sensitive: true, ..attribute(r#""string""#, false, false) };
    let sent = Attribute { write_only: true, ..attribute(r#""string""#, false, false) };
    let old = Attribute {
        deprecated: Some("use `name`".to_owned()),
        description: "The\u{1b}[2J name".to_owned(),
        ..attribute(r#""string""#, false, false)
    };
    let made = attribute(r#""string""#, false, true);
    let attributes = [("made", made), ("old", old), ("secret", secret), ("sent", sent)];
    let attributes = attributes.map(|(name, it)| (name.to_owned(), it)).into();
    let block = Block { attributes, ..Block::default() };
    let manifest = build(vec![("box_thing", block.clone())], vec![("box_thing", block)]);
    for path in ["box.thing", "box.data.thing"] {
        let entry = entry(&manifest, path);
        let (given, results) = (&entry["params"]["properties"], &entry["returns"]["properties"]);
        assert!(given.get("made").is_none() && results.get("made").is_some());
        assert_eq!(given["secret"]["x-opal-secret"], true);
        assert_eq!(given["sent"]["x-opal-secret"], true);
        assert_eq!(results["secret"]["x-opal-secret"], true);
        assert!(results["made"].get("x-opal-secret").is_none());
        let docs = given["old"]["description"].as_str().unwrap();
        assert!(docs.starts_with("Deprecated: use `name`. The") && !docs.contains('\u{1b}'));
    }
}

#[test]
fn a_manifest_is_one_document_in_order() {
    let some = |names: [&'static str; 3]| names.map(|name| (name, Block::default())).to_vec();
    let manifest =
        build(some(["box_b", "box_a", "box_provider"]), some(["box_b", "box_z", "box_a"]));
    let whole: Json = serde_json::from_str(&manifest.text).unwrap();
    let names: Vec<&str> = whole["x-opal-decorators"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(names.contains(&"box.box_provider") && names.contains(&"box.provider"));
    assert_eq!(names.len(), 10);
    assert_eq!(manifest.checksum, hex(&Sha256::digest(manifest.text.as_bytes())));
    assert_eq!(whole["x-opal-plugin"], json!({"name": "acme/box", "version": "1.2.3"}));
}

#[test]
fn a_type_without_its_prefix_keeps_its_name() {
    let manifest = build(
        vec![("other_thing", Block::default()), ("box_1st", Block::default())],
        vec![("box", Block::default())],
    );
    for path in ["box.other_thing", "box.box_1st", "box.data.box"] {
        assert_eq!(entry(&manifest, path)["name"], path);
    }
}
