//! What differs between two states, in what a configuration can say.

use crate::schema::{Attribute, Block};
use crate::secrets;
use crate::value::Value;

/// One attribute that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub path: String,
    pub expected: Value,
    pub actual: Value,
    /// Neither value may be shown.
    pub is_secret: bool,
}

impl Difference {
    /// What is expected and what is there, with placeholders for what is sensitive or came as a secret.
    #[must_use]
    pub fn hidden_values(&self, hidden: &[String]) -> (String, String) {
        // What is above a secret has it in it.
        let has_secret = hidden.iter().any(|it| secrets::is_below(&self.path, it));
        if self.is_secret || has_secret || secrets::covers(hidden, &self.path) {
            return (secrets::HIDDEN.to_owned(), secrets::HIDDEN.to_owned());
        }
        (show(&self.expected), show(&self.actual))
    }

    /// The same in a line: `path: expected "/ci/", actual "/"`.
    #[must_use]
    pub fn hidden_line(&self, hidden: &[String]) -> String {
        let (expected, actual) = self.hidden_values(hidden);
        format!("{}: expected {expected}, actual {actual}", self.path)
    }
}

/// What a configuration can say of a state, without what is never read back.
#[must_use]
pub fn configurable(block: &Block, state: &Value) -> Value {
    let attributes = block.attributes.iter();
    let attributes = attributes.filter(|(_, it)| it.is_configurable() && !it.write_only);
    let names = attributes.map(|(name, _)| name).chain(block.blocks.keys());
    Value::Map(names.map(|name| (name.clone(), state.field(name).clone())).collect())
}

/// A value as people read it.
#[must_use]
pub fn show(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Unknown => "something that is known after the apply".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("{:?}", text.expose()),
        Value::List(items) => {
            format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Map(fields) => {
            let each = fields.iter().map(|(name, value)| format!("{name}: {}", show(value)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
        Value::Typed(typed) => show(&typed.1),
    }
}

/// The attributes that differ, sorted. What only the provider decides is not compared.
#[must_use]
pub fn differences(
    block: &Block,
    expected: &Value,
    actual: &Value,
    ignore: &[String],
) -> Vec<Difference> {
    let mut all = Vec::new();
    for (name, attribute) in &block.attributes {
        if attribute.is_configurable() && !attribute.write_only {
            let (expected, actual) = (expected.field(name), actual.field(name));
            compare(name, expected, actual, is_secret(attribute), &mut all);
        }
    }
    for (name, nested) in &block.blocks {
        let (expected, actual) = (expected.field(name), actual.field(name));
        match (expected, actual) {
            (Value::List(left), Value::List(right)) if left.len() == right.len() => {
                for (at, (left, right)) in left.iter().zip(right).enumerate() {
                    let inner = differences(&nested.block, left, right, &[]);
                    all.extend(inner.into_iter().map(|it| it.below(&format!("{name}[{at}]"))));
                }
            }
            (Value::Map(_), Value::Map(_)) if nested.nesting != crate::schema::Nesting::Map => {
                let inner = differences(&nested.block, expected, actual, &[]);
                all.extend(inner.into_iter().map(|it| it.below(name)));
            }
            _ => compare(name, expected, actual, has_secret(&nested.block), &mut all),
        }
    }
    all.retain(|it| !secrets::covers(ignore, &it.path));
    all.sort_by(|left, right| left.path.cmp(&right.path));
    all
}

impl Difference {
    fn below(mut self, path: &str) -> Self {
        self.path = format!("{path}.{}", self.path);
        self
    }
}

/// Maps are compared by entry, so that each has its line.
fn compare(
    path: &str,
    expected: &Value,
    actual: &Value,
    is_secret: bool,
    all: &mut Vec<Difference>,
) {
    let (expected, actual) = (expected.plain(), actual.plain());
    if is_same(expected, actual) {
        return;
    }
    if let (Value::Map(left), Value::Map(right)) = (expected, actual) {
        let names = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name)));
        for name in names {
            let path = format!("{path}.{name}");
            compare(&path, expected.field(name), actual.field(name), is_secret, all);
        }
        return;
    }
    all.push(Difference {
        path: path.to_owned(),
        expected: expected.clone(),
        actual: actual.clone(),
        is_secret,
    });
}

