//! Whether a name is that of a secret: `password`, `DB_PASSWORD`, `hcloud-token`, `vaultToken`.
//!
//! A name is read in parts, however they are joined. A part that says secret makes the whole name
//! one, wherever it stands; a last part that says what is told *about* it (`token_ttl`,
//! `password_file`, `api_key_id`) makes it none.

use super::values::is_one_of;

/// What a name says of the value behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Any value behind it is one that nobody may see.
    Password,
    /// The same, and blanks may be in it.
    Passphrase,
    /// The same as a password, except where the name may be that of a thing: `team/token:latest`.
    Secret,
    /// Only what looks drawn by lot: `auth: Zm9vOmJhcg==`, but not `auth: required`.
    Perhaps,
    /// A header of a scheme and what it is proved with.
    Authorization,
    /// A header of many values.
    Cookie,
}

/// Of a longer name the end counts.
const LONGEST: usize = 128;

const PASSWORDS: &str = "passcode passwd password";

const SECRETS: &str = "\
    accesskey apikey authkey credential credentials privatekey secret secretkey token";

/// What a `key` is for that nobody may see. Others name things: `cache_key`, `public_key`.
const KEYS_TO: &str = "\
    access account admin api app auth client crypto decryption deploy encryption hmac jwt \
    licence license master preshared private recovery service session shared signing \
    subscription symmetric unseal webhook";

/// What has its key in parts, each as good as the whole.
pub(super) const SHARED_KEYS: &str = "recovery unseal";

/// Behind one of these, after a dot, stands the value of what is named before it.
const HOLDERS: &str = "plaintext result text value";

/// Last parts that describe.
const DESCRIBING: &str = "\
    age alg algorithm arn at attempts audience authentication backend bucket by change changed \
    class cmd command complexity count counts created date days description dir directory \
    disabled enabled endpoint endpoints env error errors exists expiration expire expired \
    expires expiry fd field file filename files fingerprint format generator group header \
    helper hint history host hours id ids index input interval issuer keyring kind label labels \
    len length limit limits location manager max maximum method min minimum minutes missing \
    mode name names namespace optional owner parser path paths period policies policy port \
    prefix present program prompt provider ref refs region request requests required \
    requirements reset response role roles rotation rules scope scopes script seconds selector \
    server service set size source state status stdin store strength suffix time timeout ttl \
    type types updated uri url urls usage used user username valid variable version";

/// First parts that ask for one, or say whether there is one.
const ASKING: &str = "ask has is needs no prompt require requires use validate without";

/// What `name` says, if anything. `in_query`: it stands in the query of a URL.
pub(super) fn key(name: &[u8], in_query: bool) -> Option<Key> {
    let name = &name[name.len().saturating_sub(LONGEST)..];
    if !may_say(name) {
        return None;
    }
    let dot = name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    let holds = is_one_of(&name[dot..], HOLDERS);
    let name = normal(if holds { name } else { &name[dot..] });
    let mut parts: Vec<&[u8]> =
        name.split(|byte| *byte == b'_').filter(|part| !part.is_empty()).collect();
    while parts.pop_if(|part| part.iter().all(u8::is_ascii_digit)).is_some() {}
    let last = without_number(parts.pop()?);
    parts.push(last);
    let key = said(&parts, last, in_query)?;
    match parts[..] {
        // As good as a password in Vault, and the name of one elsewhere.
        [.., b"secret", b"id"] => Some(Key::Perhaps),
        // Of a certificate, which everybody may see.
        [.., b"cert", b"hash"] => None,
        _ if is_one_of(last, DESCRIBING) => None,
        [first, _, ..] if is_one_of(first, ASKING) => Some(Key::Perhaps),
        _ => Some(key),
    }
}

/// Every part that says something has one of these in it, or is `pw`.
const STEMS: [[u8; 3]; 10] =
    [*b"pas", *b"pwd", *b"psk", *b"sec", *b"sig", *b"tok", *b"cre", *b"key", *b"aut", *b"coo"];

/// Most names are passed over at once.
fn may_say(name: &[u8]) -> bool {
    let says = |here: &[u8]| match &[0, 1, 2].map(|index| here[index].to_ascii_lowercase()) {
        [_, b'p', b'w'] => true,
        stem => STEMS.contains(stem),
    };
    name.windows(3).any(says) || name.eq_ignore_ascii_case(b"pw")
}

