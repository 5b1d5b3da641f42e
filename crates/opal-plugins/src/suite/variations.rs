//! Arguments that the manifest allows, and that no test has: every choice, both ends of a range, texts
//! that are easily misread.

use opal_core::Value;
use opal_core::data::Data;
use opal_core::decorator::{Descriptor, Param, Presence};
use opal_core::parameter;
use opal_core::resolver::{Input, Inputs};
use opal_core::shape::{Shape, ShapeKind};

/// Texts that a careless program breaks on.
const TEXTS: [&str; 5] = ["", "-", "é 𝄞", "a\"b\\c\nd\te", "$(id) '; {\"x\": 1}"];

/// One argument changed at a time.
pub(super) fn of(descriptor: &Descriptor, usual: &Inputs) -> Vec<Inputs> {
    let mut all = Vec::new();
    for param in descriptor.params {
        if matches!(param.presence, Presence::Optional) && usual.args.contains_key(param.name) {
            let mut inputs = usual.clone();
            inputs.args.remove(param.name);
            all.push(inputs);
        }
        for value in values(param) {
            if parameter::check(param, &value).is_ok() {
                let mut inputs = usual.clone();
                inputs.args.insert(param.name, Input::Data(Data::from(&value)));
                all.push(inputs);
            }
        }
    }
    all
}

fn values(param: &Param) -> Vec<Value> {
    match param.shape {
        Some(Shape { secret: false, kind, .. }) => of_kind(kind),
        _ => Vec::new(),
    }
}

fn of_kind(kind: &ShapeKind) -> Vec<Value> {
    let text = |text: &str| Value::String(text.to_owned().into());
    match kind {
        ShapeKind::Text { characters: (least, _), .. } => {
            let shortest = "x".repeat(usize::try_from(*least).unwrap_or(0).min(1_000));
            TEXTS.into_iter().chain([shortest.as_str()]).map(text).collect()
        }
        ShapeKind::Choice { choices, .. } => choices.iter().map(|it| text(it)).collect(),
        ShapeKind::Int { low, high } => [*low, *high, 0].map(Value::Int).to_vec(),
        ShapeKind::Number { low, high } => {
            let ends = [*low, *high, 0.0, 0.5].into_iter().filter(|it| it.is_finite());
            ends.map(Value::Float).collect()
        }
        ShapeKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        ShapeKind::List(_) => vec![Value::Array(Vec::new())],
        ShapeKind::Map(_) => vec![Value::Map(Default::default())],
        ShapeKind::Duration
        | ShapeKind::Fields(_)
        | ShapeKind::Union { .. }
        | ShapeKind::Numeric
        | ShapeKind::OneOrMore(_)
        | ShapeKind::Any => Vec::new(),
    }
}
