//! Which inputs are secret: what a key calls one, what the schema says is only to be written, and a
//! text with something in it that would be hidden whoever printed it, or is in the evidence. Such a text is a secret as a
//! whole: a plan has no place for half of one.
//!
//! They are known by their places, as JSON pointers, so that a plan can name them without holding them.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::Data;
use opal_core::class::{HIDDEN_ALONE_FROM as SHORTEST, HIDDEN_ANYWHERE_FROM};
use opal_vault::{HiddenLeaf, looks_secret};
use serde_json::{Map, Value};

use crate::inputs::{Given, Schema};
pub(super) use crate::keep::below;
use crate::keep::{self, is_count_key, is_plain_key, is_secret_key};
use opal_core::gather::Gather as _;

/// Whether a secret cannot be hidden.
pub(super) fn is_short(secret: &Data) -> bool {
    match secret {
        Data::Text(text) => text.expose().chars().count() < SHORTEST,
        Data::Int(number) => number.to_string().len() < SHORTEST,
        _ => false,
    }
}

/// The secret inputs, by where they are.
pub(super) fn find(inputs: &Map<String, Value>, schema: Option<&Schema>) -> BTreeMap<String, Data> {
    let found = search(inputs, schema).found.into_iter();
    found.map(|(at, Found { secret, .. })| (at, secret)).gathered()
}

/// What is secret in those of them that are documents of JSON, value by value: Terraform shows one as
/// `jsonencode({…})`.
pub(super) fn in_documents(inputs: &Map<String, Value>, schema: Option<&Schema>) -> Vec<Data> {
    search(inputs, schema).in_documents
}

/// The same for a value that is secret as a whole.
pub(super) fn in_documents_of(secret: &Value) -> Vec<Data> {
    let mut search = Search::default();
    search.walk("", secret, Says::Key);
    search.in_documents
}

fn search(inputs: &Map<String, Value>, schema: Option<&Schema>) -> Search {
    let declared = schema.map(|schema| schema.secrets(inputs)).unwrap_or_default();
    let mut search = Search { declared, ..Search::default() };
    for (key, value) in inputs {
        let at = below("", key);
        search.walk(&at, value, Says::Nobody.of(key, value));
        let guessed =
            guessed(&at, key, value).map(|(at, secret)| (at, Found { secret, says: Says::Key }));
        search.found.extend(guessed);
    }
    search
}

/// What is hidden in evidence, whatever is said of it here. That is only guessed at, so what is short is
/// left alone.
fn guessed(at: &str, key: &str, value: &Value) -> impl Iterator<Item = (String, Data)> {
    let found = keep::guessed(at, key, value).into_iter();
    found.filter_map(|(at, HiddenLeaf { value, .. })| {
        let secret = match value {
            Value::String(text) => Data::text(text.clone()),
            Value::Number(number) => crate::value::number(number),
            _ => return None,
        };
        (!is_short(&secret)).then_some((at, secret))
    })
}

/// What variables say that is secret, as they say it and as it is read; also those whose word does not
/// count. The tools have the same environment, and may print it.
pub(super) fn said(given: &Given, schema: Option<&Schema>) -> Vec<Data> {
    let mut found = Vec::new();
    for (path, text) in &given.variables {
        let read = serde_json::from_str(text).ok();
        for value in read.into_iter().chain([Value::String(text.clone())]) {
            let put = |value, key: &str| Value::Object(Map::from_iter([(key.to_owned(), value)]));
            if let Value::Object(inputs) = path.rsplit("__").fold(value, put) {
                found.extend(find(&inputs, schema).into_values());
            }
        }
    }
    found
}

/// What the variables of a profile hold that may be secret. Those that say so have been refused; here
/// it is better to hide too much.
pub(super) fn of_profile(env: &Map<String, Value>) -> impl Iterator<Item = Data> {
    let texts = env.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts
        .filter(|(name, text)| is_secret_key(name) || looks_secret(text))
        .map(|(_, text)| Data::text(text))
}

/// What is hidden in the texts among these, each by itself.
pub(super) fn parts<'s>(secrets: impl Iterator<Item = &'s Data>) -> Vec<Data> {
    let texts = secrets.filter_map(|secret| match secret {
        Data::Text(text) => Some(keep::parts(text.expose())),
        _ => None,
    });
    texts.flatten().map(Data::text).collect()
}

