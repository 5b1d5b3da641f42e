//! What the protocol asks of a provider: a plan keeps what is configured, and an apply what was planned.
//!
//! | what | where |
//! |---|---|
//! | a plan against its configuration | [`broken`] |
//! | a new state against its plan | [`is_kept`] |

use std::collections::BTreeMap;

use crate::schema::{Attribute, Block, Nesting, Of};
use crate::value::{Type, Value};

/// What is compared: the configuration, what was there before, and the plan.
type Three<'a> = (&'a Value, &'a Value, &'a Value);

/// The paths of attributes and blocks that a plan changes although they are configured. What means the
/// same may stay as it was.
#[must_use]
pub fn broken(block: &Block, config: &Value, prior: &Value, planned: &Value) -> Vec<String> {
    let mut found = Vec::new();
    of_block(block, (config, prior, planned), "", &mut found);
    found
}

fn of_block(
    block: &Block,
    (config, prior, planned): Three<'_>,
    below: &str,
    found: &mut Vec<String>,
) {
    of_attributes(&block.attributes, (config, prior, planned), below, found);
    for (name, nested) in &block.blocks {
        let three = (config.field(name), prior.field(name), planned.field(name));
        let inner = |three: Three<'_>, path: &str, found: &mut Vec<String>| {
            of_block(&nested.block, three, &format!("{path}."), found);
        };
        items(nested.nesting, three, &format!("{below}{name}"), found, &inner);
    }
}

fn of_attributes(
    all: &BTreeMap<String, Attribute>,
    (config, prior, planned): Three<'_>,
    below: &str,
    found: &mut Vec<String>,
) {
    for (name, attribute) in all {
        let (given, was) = (config.field(name), prior.field(name));
        let (planned, path) = (planned.field(name), format!("{below}{name}"));
        let is_as_it_was = !was.is_null() && was.says_same(planned);
        let is_silent = attribute.write_only || given.is_null() || given.has_unknown();
        if is_silent || is_as_it_was || given.says_same(planned) {
            continue;
        }
        match &attribute.of {
            Of::Plain(_) => found.push(path),
            Of::Nested(nesting, inner) => {
                let inner = |three: Three<'_>, path: &str, found: &mut Vec<String>| {
                    of_attributes(inner, three, &format!("{path}."), found);
                };
                items(*nesting, (given, was, planned), &path, found, &inner);
            }
        }
    }
}

type Inner<'a> = &'a dyn Fn(Three<'_>, &str, &mut Vec<String>);

/// The objects that a nested value consists of: as many as are configured, each as it is configured.
fn items(
    nesting: Nesting,
    (given, was, planned): Three<'_>,
    path: &str,
    found: &mut Vec<String>,
    inner: Inner<'_>,
) {
    match (nesting, given, planned) {
        (_, Value::Null | Value::Unknown, _) | (_, _, Value::Unknown) => {}
        (Nesting::Single | Nesting::Group, Value::Map(_), Value::Map(_)) => {
            inner((given, was, planned), path, found);
        }
        (Nesting::List, Value::List(given), Value::List(planned))
            if given.len() == planned.len() =>
        {
            for (at, (given, planned)) in given.iter().zip(planned).enumerate() {
                let was = was.items().get(at).unwrap_or(&Value::Null);
                inner((given, was, planned), &format!("{path}[{at}]"), found);
            }
        }
        (Nesting::Map, Value::Map(given), Value::Map(planned))
            if given.keys().eq(planned.keys()) =>
        {
            for (name, given) in given {
                let three = (given, was.field(name), &planned[name]);
                inner(three, &format!("{path}.{name}"), found);
            }
        }
        (Nesting::Set, Value::List(all), Value::List(each)) if all.len() == each.len() => {
            let fits = |given: &Value, planned: &Value| {
                let mut found = Vec::new();
                inner((given, &Value::Null, planned), path, &mut found);
                found.is_empty()
            };
            if !pairs(all, each, fits) && !was.says_same(planned) {
                found.push(path.to_owned());
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// Whether each element of either side has one on the other side. Elements of sets have no place.
fn pairs(left: &[Value], right: &[Value], fits: impl Fn(&Value, &Value) -> bool) -> bool {
    left.iter().all(|left| right.iter().any(|right| fits(left, right)))
        && right.iter().all(|right| left.iter().any(|left| fits(left, right)))
}

/// Whether everything that was planned and known is there.
#[must_use]
pub fn is_kept(of: &Type, planned: &Value, made: &Value) -> bool {
    if let Value::Typed(typed) = planned {
        return is_kept(&typed.0, &typed.1, made);
    }
    match (of, planned, made.plain()) {
        (_, Value::Unknown, _) => true,
        (Type::Set(of), Value::List(planned), Value::List(made)) => {
            pairs(planned, made, |planned, made| is_kept(of, planned, made))
        }
        (_, Value::List(planned), Value::List(made)) => {
            let mut each = planned.iter().zip(made).enumerate();
            planned.len() == made.len()
                && each.all(|(at, (planned, made))| is_kept(element(of, at), planned, made))
        }
        (_, Value::Map(planned), Value::Map(made)) => {
            let mut each = planned.iter();
            planned.len() == made.len()
                && each.all(|(name, planned)| {
                    made.get(name).is_some_and(|made| is_kept(field(of, name), planned, made))
                })
        }
        (_, planned, made) => planned == made,
    }
}

fn element(of: &Type, at: usize) -> &Type {
    match of {
        Type::List(of) => of,
        Type::Tuple(all) => all.get(at).unwrap_or(&Type::Dynamic),
        _ => &Type::Dynamic,
    }
}

fn field<'t>(of: &'t Type, name: &str) -> &'t Type {
    match of {
        Type::Map(of) => of,
        Type::Object(all) => all.get(name).unwrap_or(&Type::Dynamic),
        _ => &Type::Dynamic,
    }
}
