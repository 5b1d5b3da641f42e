//! Values that a manifest writes: defaults, as their schema says to read them.

use std::rc::Rc;

use opal_core::shape::ShapeKind;
use opal_core::{Duration, Value};
use opal_yaml::scalar::{Meaning, meaning};
use opal_yaml::{Node, NodeKind};

pub(crate) fn plain(node: &Node) -> Option<Meaning> {
    match &node.kind {
        NodeKind::Scalar { text, plain: true } => Some(meaning(text)),
        _ => None,
    }
}

pub(crate) fn constant(node: &Node, kind: &ShapeKind) -> Option<Value> {
    Some(match (&node.kind, kind) {
        (NodeKind::Scalar { text, .. }, ShapeKind::Duration) => {
            Value::Duration(Duration::parse(text).ok()?)
        }
        (NodeKind::Scalar { text, .. }, ShapeKind::Text { .. } | ShapeKind::Choice { .. }) => {
            Value::String(text.clone().into())
        }
        (NodeKind::Scalar { .. }, _) => match plain(node)? {
            Meaning::Null => Value::Null,
            Meaning::Bool(flag) => Value::Bool(flag),
            Meaning::Int(number) if matches!(kind, ShapeKind::Number { .. }) => {
                Value::Float(number as f64)
            }
            Meaning::Int(number) => Value::Int(number),
            Meaning::Float(number) => Value::Float(number),
            Meaning::OddNumber | Meaning::Text => return None,
        },
        (NodeKind::List(items), ShapeKind::List(element)) => Value::Array(
            items.iter().map(|item| constant(item, &element.kind)).collect::<Option<_>>()?,
        ),
        (NodeKind::Map(entries), ShapeKind::Map(element)) => {
            let entry = |(key, value): &(Rc<Node>, Rc<Node>)| {
                Some((key.word()?.to_owned(), constant(value, &element.kind)?))
            };
            Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        (NodeKind::Map(entries), ShapeKind::Fields(fields)) => {
            let entry = |(key, value): &(Rc<Node>, Rc<Node>)| {
                let name = key.word()?;
                let field = fields.iter().find(|field| field.name == name)?;
                Some((name.to_owned(), constant(value, &field.shape.kind)?))
            };
            Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