fn said(parts: &[&[u8]], last: &[u8], in_query: bool) -> Option<Key> {
    let any_ends = |words: &str| {
        let ends = |part: &&[u8]| words.split(' ').any(|word| part.ends_with(word.as_bytes()));
        parts.iter().any(ends)
    };
    let is_key = |pair: &[&[u8]]| match pair[1] {
        b"key" => is_one_of(pair[0], KEYS_TO),
        b"keys" => is_one_of(pair[0], SHARED_KEYS),
        _ => false,
    };
    match last {
        b"authorization" => Some(Key::Authorization),
        b"cookie" if matches!(parts, [_] | [b"set", _]) => Some(Key::Cookie),
        _ if any_ends("passphrase") => Some(Key::Passphrase),
        _ if any_ends(PASSWORDS) => Some(Key::Password),
        b"pwd" | b"pw" | b"pass" if parts.len() > 1 => Some(Key::Password),
        _ if any_ends(SECRETS) || parts.windows(2).any(is_key) => Some(Key::Secret),
        b"psk" | b"cookie" => Some(Key::Secret),
        b"sig" | b"signature" if in_query => Some(Key::Secret),
        b"pwd" | b"pw" | b"pass" | b"auth" => Some(Key::Perhaps),
        b"tokens" | b"secrets" | b"passwords" => Some(Key::Perhaps),
        _ => None,
    }
}

/// In small letters, with `_` between all parts: `X-Auth-Token`, `DBPassword`, `apiKey`.
fn normal(name: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(name.len() + 8);
    for (index, byte) in name.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| name[before]);
        let after = name.get(index + 1);
        let begins_part = byte.is_ascii_uppercase()
            && before.is_some_and(|before| match before.is_ascii_uppercase() {
                true => after.is_some_and(u8::is_ascii_lowercase),
                false => before.is_ascii_alphanumeric(),
            });
        if begins_part {
            normal.push(b'_');
        }
        normal.push(match byte {
            b'-' | b'.' => b'_',
            _ => byte.to_ascii_lowercase(),
        });
    }
    normal
}

/// Without the number at the end, unless it is nothing else.
fn without_number(part: &[u8]) -> &[u8] {
    let end = part.iter().rposition(|byte| !byte.is_ascii_digit());
    &part[..end.map_or(part.len(), |end| end + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_in_parts_however_they_are_joined() {
        let is_all = |names: &str, expected: Option<Key>| {
            for name in names.split(' ') {
                assert_eq!(key(name.as_bytes(), false), expected, "{name}");
            }
        };
        is_all("password DB_PASSWORD dbPassword PGPASSWORD DBPassword", Some(Key::Password));
        is_all("db.password password2 password_1 MYSQL_PWD admin-pw", Some(Key::Password));
        is_all("passphrase sshPassphrase SSH_PASSPHRASE", Some(Key::Passphrase));
        is_all("token hcloud-token vaultToken X-Auth-Token psk", Some(Key::Secret));
        is_all("aws_secret_access_key apiKey api-key APIKey apikey", Some(Key::Secret));
        is_all("AccountKey private_key_pem CREDENTIALS client_secret", Some(Key::Secret));
        is_all("secret_key_base random_password.db.token secret.value", Some(Key::Secret));
        is_all("unseal_keys_b64 recovery_keys_hex", Some(Key::Secret));
        is_all("auth _auth pass PWD tokens basic_auth", Some(Key::Perhaps));
        is_all("secret_id use_password ask-vault-pass", Some(Key::Perhaps));
        is_all("Authorization Proxy-Authorization", Some(Key::Authorization));
        is_all("Cookie Set-Cookie", Some(Key::Cookie));
        is_all("token_ttl password_length secretName tokenID api_key_id token_ttl_2", None);
        is_all("secretary tokenizer random_password.db cache_key public_key author", None);
        is_all("discovery-token-ca-cert-hash unseal_threshold api_keys", None);
        is_all("key compass _ password. 1 sig primary-key passwordFile", None);
        assert_eq!(key(b"X-Amz-Signature", true), Some(Key::Secret));
        assert_eq!(key(b"", true), None);
    }
}
