//! Which keys say that what they hold is a secret. Values are hidden by the vault, whatever their key
//! is; this is for values that nobody has told the vault about.

/// What takes the place of a secret.
pub const HIDDEN: &str = "<redacted>";

/// A word of a key that says secret wherever it stands in it.
const SECRET: &str = "\
    accesskey apikey apitoken authorization authtoken bearer clientsecret cookie cookies \
    credential credentials pass passcode passphrase passwd password passwords privatekey psk \
    pwd sas secret secretkey secrets token tokens webhook";

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
    let is_named = words.iter().any(|word| is_among(SECRET, word));
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
