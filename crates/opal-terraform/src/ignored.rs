//! Attributes whose actual value a step accepts: for them the configuration says what is there, so a plan
//! leaves them alone.

use std::collections::BTreeMap;

use crate::schema::Block;
use crate::value::Value;

/// A configuration that has the actual value wherever `ignore` says so: `tags.owner`, `rule[0].port`.
#[must_use]
pub fn accepted(block: &Block, config: &Value, actual: &Value, ignore: &[String]) -> Value {
    let mut config = config.clone();
    for path in ignore {
        let parts = parts(path);
        let Some(Part::Name(first)) = parts.first() else { continue };
        let attribute = block.attributes.get(*first);
        let may_be_said = attribute.is_none_or(|it| it.is_configurable() && !it.write_only);
        if may_be_said {
            config = replaced(config, actual, &parts);
        }
    }
    config
}

enum Part<'a> {
    Name(&'a str),
    Place(usize),
}

/// `rule[0].port`: a name, a place, a name.
fn parts(path: &str) -> Vec<Part<'_>> {
    let each = path.split(['.', '[']).map(|part| {
        let place = part.strip_suffix(']').and_then(|place| place.parse().ok());
        place.map_or(Part::Name(part), Part::Place)
    });
    each.collect()
}

fn replaced(config: Value, actual: &Value, parts: &[Part<'_>]) -> Value {
    let [first, rest @ ..] = parts else { return actual.clone() };
    match (first, config.into_plain()) {
        (Part::Name(name), Value::Map(mut fields)) => {
            let old = fields.remove(*name);
            // An entry that is not there is left out.
            if has(actual, name) || old.is_some() && !rest.is_empty() {
                let new = replaced(old.unwrap_or(Value::Null), actual.field(name), rest);
                fields.insert((*name).to_owned(), new);
            }
            Value::Map(fields)
        }
        // The step says nothing about its entries.
        (Part::Name(name), Value::Null) if has(actual, name) => {
            let new = replaced(Value::Null, actual.field(name), rest);
            Value::Map(BTreeMap::from([((*name).to_owned(), new)]))
        }
        (Part::Place(at), Value::List(mut items)) => {
            if let (Some(item), Some(there)) = (items.get_mut(*at), actual.items().get(*at)) {
                *item = replaced(item.clone(), there, rest);
            }
            Value::List(items)
        }
        // The only block of its kind may be a list of one.
        (Part::Name(_), Value::List(mut items)) => {
            if let ([item], [there]) = (&mut items[..], actual.items()) {
                *item = replaced(item.clone(), there, parts);
            }
            Value::List(items)
        }
        (_, other) => other,
    }
}

fn has(actual: &Value, name: &str) -> bool {
    matches!(actual.plain(), Value::Map(all) if all.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;

    #[test]
    fn only_what_is_accepted_comes_from_the_object() {
        let text = |text: &str| Value::text(text);
        let rule =
            |port: &str, name: &str| Value::map([("port", text(port)), ("name", text(name))]);
        let config = Value::map([
            ("tags", Value::map([("a", text("1")), ("owner", text("us"))])),
            ("none", Value::Null),
            ("rule", Value::List(vec![rule("1", "x"), rule("2", "y")])),
            ("one", Value::List(vec![rule("1", "x")])),
        ]);
        let actual = Value::map([
            ("tags", Value::map([("a", text("2")), ("owner", text("them")), ("more", text("3"))])),
            ("none", Value::map([("owner", text("them"))])),
            ("rule", Value::List(vec![rule("7", "a"), rule("8", "b")])),
            ("one", Value::List(vec![rule("7", "a")])),
        ]);
        let with =
            |ignore: &str| accepted(&Block::default(), &config, &actual, &[ignore.to_owned()]);
        let tags = |ignore: &str| with(ignore).field("tags").clone();
        let us = |owner: &str| Value::map([("a", text("1")), ("owner", text(owner))]);
        assert!(tags("tags.owner") == us("them"));
        assert!(tags("tags") == *actual.field("tags"));
        assert!(tags("other") == us("us") && tags("tags.unknown") == us("us"));
        assert!(with("none.owner").field("none") == actual.field("none"));
        assert!(with("none.x").field("none").is_null());
        // Also where the schema leaves the type open, so that the object has its type with it.
        let of = Type::read(br#"["map","string"]"#).unwrap();
        let open = Value::Typed(Box::new((of, actual.field("tags").clone())));
        let there = Value::map([("tags", open)]);
        let ignore = ["tags.owner".to_owned()];
        let open = accepted(&Block::default(), &config, &there, &ignore);
        assert!(open.field("tags") == &us("them"));
        let rules = Value::List(vec![rule("1", "x"), rule("8", "y")]);
        assert!(with("rule[1].port").field("rule") == &rules);
        assert!(with("rule[9].port").field("rule") == config.field("rule"));
        assert!(with("one.port").field("one") == &Value::List(vec![rule("7", "x")]));
        // An entry that somebody removed stays removed.
        let less = Value::map([("tags", Value::map([("a", text("1"))]))]);
        let kept = accepted(&Block::default(), &config, &less, &["tags.owner".to_owned()]);
        assert!(kept.field("tags") == less.field("tags"));
    }
}
