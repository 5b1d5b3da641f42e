//! The small parts of steps: texts, rows, and the scalars that JSON has no form for.

use std::borrow::Cow;

use crate::contract::json::read::{Read, Reader};
use crate::contract::weight;
use crate::duration::Duration;

/// Names of arguments that need no memory of their own, the frequent ones first.
const NAMES: [&str; 8] =
    ["command", "value", "taken", "condition", "roots", "count", "operators", "arm"];

/// A text that is kept.
pub(in crate::contract) fn text(r: &mut Reader<'_>) -> Read<String> {
    let text = r.string()?;
    r.charge(text.len())?;
    Ok(text.into_owned())
}

pub(super) fn known_name(name: &str) -> Cow<'static, str> {
    match NAMES.iter().find(|known| **known == name) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(name.to_owned()),
    }
}

pub(super) fn items<'a, T>(
    r: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Read<T>,
) -> Read<Vec<T>> {
    let mut items = Vec::new();
    r.array(|r| {
        r.charge(weight::ITEM)?;
        let item = each(r)?;
        push(&mut items, item);
        Ok(())
    })?;
    fit(&mut items);
    Ok(items)
}

/// A row that is left out where nothing is in it.
pub(super) fn filled<'a, T>(
    r: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Read<T>,
) -> Read<Vec<T>> {
    let mut items = Vec::new();
    r.array(|r| {
        let item = each(r)?;
        push(&mut items, item);
        Ok(())
    })?;
    if items.is_empty() {
        return r.fault("an empty list must be omitted");
    }
    fit(&mut items);
    Ok(items)
}

/// Most rows have one item. Long ones grow by a quarter: twice as much would not fit into the
/// memory that is counted.
pub(in crate::contract) fn push<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() && (items.is_empty() || items.len() >= 1024) {
        items.reserve_exact((items.len() / 4).max(1));
    }
    items.push(item);
}

/// Gives back what is more than the weights allow for.
pub(super) fn fit<T>(items: &mut Vec<T>) {
    if items.capacity() > items.len() + items.len() / 3 {
        items.shrink_to_fit();
    }
}

pub(super) fn float(r: &mut Reader<'_>) -> Read<f64> {
    let text = r.string()?;
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && format!("{value:?}") == text => Ok(value),
        _ => r.fault("invalid Float"),
    }
}

pub(super) fn duration(r: &mut Reader<'_>) -> Read<Duration> {
    let text = r.string()?;
    let parse = |text: &str| Duration::parse(text).map(Duration::as_nanos);
    let nanos = match text.strip_prefix('-') {
        // The lowest number has no positive counterpart.
        Some(_) if *text == Duration::from_nanos(i64::MIN).to_string() => Ok(i64::MIN),
        Some(positive) => parse(positive).map(std::ops::Neg::neg),
        None => parse(&text),
    };
    match nanos.map(Duration::from_nanos) {
        Ok(value) if value.to_string() == text => Ok(value),
        _ => r.fault("invalid Duration"),
    }
}
