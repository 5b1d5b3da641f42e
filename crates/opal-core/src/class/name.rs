//! Whether a name is that of a secret: `password`, `DB_PASSWORD`, `hcloud-token`, `vaultToken`.
//!
//! A name is read in parts, however they are joined. A part that says secret makes the whole name
//! one, wherever it is; a last part that says something *about* the secret (`token_ttl`,
//! `password_file`, `api_key_id`) makes it none.
//!
//! How much a name has to say depends on where it is. A variable that was asked for by its name is
//! a secret at the first hint ([`is_secret`]); a key of a document needs more, because documents
//! have keys of all kinds ([`is_field`]); a word in the output of a program needs most
//! ([`in_text`]). All three read the same lists.

/// What a name in the output of a program says of the value after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Any value after it is one that nobody may see.
    Password,
    /// The same, and blanks may be in it.
    Passphrase,
    /// The same as a password, except where the name may be that of a thing: `team/token:latest`.
    Secret,
    /// Only what looks random: `auth: Zm9vOmJhcg==`, but not `auth: required`.
    Perhaps,
    /// A header of a scheme and its credentials.
    Authorization,
    /// A header of many values.
    Cookie,
}

/// Of a longer name the end counts.
const LONGEST: usize = 128;

const PASSWORDS: &str = "passcode passwd password";

const SECRETS: &str = "\
    accesskey apikey authkey credential credentials privatekey secret secretkey token";

/// Several of them, or less sure: enough for a variable and for a key of a document.
const FIELDS: &str = "\
    apikeys authorization bearer cookie cookies pass passwords psk pw sas secrets sshpass \
    tokens webhook";

/// Enough for a variable.
const VARIABLES: &str = "auth dsn key";

/// What a `key` is for that nobody may see. Others name things: `cache_key`, `public_key`.
const KEYS_TO: &str = "\
    access account admin api app auth client crypto decryption deploy encryption hmac jwt \
    licence license master preshared private recovery root secret service session shared \
    signing storage subscription symmetric unseal webhook";

/// What has its key in parts, each as good as the whole.
pub const SHARED_KEYS: &str = "recovery unseal";

/// A `key` of these is a name, or for everybody.
const KEYS_OF_THINGS: &str = "\
    any arrow cache composite foreign group hot index object partition primary public routing \
    shard shortcut sort unique";

/// One of these after a dot names the value of what is named before it.
const HOLDERS: &str = "plaintext result text value";

/// Last parts that describe.
const DESCRIBING: &str = "\
    addr address age agent alg algorithm arn at attempts audience authentication backend bucket \
    by change changed class cmd command complexity count counts created date days description \
    dir directory disabled domain enabled endpoint endpoints engine env envs error errors exists \
    expiration expire expired expires expiry fd field file filename files fingerprint format \
    generator group header helper hint history host hours httponly id ids index input interval \
    issuer keyring kind label labels layout len length lifetime limit limits location manager \
    max maximum method min minimum minutes missing mode ms name names namespace optional owner \
    parser path paths period pid policies policy port prefix present program prompt provider ref \
    refs region repeat request requests required requirements reset response role roles rotation \
    rules s samesite scope scopes script seconds secure selector server service set sid size \
    sock socket source state status stdin store strength suffix through time timeout ttl type \
    types updated uri url urls usage used user username valid var variable version";

/// First parts that ask for one, say whether there is one, or count them.
const ASKING: &str = "\
    ask has is max min needs no num prompt require requires total use validate without";

/// Whether a variable of this name holds a secret: `API_KEY`, `PGPASSWORD`, `SENTRY_DSN`; not
/// `KEYBOARD_LAYOUT`, `GIT_AUTHOR_NAME`, `TOKEN_TTL` or `SSH_AUTH_SOCK`.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = normal(tail(name.as_bytes()));
    let parts = parts(&name);
    !asks(&parts) && is_variable_of(&parts)
}

/// Whether a variable of this name is a secret, unless its first part asks for one: `USE_TOKEN` may
/// be `yes`, and `NO_IP_PASSWORD` the password of a service. The value decides. Of several there is
/// a number: `MAX_TOKENS`.
#[must_use]
pub fn asks_for_secret(name: &str) -> bool {
    let is_of_several = is_of_several(name);
    let name = normal(tail(name.as_bytes()));
    let parts = parts(&name);
    asks(&parts) && !is_of_several && is_variable_of(&parts)
}

fn asks(parts: &[&[u8]]) -> bool {
    parts.len() > 1 && is_among(parts[0], ASKING)
}

fn is_variable_of(parts: &[&[u8]]) -> bool {
    let is_key = |pair: &[&[u8]]| pair[1] == b"key" && is_among(pair[0], KEYS_OF_THINGS);
    let says = |part: &&[u8]| is_among(part, VARIABLES);
    let is_hinted = parts.iter().any(says) && !parts.windows(2).any(is_key);
    is_field_of(parts) || is_hinted && !describes_of(parts)
}

/// Whether a key of a document says that a secret is below it: `password`, `HCLOUD_TOKEN`,
/// `clientSecret`, `api-keys`; not `token_ttl`, `private_key_file`, `secret_name` or `key`.
#[must_use]
pub fn is_field(name: &str) -> bool {
    is_field_of(&parts(&normal(tail(name.as_bytes()))))
}

