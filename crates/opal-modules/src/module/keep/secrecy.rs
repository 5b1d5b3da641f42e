//! Which keys say that what they hold is a secret. Values are hidden by the vault, whatever their key
//! is; this is for values that nobody has told the vault about. What it hides of them all the same, by
//! what stands around them, is a secret too, wherever it is printed without that: see [`told`].

use opal_runtime::vault::{HIDDEN_ANYWHERE_FROM, Vault};
use serde_json::{Map, Value, json};

/// What takes the place of a secret.
pub const HIDDEN: &str = "<redacted>";

/// A word of a key that says secret wherever it stands in it.
const SECRET: &str = "\
    accesskey apikey apitoken authorization authtoken bearer clientsecret cookie cookies \
    credential credentials pass passcode passphrase passwd password passwords privatekey psk \
    pw pwd sas secret secretkey secrets token tokens webhook";

/// A word that makes a secret of the `key` behind it. Other keys are names, or public.
const OF_A_KEY: &str = "\
    access account api auth client encryption hmac master private recovery root secret \
    service session shared signing storage unseal";

/// The last word of a key that tells something about a secret and does not hold it.
const ABOUT: &str = "\
    address age algorithm arn at audience backend bucket count days description dir \
    directory enabled endpoint engine env envs expiration expires expiry file files format \
    hint host hours id ids issuer kind length lifetime limit manager max method min minutes mode \
    ms name names namespace path paths policy port present provider ref refs required rotation \
    s scope seconds size source status stdin ttl type var version";

/// The last word of a key that says where something is or whose it is: in a file of credentials, the
/// part that is no secret.
const PLAIN: &str = "\
    account api datacenter domain email host hostname insecure location node org \
    organisation organization pool port profile project realm region server subscription \
    tenant uri url user username vpc workspace zone";

/// Whether a key says that a secret is below it: `password`, `HCLOUD_TOKEN`, `clientSecret`,
/// `api-key`; not `token_ttl`, `private_key_file` or `secret_name`.
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let words = words(key);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let is_key = |pair: &[String]| is_among(OF_A_KEY, &pair[0]) && is_among("key keys", &pair[1]);
    let is_one = |word: &String| {
        // `pgpassword`, `htpasswd`.
        is_among(SECRET, word) || word.ends_with("password") || word.ends_with("passwd")
    };
    let is_named = words.iter().any(is_one);
    let says_secret = is_named || last == "auth" || words.windows(2).any(is_key);
    // Of all that ends like a name, this one is a password: of an application's role in Vault.
    let is_role = words.ends_with(&["secret".to_owned(), "id".to_owned()]);
    says_secret && (is_role || !is_among(ABOUT, last))
}

/// Whether a value among credentials is none: a place, an owner, a switch.
pub(in crate::module) fn is_plain_key(key: &str, value: &str) -> bool {
    let words = words(key);
    let last = words.last().map_or("", String::as_str);
    // A password may stand in a URL.
    let is_bare = !value.contains('@') || last == "email";
    is_bare && (is_among(ABOUT, last) || is_among(PLAIN, last)) && !is_secret_key(key)
}

/// Whether a number behind a key that says secret may be how many there are: `max_tokens`.
pub(in crate::module) fn is_count_key(key: &str) -> bool {
    const SEVERAL: &str = "cookies credentials keys passwords secrets tokens";
    words(key).last().is_some_and(|last| is_among(SEVERAL, last))
}

/// A text or number that a vault hides though nobody has told it about it.
#[derive(Clone, Copy)]
pub(in crate::module) struct Told<'v> {
    pub(in crate::module) value: &'v Value,
    /// All of it, and not a part.
    pub(in crate::module) is_whole: bool,
}

/// What a vault hides of a value by its key, by a name beside it (`{name: DB_PASSWORD, value: …}`) or
/// by how it looks; with where it stands, as a JSON pointer below `at`. This is what documents of the
/// evidence are hidden by, so that nothing is a secret there and none elsewhere.
pub(in crate::module) fn told<'v>(
    at: &str,
    key: &str,
    value: &'v Value,
) -> Vec<(String, Told<'v>)> {
    let shown = Vault::with_patterns().scrub(&format!("{:#}", json!({key: texts(value)})));
    let shown: Option<Map<String, Value>> = serde_json::from_slice(shown.bytes()).ok();
    let mut found = Vec::new();
    if let Some(shown) = shown.and_then(|map| map.into_values().next()) {
        compare(at, value, &shown, &mut found);
    }
    found
}

