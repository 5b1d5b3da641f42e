//! Which values of documents are secrets. The names that say so are in [`opal_core::class::name`].
//! Values are hidden by the vault, whatever their key is; this is for values that nobody has
//! registered. What it hides of them all the same, by what is around them, is a secret too, wherever
//! it is printed without that: see [`guessed`].

use opal_core::class::{HIDDEN_ANYWHERE_FROM, name};
use opal_vault::{HiddenLeaf, Vault};
use serde_json::Value;

pub use opal_core::class::name::is_field as is_secret_key;
pub(crate) use opal_core::class::name::is_of_several as is_count_key;
pub use opal_vault::HIDDEN;
pub(crate) use opal_vault::below;

/// The last word of a key that says where something is or whose it is: in a file of credentials,
/// the part that is not a secret.
const PLAIN: &str = "\
    account api datacenter domain email host hostname insecure location node org \
    organisation organization pool port profile project realm region server subscription \
    tenant uri url user username vpc workspace zone";

/// Whether a value among credentials is none: a place, an owner, a switch.
pub(crate) fn is_plain_key(key: &str, value: &str) -> bool {
    let last = last_word(key);
    // A password may be part of a URL.
    let is_bare = !value.contains('@') || last == "email";
    is_bare && (name::describes(key) || is_among(PLAIN, &last)) && !is_secret_key(key)
}

/// What a vault hides of a value though nobody has registered it; with where it is, as a JSON pointer
/// below `at`.
pub(crate) fn guessed<'v>(at: &str, key: &str, value: &'v Value) -> Vec<(String, HiddenLeaf<'v>)> {
    Vault::with_patterns().hidden_leaves(at, key, value)
}

/// What is hidden in a text, each by itself: a tool may print the password of a URL without the rest.
/// That is only guessed at, so what is short is left alone.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let hidden = Vault::with_patterns().hidden_in(text).into_iter();
    let parts = hidden.map(|hidden| &text[hidden.range]);
    parts.filter(|part| part.len() >= HIDDEN_ANYWHERE_FROM).map(str::to_owned).collect()
}

fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// `project` in `gcpProject`, `gcp-project` and `GCP_PROJECT`.
fn last_word(key: &str) -> String {
    let start = key.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1);
    let word = &key[start..];
    let is_mixed = word.contains(|c: char| c.is_lowercase());
    let upper = word.rfind(|c: char| c.is_uppercase()).filter(|_| is_mixed);
    word[upper.unwrap_or(0)..].to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_around_a_value_tells_that_it_is_a_secret() {
        let value = json!({
            "env": [{"name": "DB_PASSWORD", "value": "named-7890"}, {"name": "SIZE", "value": "small"}],
            "dsn": "postgres://app:in-a-url-1@db/x", "deploy_key": 77_777, "name": "plain", "port": 5432,
        });
        let found: Vec<_> =
            guessed("/o", "o", &value).into_iter().map(|(at, one)| (at, one.is_whole)).collect();
        let expected = [("/o/deploy_key", true), ("/o/dsn", false), ("/o/env/0/value", true)];
        assert_eq!(found, expected.map(|(at, is_whole)| (at.to_owned(), is_whole)));
    }

    #[test]
    fn what_is_hidden_in_a_text_is_known_by_itself_too() {
        assert_eq!(parts("postgres://app:Hunter2Canary@db/x"), ["Hunter2Canary"]);
        let both = parts("a://u:canary-001@h b://u:canary-002@h");
        assert_eq!(both, ["canary-001", "canary-002"]);
        assert_eq!(parts("postgres://app:short@db/x"), [""; 0]);
        assert_eq!(parts("plain"), [""; 0]);
    }

    #[test]
    fn among_credentials_a_place_is_plain_and_everything_unknown_is_not() {
        for (key, value) in [
            ("project_id", "demo-1234"),
            ("AWS_REGION", "eu-central-1"),
            ("hcloud_api", "https://api.example.test"),
            ("client_email", "robot@example.test"),
        ] {
            assert!(is_plain_key(key, value), "{key}");
        }
        for (key, value) in [
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("value", "x"),
            ("", "x"),
            ("hcloud_token", "x"),
            ("webhook_url", "https://hooks.example.test/a/b"),
        ] {
            assert!(!is_plain_key(key, value), "{key}");
        }
    }
}
