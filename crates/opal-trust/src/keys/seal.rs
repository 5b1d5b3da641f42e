//! The age format, and the only place that knows the crate `age`.

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;

use age::secrecy::ExposeSecret;
use age::{DecryptError, x25519};
use opal_core::wiped::Wiped;

use super::error::KeyFault;
use super::{KeyError, KeyErrorKind, MAX_KEY_BYTES};
use opal_vault::root;

/// The public half of a runner key, `age1…`: an envelope can be sealed to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient(x25519::Recipient);

/// The private half, `AGE-SECRET-KEY-1…`. The crate wipes it when it is dropped.
#[derive(Clone)]
pub(super) struct Identity(x25519::Identity);

/// Why sealed bytes gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    NotARecipient,
    Damaged,
}

/// Points of small order: a shared secret with them is zero, so whoever saw the file could open it,
/// and the crate panics. No key has them for its public half.
const SMALL_ORDER: [&str; 14] = [
    "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",
    "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzqqsuwj9m",
    "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya",
    "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzqqk67yly",
    "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhqqqzyt4v9",
    "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhzqqxqejhu",
    "age1t7wft09r2zxzfvwsk92eeql0tvzyghxytqwgapkcyf8dm5ylz9ts6wm9s8",
    "age1t7wft09r2zxzfvwsk92eeql0tvzyghxytqwgapkcyf8dm5ylz8ts72fzt7",
    "age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m",
    "age1anllllllllllllllllllllllllllllllllllllllllllllllllls3hcv9z",
    "age1ahlllllllllllllllllllllllllllllllllllllllllllllllalsn46ayy",
    "age1ahlllllllllllllllllllllllllllllllllllllllllllllllllsh3g6la",
    "age1amlllllllllllllllllllllllllllllllllllllllllllllllalselrwrv",
    "age1amlllllllllllllllllllllllllllllllllllllllllllllllllsam3fc4",
];

impl Identity {
    pub(super) fn generate() -> Self {
        Self(x25519::Identity::generate())
    }

    /// The first key of a text in the form of age's identity files: a line a key, and comments
    /// after `#`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        line.parse().ok().map(Self)
    }

    pub(super) fn text(&self) -> Wiped<String> {
        Wiped::new(self.0.to_string().expose_secret().to_owned())
    }

    pub(super) fn recipient(&self) -> Recipient {
        Recipient(self.0.to_public())
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        // Whoever pastes the private half must not see it in a log again.
        if text.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("AGE-SECRET-KEY-")) {
            return Err(KeyFault::RecipientIsPrivate.into());
        }
        let parsed: Option<x25519::Recipient> = text.parse().ok();
        let sound = parsed.filter(|one| !SMALL_ORDER.contains(&one.to_string().as_str()));
        sound.map(Self).ok_or_else(|| KeyFault::InvalidRecipient(text).into())
    }
}

/// What `--recipient` takes: `age1…`, or a file with a recipient a line and comments after `#`.
pub fn recipients(argument: &str) -> Result<Vec<Recipient>, KeyError> {
    let looks_private = argument.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-");
    if argument.starts_with("age1") || looks_private {
        return Ok(vec![argument.parse()?]);
    }
    let bytes = root::read_given(Path::new(argument), 16 * MAX_KEY_BYTES).map_err(|error| {
        let error = KeyError::from(error);
        match error.kind {
            KeyErrorKind::Missing => KeyError {
                help: "give a recipient that begins with `age1`, or a file of them".into(),
                ..error
            },
            _ => error,
        }
    })?;
    let not_recipients = || KeyFault::NotRecipients(argument);
    let text = std::str::from_utf8(&bytes).map_err(|_| not_recipients())?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let all = lines.map(str::parse).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(|_: KeyError| not_recipients())?;
    if all.is_empty() {
        return Err(not_recipients().into());
    }
    Ok(all)
}

/// One binary age file.
pub(super) fn seal(plain: &[u8], recipients: &[Recipient]) -> Option<Vec<u8>> {
    let recipients = recipients.iter().map(|one| &one.0 as &dyn age::Recipient);
    let encryptor = age::Encryptor::with_recipients(recipients).ok()?;
    let mut sealed = Vec::new();
    let mut writer = encryptor.wrap_output(&mut sealed).ok()?;
    writer.write_all(plain).ok()?;
    writer.finish().ok()?;
    Some(sealed)
}

/// What is inside, at most `limit` bytes of it.
pub(super) fn open(
    sealed: &[u8],
    identity: &Identity,
    limit: usize,
) -> Result<Wiped<Vec<u8>>, Unopened> {
    let decryptor = age::Decryptor::new_buffered(sealed).map_err(|_| Unopened::Damaged)?;
    let identities = std::iter::once(&identity.0 as &dyn age::Identity);
    let reader = decryptor.decrypt(identities).map_err(|error| match error {
        DecryptError::NoMatchingKeys => Unopened::NotARecipient,
        _ => Unopened::Damaged,
    })?;
    let mut plain = Wiped::new(Vec::with_capacity(limit.min(sealed.len()) + 1));
    reader.take(limit as u64 + 1).read_to_end(&mut plain).map_err(|_| Unopened::Damaged)?;
    if plain.len() > limit {
        return Err(Unopened::Damaged);
    }
    Ok(plain)
}