/// With every number as a text, which something else may stand in place of.
fn texts(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), texts(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

fn compare<'v>(at: &str, value: &'v Value, shown: &Value, found: &mut Vec<(String, Told<'v>)>) {
    match (value, shown) {
        (Value::Array(items), Value::Array(shown)) => {
            for (index, (item, shown)) in items.iter().zip(shown).enumerate() {
                compare(&format!("{at}/{index}"), item, shown, found);
            }
        }
        (Value::Object(map), Value::Object(shown)) => {
            for (key, value) in map {
                let shown = shown.get(key).unwrap_or(&Value::Null);
                compare(&below(at, key), value, shown, found);
            }
        }
        (Value::String(_) | Value::Number(_), Value::String(shown)) if texts(value) != *shown => {
            found.push((at.to_owned(), Told { value, is_whole: shown == HIDDEN }));
        }
        _ => {}
    }
}

/// The pointer to a key below another.
pub(in crate::module) fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// What is hidden in a text, each by itself: a tool may print the password of a URL without the rest.
/// That is only guessed at, so what is short is left alone.
pub(in crate::module) fn parts(text: &str) -> Vec<String> {
    let shown = Vault::with_patterns().scrub(text);
    let shown = shown.text();
    let mut pieces = shown.split(HIDDEN);
    let first = pieces.next().and_then(|first| text.strip_prefix(first));
    let (mut rest, mut found) = (first.unwrap_or_default(), Vec::new());
    for piece in pieces {
        let end = if piece.is_empty() { Some(rest.len()) } else { rest.find(piece) };
        let Some(end) = end else { break };
        let (part, after) = rest.split_at(end);
        rest = after.strip_prefix(piece).unwrap_or_default();
        if part.len() >= HIDDEN_ANYWHERE_FROM {
            found.push(part.to_owned());
        }
    }
    found
}

fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// `X-Auth-Token`, `authToken` and `AUTH_TOKEN` are the words `auth` and `token`.
fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = None;
    let mut letters = key.chars().peekable();
    while let Some(letter) = letters.next() {
        let follows_small = before.is_some_and(|c: char| !c.is_uppercase());
        let begins_small = letters.peek().is_some_and(|c| c.is_lowercase());
        let is_start = letter.is_uppercase() && (follows_small || begins_small);
        if is_start || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter.is_alphanumeric().then_some(letter);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_says_secret_in_any_spelling_is_one() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "DB_PASSWD",
            "adminPwd",
            "passphrase",
            "token",
            "HCLOUD_TOKEN",
            "hcloud-token",
            "vaultToken",
            "X-Auth-Token",
            "api_key",
            "apiKey",
            "APIKey",
            "apikey",
            "api-keys",
            "aws_secret_access_key",
            "client_secret",
            "clientSecret",
            "private_key",
            "private_key_pem",
            "ssh_private_key",
            "credentials",
            "secrets",
            "Authorization",
            "basic_auth",
            "cookie",
            "secret_id",
            "storage.account.key",
            "slackWebhook",
            "pw",
            "root_pw",
            "pgpassword",
            "htpasswd",
        ] {
            assert!(is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn a_key_that_only_tells_about_a_secret_is_none() {
        for key in [
            "",
            "_",
            "name",
            "key",
            "keys",
            "ssh_keys",
            "public_key",
            "token_ttl",
            "cookie_ttl_s",
            "access_key_hint",
            "password_length",
            "secret_name",
            "private_key_file",
            "api_key_id",
            "passwordPolicy",
            "token_env",
            "required_env",
            "auth_mode",
            "author",
            "bypass",
            "compass",
            "secretary",
            "tokenize",
            "monkey",
            "credential_ids",
            "secret_ref",
            "key_name",
            "sass",
            "primary_key",
        ] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn what_stands_around_a_value_tells_that_it_is_a_secret() {
        let value = json!({
            "env": [{"name": "DB_PASSWORD", "value": "named-7890"}, {"name": "SIZE", "value": "small"}],
            "dsn": "postgres://app:in-a-url-1@db/x", "deploy_key": 77_777, "name": "plain", "port": 5432,
        });
        let found: Vec<_> =
            told("/o", "o", &value).into_iter().map(|(at, one)| (at, one.is_whole)).collect();
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