/// Who says that something is secret, from the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Nobody,
    /// The key `auth`: `ldap` is none, and `YWRtaW46` may be one.
    Auth,
    /// A key above, or one of several: a short number is a count, whatever its key sounds like.
    Loosely,
    Key,
    Schema,
}

impl Says {
    /// For what follows a key, where this is said of all that the key is among.
    fn of(self, key: &str, value: &Value) -> Self {
        if self == Self::Schema {
            self
        } else if key.eq_ignore_ascii_case("auth") && self == Self::Nobody {
            Self::Auth
        } else if is_secret_key(key) {
            if is_count_key(key) { Self::Loosely } else { Self::Key }
        } else if self == Self::Nobody || is_plain_key(key, value.as_str().unwrap_or_default()) {
            Self::Nobody
        } else {
            Self::Loosely
        }
    }

    fn hides(self, text: &str) -> bool {
        let is_word = || text.chars().all(|c| c.is_ascii_lowercase() || "_-".contains(c));
        match self {
            Self::Nobody => false,
            Self::Auth => !is_word(),
            Self::Loosely | Self::Key | Self::Schema => !text.is_empty(),
        }
    }
}

struct Found {
    secret: Data,
    says: Says,
}

impl Found {
    /// Whether it is worth hiding in a document. Where only what is around it says that it is secret,
    /// that is guessed at, and what is short is left alone.
    fn is_long(&self) -> bool {
        let least = if self.says >= Says::Key { SHORTEST } else { HIDDEN_ANYWHERE_FROM };
        match &self.secret {
            Data::Text(text) => text.expose().len() >= least,
            Data::Int(number) => number.to_string().len() >= least,
            Data::Float(number) => number.to_string().len() >= least,
            _ => false,
        }
    }
}

#[derive(Default)]
struct Search {
    declared: BTreeSet<String>,
    found: BTreeMap<String, Found>,
    in_documents: Vec<Data>,
}

