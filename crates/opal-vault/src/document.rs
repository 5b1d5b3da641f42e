//! JSON documents in which some parts came from the world.

use opal_core::class::name::is_field as is_secret_key;
use serde_json::{Map, Value, json};

use crate::{HIDDEN, Shown, Vault};

impl Vault {
    /// A document: indented, its keys in order, a line end at its end.
    ///
    /// What came from the world is at the places `given`, and is scrubbed: every text, key and
    /// number on its own, and what is below a key that says secret as a whole. All the rest is what
    /// opal says itself (keys, references, names, times, paths) and stays as it is: a secret that
    /// equals one of these words reveals nothing there, and without them the document could not be
    /// read.
    ///
    /// A place is `/a/b`, with `*` for every key, or the empty text for the whole document.
    #[must_use]
    pub fn json(&self, value: &Value, given: &[&str]) -> Shown<'static> {
        Shown::vouch(format!("{:#}\n", self.document(value, given)).into_bytes())
    }

    /// The same document as a value, for what is embedded in another.
    #[must_use]
    pub fn document(&self, value: &Value, given: &[&str]) -> Value {
        let mut document = value.clone();
        for place in given {
            scrub_at(place, "", &mut document, self);
        }
        document
    }
}

fn scrub_at(place: &str, key: &str, value: &mut Value, vault: &Vault) {
    let Some(place) = place.strip_prefix('/') else {
        *value = seen(key, value, vault);
        return;
    };
    let (wanted, below) = place.split_at(place.find('/').unwrap_or(place.len()));
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut().filter(|(key, _)| [key, "*"].contains(&wanted)) {
                scrub_at(below, key, value, vault);
            }
        }
        Value::Array(items) if wanted == "*" => {
            items.iter_mut().for_each(|item| scrub_at(below, "", item, vault));
        }
        _ => {}
    }
}

/// What may be seen of a value, and of all in it.
fn seen(key: &str, value: &Value, vault: &Vault) -> Value {
    if is_hidden(key, value, vault) {
        return HIDDEN.into();
    }
    // Together with its key, which may tell the vault more than it tells us.
    let shown = vault.scrub(&format!("{:#}", json!({key: scrubbed(value, vault)})));
    // A secret may hold what separates two texts, and nobody could read what is left without it.
    let read: Option<Map<String, Value>> = serde_json::from_slice(shown.bytes()).ok();
    read.and_then(|map| map.into_values().next()).unwrap_or_else(|| HIDDEN.into())
}

fn scrubbed(value: &Value, vault: &Vault) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => match unlike(&number.to_string(), vault) {
            Some(hidden) => Value::String(hidden),
            None => value.clone(),
        },
        Value::String(text) => Value::String(vault.scrub(text).text().into_owned()),
        Value::Array(items) => items.iter().map(|item| scrubbed(item, vault)).collect(),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                let name = vault.scrub(key).text().into_owned();
                (
                    name,
                    if is_hidden(key, value, vault) {
                        HIDDEN.into()
                    } else {
                        scrubbed(value, vault)
                    },
                )
            };
            map.iter().map(entry).collect()
        }
    }
}

/// Whether a key hides what is below it. A switch, and nothing at all, is no secret.
fn is_hidden(key: &str, value: &Value, vault: &Vault) -> bool {
    let says_secret = is_secret_key(key);
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => says_secret && !text.is_empty(),
        Value::Array(items) => says_secret && !items.is_empty(),
        Value::Object(map) => says_secret && !map.is_empty(),
        // The vault hides it too where it knows the key, and would put a text where no quotes are.
        Value::Number(number) => {
            says_secret || unlike(&format!("{}: {number}", Value::from(key)), vault).is_some()
        }
    }
}

/// What is seen of a text, if that is not all of it.
fn unlike(text: &str, vault: &Vault) -> Option<String> {
    let shown = vault.scrub(text);
    (shown.bytes() != text.as_bytes()).then(|| shown.text().into_owned())
}
