//! Hides what is secret in outputs.

use opal_core::Data;
use opal_vault::{HiddenLeaf, Vault};
use serde_json::Value;

use super::is_secret;
use crate::keep::{HIDDEN, guessed, is_secret_key, parts};
use crate::run::driver::Outputs;
use crate::run::secrets::in_documents_of;
use crate::value::data;

/// Hides what is secret in outputs from now on.
pub(super) fn conceal_outputs(outputs: &Outputs, vault: &Vault) {
    for (name, value) in &outputs.values {
        conceal(value, is_secret(outputs, name), vault);
        conceal_guessed(name, value, vault);
    }
}

/// Hides what is secret in a value from now on.
fn conceal(value: &Value, is_secret: bool, vault: &Vault) {
    match value {
        _ if is_secret => {
            let within = in_documents_of(value).into_iter();
            within.chain([data(value)]).for_each(|it| vault.register(&it, HIDDEN));
        }
        Value::Array(items) => items.iter().for_each(|item| conceal(item, false, vault)),
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| conceal(value, is_secret_key(key), vault));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The same for what evidence hides by what is around it: it may be printed without that.
fn conceal_guessed(name: &str, value: &Value, vault: &Vault) {
    for (_, HiddenLeaf { value, is_whole }) in guessed("", name, value) {
        let whole = is_whole.then(|| data(value));
        let parts = parts(value.as_str().unwrap_or_default()).into_iter().map(Data::text);
        whole.into_iter().chain(parts).for_each(|secret| vault.register(&secret, HIDDEN));
    }
}
