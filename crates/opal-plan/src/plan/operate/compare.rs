//! Equal, less, greater.

use std::cmp::Ordering;

use super::{OpError, mismatch};
use crate::plan::datum::{Datum, Plain};
use crate::unit::BinaryOp;

/// Whether two values are the same. Different types do not compare, except with null.
pub(crate) fn same(left: &Datum, right: &Datum) -> Result<bool, OpError> {
    Ok(match (&left.plain, &right.plain) {
        (Plain::Null, other) | (other, Plain::Null) => matches!(other, Plain::Null),
        (Plain::Bool(left), Plain::Bool(right)) => left == right,
        (Plain::Text(left), Plain::Text(right)) => left.expose() == right.expose(),
        (Plain::Duration(left), Plain::Duration(right)) => left == right,
        (Plain::Array(left), Plain::Array(right)) => {
            left.items.len() == right.items.len() && all(left.items.iter().zip(&right.items))?
        }
        (Plain::Map(left), Plain::Map(right)) => {
            left.items.keys().eq(right.items.keys())
                && all(left.items.values().zip(right.items.values()))?
        }
        _ => match numbers(left, right) {
            Some(order) => order == Ordering::Equal,
            None => return Err(mismatch(BinaryOp::Equal, left, right)),
        },
    })
}

fn all<'d>(mut pairs: impl Iterator<Item = (&'d Datum, &'d Datum)>) -> Result<bool, OpError> {
    // Items of different types make collections that differ, not ones that cannot be compared.
    Ok(pairs.all(|(left, right)| same(left, right).unwrap_or(false)))
}

/// Ints exactly, mixed ones as Floats.
fn numbers(left: &Datum, right: &Datum) -> Option<Ordering> {
    match (&left.plain, &right.plain) {
        (Plain::Int(left), Plain::Int(right)) => Some(left.cmp(right)),
        (Plain::Int(left), Plain::Float(right)) => (*left as f64).partial_cmp(right),
        (Plain::Float(left), Plain::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Plain::Float(left), Plain::Float(right)) => left.partial_cmp(right),
        _ => None,
    }
}

pub(super) fn ordered(op: BinaryOp, left: &Datum, right: &Datum) -> Result<Plain, OpError> {
    let order = match (&left.plain, &right.plain) {
        (Plain::Text(left), Plain::Text(right)) => Some(left.expose().cmp(right.expose())),
        (Plain::Duration(left), Plain::Duration(right)) => Some(left.cmp(right)),
        _ => numbers(left, right),
    };
    let order = order.ok_or_else(|| mismatch(op, left, right))?;
    Ok(Plain::Bool(match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessOrEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}
