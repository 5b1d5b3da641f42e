//! JSON documents in which some parts came from the world.

mod layout;

use opal_core::class::name::is_field as is_secret_key;
use serde_json::{Map, Value};

use crate::{HIDDEN, Shown, Vault};

pub use layout::HiddenLeaf;

use layout::{Layout, Walk};
use opal_core::gather::Gather as _;

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

    /// What is hidden of a value by its key, by a name beside it (`{name: DB_PASSWORD, value: …}`) or
    /// by how it looks; with where it is, as a JSON pointer below `at`. This is what documents are
    /// hidden by, so that nothing is a secret there and not elsewhere.
    #[must_use]
    pub fn hidden_leaves<'v>(
        &self,
        at: &str,
        key: &str,
        value: &'v Value,
    ) -> Vec<(String, HiddenLeaf<'v>)> {
        let layout = Layout::new(key, value);
        let hidden = layout.hidden(self);
        let mut found = Vec::new();
        Walk::new(&layout, &hidden).leaves(at.to_owned(), value, &mut found);
        found
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
    if is_hidden(key, value) {
        return HIDDEN.into();
    }
    // Each leaf by itself, and then together: a key or a name beside it may say that it is a secret.
    let alone = scrubbed(value, vault);
    let layout = Layout::new(key, &alone);
    let hidden = layout.hidden(vault);
    Walk::new(&layout, &hidden).seen(&alone)
}

fn scrubbed(value: &Value, vault: &Vault) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            match vault.hidden_in(&text).is_empty() {
                true => value.clone(),
                false => vault.scrub(&text).text().into(),
            }
        }
        Value::String(text) => vault.scrub(text).text().into(),
        Value::Array(items) => items.iter().map(|item| scrubbed(item, vault)).collect(),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                let shown = match is_hidden(key, value) {
                    true => HIDDEN.into(),
                    false => scrubbed(value, vault),
                };
                (vault.scrub(key).text().into_owned(), shown)
            };
            map.iter().map(entry).gathered::<Map<_, _>>().into()
        }
    }
}

/// Whether a key hides what is below it. A switch, and nothing at all, is not a secret.
fn is_hidden(key: &str, value: &Value) -> bool {
    is_secret_key(key)
        && match value {
            Value::Null | Value::Bool(_) => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Number(_) => true,
        }
}

/// The JSON pointer to a key below another.
#[must_use]
pub fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}
