//! Inputs as a tree: putting values at their places, and naming the places.

use serde_json::{Map, Value};

use crate::reference::shorten;

/// As deep as a document can be.
const MOST_LEVELS: usize = 64;

/// Puts `over` onto `inputs`: maps key by key, everything else as a whole.
pub(crate) fn merge(inputs: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (inputs.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => drop(inputs.insert(key, value)),
        }
    }
}

/// Makes a place for what comes from elsewhere, and is not known yet.
pub(crate) fn reserve(inputs: &mut Map<String, Value>, path: &str) {
    let keys: Vec<&str> = path.split('.').collect();
    // A path through something that is not a map is reported when it is imported.
    let _ = set(inputs, &keys, Value::Null, Match::AsWritten);
}

/// How a key finds the one it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    AsWritten,
    /// Where there is none as written: variables are often written in capitals.
    AnyCase,
}

pub(super) fn set(
    inputs: &mut Map<String, Value>,
    keys: &[&str],
    value: Value,
    how: Match,
) -> Result<(), String> {
    let Some((last, parents)) = keys.split_last() else { return Ok(()) };
    if keys.len() > MOST_LEVELS || keys.iter().any(|key| key.is_empty()) {
        return Err("the path has an empty part, or too many".to_owned());
    }
    let mut map = inputs;
    for parent in parents {
        let key = meant(map, parent, how)?;
        let entry = map.entry(key).or_insert(Value::Null);
        if entry.is_null() {
            *entry = Value::Object(Map::new());
        }
        map = match entry {
            Value::Object(below) => below,
            _ => return Err(format!("`{}` has no keys below it", shorten(parent))),
        };
    }
    let key = meant(map, last, how)?;
    match (map.get_mut(&key), value) {
        (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
        (_, value) => drop(map.insert(key, value)),
    }
    Ok(())
}

pub(super) fn meant(map: &Map<String, Value>, key: &str, how: Match) -> Result<String, String> {
    if how == Match::AsWritten || map.contains_key(key) {
        return Ok(key.to_owned());
    }
    let mut alike = map.keys().filter(|other| other.eq_ignore_ascii_case(key));
    match (alike.next(), alike.next()) {
        (Some(first), Some(second)) => {
            Err(format!("it may mean `{}` or `{}`", shorten(first), shorten(second)))
        }
        (Some(only), None) => Ok(only.clone()),
        (None, _) => Ok(key.to_owned()),
    }
}

/// A JSON pointer as people write it: `vms[0].zone`.
pub(crate) fn place(pointer: &str) -> String {
    let mut place = String::new();
    for part in pointer.split('/').skip(1) {
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            place.push_str(&format!("[{part}]"));
        } else {
            place.push_str(if place.is_empty() { "" } else { "." });
            place.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    shorten(&place)
}