/// Whether a name ends in a word that only describes: `token_ttl`, `host`.
#[must_use]
pub fn describes(name: &str) -> bool {
    describes_of(&parts(&normal(tail(name.as_bytes()))))
}

/// Whether a name is that of several secrets, so that a number after it may be their count:
/// `max_tokens`.
#[must_use]
pub fn is_of_several(name: &str) -> bool {
    let several = "cookies credentials keys passwords secrets tokens";
    parts(&normal(tail(name.as_bytes()))).last().is_some_and(|last| is_among(last, several))
}

/// What `name` says in the output of a program, if anything. `in_query`: it is part of the query
/// of a URL.
#[must_use]
pub fn in_text(name: &[u8], in_query: bool) -> Option<Says> {
    let name = tail(name);
    if !may_say(name) {
        return None;
    }
    let dot = name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    let holds = is_among(&name[dot..], HOLDERS);
    let name = normal(if holds { name } else { &name[dot..] });
    let parts = parts(&name);
    let says = said(&parts, in_query)?;
    match parts[..] {
        // As good as a password in Vault, and the name of one elsewhere.
        [.., b"secret", b"id"] => Some(Says::Perhaps),
        // Of a certificate, which everybody may see.
        [.., b"cert", b"hash"] => None,
        _ if describes_of(&parts) => None,
        [first, _, ..] if is_among(first, ASKING) => Some(Says::Perhaps),
        _ => Some(says),
    }
}

/// Every part that says something in a text has one of these in it, or is `pw`.
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

fn said(parts: &[&[u8]], in_query: bool) -> Option<Says> {
    let last = *parts.last()?;
    match last {
        b"authorization" => Some(Says::Authorization),
        b"cookie" if matches!(parts, [_] | [b"set", _]) => Some(Says::Cookie),
        _ if any_ends(parts, "passphrase") => Some(Says::Passphrase),
        _ if any_ends(parts, PASSWORDS) => Some(Says::Password),
        b"pwd" | b"pw" | b"pass" if parts.len() > 1 => Some(Says::Password),
        _ if any_ends(parts, SECRETS) || has_key(parts, SHARED_KEYS) => Some(Says::Secret),
        b"psk" | b"cookie" => Some(Says::Secret),
        b"sig" | b"signature" if in_query => Some(Says::Secret),
        b"pwd" | b"pw" | b"pass" | b"auth" => Some(Says::Perhaps),
        b"tokens" | b"secrets" | b"passwords" => Some(Says::Perhaps),
        _ => None,
    }
}

fn is_field_of(parts: &[&[u8]]) -> bool {
    // Of all that ends like a name, these are as good as a password: of an application's role in
    // Vault, and of a place that takes whatever is sent to it.
    if let [.., b"secret", b"id"] | [.., b"webhook", b"url" | b"urls"] = parts {
        return true;
    }
    let is_field = |part: &&[u8]| is_among(part, FIELDS);
    let says_secret = any_ends(parts, PASSWORDS)
        || any_ends(parts, "passphrase")
        || any_ends(parts, SECRETS)
        || has_key(parts, KEYS_TO)
        || parts.iter().any(is_field)
        || matches!(parts, [.., b"auth"] | [_, .., b"pwd"]);
    says_secret && !describes_of(parts)
}

fn describes_of(parts: &[&[u8]]) -> bool {
    parts.last().is_some_and(|last| is_among(last, DESCRIBING))
}

/// Whether a part ends in one of these words: `pgpassword`, `authtoken`.
fn any_ends(parts: &[&[u8]], words: &str) -> bool {
    let ends = |part: &&[u8]| words.split(' ').any(|word| part.ends_with(word.as_bytes()));
    parts.iter().any(ends)
}

/// Whether there is a key to what nobody may see; with several of them for `several` only.
fn has_key(parts: &[&[u8]], several: &str) -> bool {
    parts.windows(2).any(|pair| match pair[1] {
        b"key" => is_among(pair[0], KEYS_TO),
        b"keys" => is_among(pair[0], several),
        _ => false,
    })
}

/// Whether `word` is among words with blanks between, in letters of any case.
fn is_among(word: &[u8], words: &str) -> bool {
    words.split(' ').any(|one| one.as_bytes().eq_ignore_ascii_case(word))
}

fn tail(name: &[u8]) -> &[u8] {
    &name[name.len().saturating_sub(LONGEST)..]
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
            byte if byte.is_ascii_punctuation() || *byte == b' ' => b'_',
            _ => byte.to_ascii_lowercase(),
        });
    }
    normal
}

/// The parts of a normal name. Numbers at their ends tell nothing: `password_1`, `token2`.
fn parts(normal: &[u8]) -> Vec<&[u8]> {
    let is_part = |part: &&[u8]| !part.is_empty();
    let mut parts: Vec<&[u8]> =
        normal.split(|byte| *byte == b'_').filter(is_part).map(without_number).collect();
    while parts.pop_if(|part| part.iter().all(u8::is_ascii_digit)).is_some() {}
    parts
}

/// Without the number at the end, unless it is nothing else.
fn without_number(part: &[u8]) -> &[u8] {
    let end = part.iter().rposition(|byte| !byte.is_ascii_digit());
    &part[..end.map_or(part.len(), |end| end + 1)]
}

#[cfg(test)]
mod tests;