impl Search {
    fn walk(&mut self, at: &str, value: &Value, says: Says) {
        let says = if self.declared.contains(at) { Says::Schema } else { says };
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    self.walk(&below(at, key), value, says.of(key, value));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(&format!("{at}/{index}"), item, says);
                }
            }
            Value::String(text) if says.hides(text) || looks_secret(text) => {
                let secret = Data::text(text.clone());
                self.found.insert(at.to_owned(), Found { secret, says });
                if says.hides(text) {
                    self.look_into(text, says);
                }
            }
            Value::Number(number) if says >= Says::Loosely => {
                let secret = crate::value::number(number);
                if says > Says::Loosely || !is_short(&secret) {
                    self.found.insert(at.to_owned(), Found { secret, says });
                }
            }
            Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => {}
        }
    }

    /// What is secret in a text that is a document of JSON, as it would be in the input itself.
    fn look_into(&mut self, text: &str, says: Says) {
        let read = serde_json::from_str(text).ok();
        let Some(document) = read.filter(|it: &Value| it.is_object() || it.is_array()) else {
            return;
        };
        let mut within = Self::default();
        // That is said of the text, and not of everything in it.
        within.walk("", &document, says.min(Says::Loosely));
        let long = within.found.into_values().filter(Found::is_long);
        self.in_documents.extend(long.map(|found| found.secret));
        self.in_documents.append(&mut within.in_documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places(inputs: &Value, schema: Option<&Schema>) -> Vec<String> {
        find(inputs.as_object().unwrap(), schema).into_keys().collect()
    }

    #[test]
    fn a_key_or_the_schema_makes_an_input_secret() {
        let inputs = json!({
            "name": "world",
            "db": {"password": "p", "port": 5432, "password_env": "DB_PASSWORD"},
            "api_tokens": ["a", {"value": 7777}],
            "a/b": {"pin": 1234},
            "token": "", "max_tokens": 5,
        });
        let schema = json!({"properties": {"a/b": {"properties": {"pin": {"writeOnly": true}}}}});
        let schema = Schema::here(&schema.to_string()).unwrap();
        let expected = ["/api_tokens/0", "/api_tokens/1/value", "/a~1b/pin", "/db/password"];
        assert_eq!(places(&inputs, Some(&schema)), expected);
    }

    #[test]
    fn what_is_in_a_secret_document_is_hidden_as_in_an_object_unless_it_is_plain_or_short() {
        let key = json!({"alpha": "canary-1", "project_id": "demo-1234", "size": "small",
                         "list": ["canary-2", "short", {"client_email": "robot@example.test"}],
                         "n": 1_234_567, "pin": 12_345_678, "password": "Sh0r4", "pass": 4711,
                         "token": "abc", "region_pin": 12_345_678.5});
        let inputs = json!({"account": key.to_string(), "config": key.to_string(), "name": "[1]"});
        let schema = Schema::here(r#"{"properties": {"account": {"writeOnly": true}}}"#).unwrap();
        let found = |schema| in_documents(inputs.as_object().unwrap(), schema);
        let texts = |found: Vec<Data>| -> Vec<String> {
            let text = |secret| match secret {
                Data::Text(text) => text.expose().to_owned(),
                Data::Int(number) => number.to_string(),
                Data::Float(number) => number.to_string(),
                _ => panic!("neither a text nor a number"),
            };
            found.into_iter().map(text).collect()
        };
        let hidden = ["canary-1", "canary-2", "4711", "Sh0r4", "12345678", "12345678.5"];
        assert_eq!(texts(found(Some(&schema))), hidden);
        assert_eq!(texts(found(None)), [""; 0], "nobody says that they are secret");
        assert_eq!(texts(in_documents_of(&json!([key.to_string()]))), hidden);
    }

    #[test]
    fn what_evidence_hides_is_a_secret() {
        let inputs = json!({
            "root_pw": "canary", "htpasswd": "canary", "PGPASSWORD": "canary", "deploy_key": 77_777,
            "env": [{"name": "DB_PASSWORD", "value": "canary"}, {"name": "SIZE", "value": "small"}],
            "pw": "canary", "token_ttl_s": 900, "size": "small",
        });
        let expected =
            ["/PGPASSWORD", "/deploy_key", "/env/0/value", "/htpasswd", "/pw", "/root_pw"];
        assert_eq!(places(&inputs, None), expected);
    }

    #[test]
    fn a_text_with_a_secret_in_it_is_one_as_a_whole() {
        let inputs = json!({
            "conn": "postgres://app:Hunter2Canary@db/x", "list": ["Authorization: Bearer abcdef0123456789"],
            "key": "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "url": "https://a@b/c",
        });
        assert_eq!(places(&inputs, None), ["/conn", "/key", "/list/0"]);
    }

    #[test]
    fn a_key_that_only_tells_about_a_secret_ends_what_its_parent_said() {
        let inputs = json!({
            "credentials": {"mode": "env", "user": "app", "retries": 3, "value": "x9", "uri": "a://b:c@d"},
            "auth": "off", "basic": {"auth": ["ldap", "YWRtaW46"]}, "secret": {"path": {"deep": "x"}},
        });
        let expected = ["/basic/auth/1", "/credentials/uri", "/credentials/value"];
        assert_eq!(places(&inputs, None), expected);
        let schema = Schema::here(r#"{"properties": {"auth": {"writeOnly": true}}}"#).unwrap();
        assert_eq!(places(&json!({"auth": {"mode": "env"}}), Some(&schema)), ["/auth/mode"]);
    }

    #[test]
    fn a_number_after_a_key_of_one_secret_is_that_secret_however_short() {
        let inputs = json!({"db_password": 123, "max_tokens": 5, "api_keys": [1, 77_777]});
        assert_eq!(places(&inputs, None), ["/api_keys/1", "/db_password"]);
    }

    #[test]
    fn a_variable_is_hidden_as_it_was_written_and_as_it_was_read() {
        let variables = [
            ("db_password", "1.50e3"),
            ("db", r#"{"token": "canary-1", "name": "x"}"#),
            ("name", "plain"),
        ];
        let variables = variables.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
        let given = Given { variables, ..Given::default() };
        let texts: Vec<String> = said(&given, None)
            .iter()
            .map(|secret| match secret {
                Data::Text(text) => text.expose().to_owned(),
                Data::Float(number) => number.to_string(),
                _ => panic!("neither a text nor a number"),
            })
            .collect();
        let whole = r#"{"token": "canary-1", "name": "x"}"#;
        assert_eq!(texts, ["1500", "1.50e3", "canary-1", whole]);
    }
}