/// Whether an object is as it is planned. What is known only after an apply can be anything: no configuration
/// says what it is.
fn is_same(expected: &Value, actual: &Value) -> bool {
    match (expected.plain(), actual.plain()) {
        (Value::Unknown, _) => true,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| is_same(left, right)))
        }
        (expected, actual) => expected == actual,
    }
}

fn is_secret(attribute: &Attribute) -> bool {
    use crate::schema::Of;
    let inner = match &attribute.of {
        Of::Plain(_) => false,
        Of::Nested(_, inner) => inner.values().any(is_secret),
    };
    attribute.sensitive || attribute.write_only || inner
}

fn has_secret(block: &Block) -> bool {
    block.attributes.values().any(is_secret)
        || block.blocks.values().any(|it| has_secret(&it.block))
}

/// Attributes that the configuration gives and that cannot be read back.
#[must_use]
pub fn unread(block: &Block, observed: &Value, state: &Value) -> Vec<String> {
    let each = block.attributes.iter().filter(|(name, attribute)| {
        attribute.is_configurable()
            && observed.field(name).is_null()
            && !state.field(name).is_null()
    });
    each.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Of;
    use crate::value::Type;

    fn open_block() -> Block {
        let attribute = Attribute {
            of: Of::Plain(Type::Dynamic),
            required: false,
            optional: true,
            computed: false,
            sensitive: false,
            write_only: false,
            description: String::new(),
            deprecated: None,
        };
        Block { attributes: [("any".to_owned(), attribute)].into(), ..Block::default() }
    }

    /// A value as a provider sends it where its schema leaves the type open.
    fn typed(of: &str, value: Value) -> Value {
        Value::Typed(Box::new((Type::read(of.as_bytes()).unwrap(), value)))
    }

    #[test]
    fn a_value_with_its_type_differs_only_in_what_it_says() {
        let object = |port: i64| {
            Value::map([("name", Value::text("a")), ("ports", Value::List(vec![Value::int(port)]))])
        };
        let of = r#"["object",{"name":"string","ports":["list","number"]}]"#;
        let found = |expected: Value, actual: Value| {
            let (expected, actual) =
                (Value::map([("any", expected)]), Value::map([("any", actual)]));
            let all = differences(&open_block(), &expected, &actual, &[]);
            all.iter().map(|it| it.hidden_line(&[])).collect::<Vec<_>>()
        };
        assert!(found(object(1), typed(of, object(1))).is_empty());
        let other = r#"["object",{"name":"string","ports":["tuple",["number"]]}]"#;
        assert!(found(typed(of, object(1)), typed(other, object(1))).is_empty());
        let line = ["any.ports: expected [1], actual [2]"];
        assert_eq!(found(object(1), typed(of, object(2))), line);
        assert_eq!(found(typed(of, object(1)), typed(other, object(2))), line);
        let open = Value::map([("name", Value::text("a")), ("ports", Value::Unknown)]);
        assert!(found(typed(of, open), typed(of, object(2))).is_empty());
    }

    #[test]
    fn what_is_above_a_secret_is_hidden_like_it() {
        let whole = Value::map([("password", Value::text("canary"))]);
        let (expected, actual) = (Value::map([("any", whole)]), Value::map([("any", Value::Null)]));
        let all = differences(&open_block(), &expected, &actual, &[]);
        let hidden = ["any.password".to_owned()];
        let lines: Vec<String> = all.iter().map(|it| it.hidden_line(&hidden)).collect();
        assert_eq!(lines, ["any: expected 🔒, actual 🔒"]);
    }
}
