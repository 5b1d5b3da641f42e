//! Whom packages are believed: keys of registries, and trust roots of Sigstore, whose bundles the helper verifies.
//! A policy of the machine or of the user names them. A project can name none.

use opal_core::hash::Digest;
use opal_helper::Parcel;
use opal_plugins::installed::{LoadError, Signers, Trust};
use opal_trust::keys::PublicKey;
use opal_trust::policy::Policy;
use opal_vault::root::{Root, read_guarded};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::{helpers, rules};

/// Bytes of a trust root. Those of public instances have 10 to 30 KB.
const MAX_ROOT: u64 = 1 << 20;

/// It reads policies and asks the helper where a package makes a difference, and not before.
#[derive(Debug)]
pub(crate) struct Verifier {
    root: Option<Root>,
}

impl Verifier {
    pub(crate) const fn new(root: Option<Root>) -> Self {
        Self { root }
    }

    /// That of the machine and of the user.
    fn policy(&self) -> Result<Policy, Failure> {
        rules::of(self.root.as_ref(), Policy::default(), &[])
    }

    pub(crate) fn ask(&self, checksum: &Digest, lines: &[u8]) -> Result<Signers, Failure> {
        let policy = self.policy()?;
        let files = &policy.plugins.sigstore;
        if files.is_empty() {
            return Ok(Signers::default());
        }
        let head = json!({"sigstore": {"checksum": checksum.hex()}});
        let mut parcel = Parcel::new(head).with(lines);
        for file in files {
            let bytes = read_guarded(file, MAX_ROOT).map_err(|error| {
                let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
                Failure::new(exit, error.to_string(), error.help())
            })?;
            parcel = parcel.with(&bytes);
        }
        let answer = helpers::extra().ask(&parcel, &mut |_| Parcel::default());
        let answer = answer.map_err(|unusable| helpers::failure(&unusable))?.head;
        if let Some(invalid) = answer.get("invalid") {
            let number = invalid.get("root").and_then(Value::as_u64).unwrap_or_default();
            let file = usize::try_from(number).ok().and_then(|number| files.get(number));
            let file = file.map(|file| file.display().to_string()).unwrap_or_default();
            let why = invalid.get("why").and_then(Value::as_str).unwrap_or_default();
            let message = format!("`{file}` is not a trust root of Sigstore: {why}");
            let help = "write the `trusted_root.json` of the instance there";
            return Err(Failure::new(Exit::Configuration, message, help));
        }
        let texts = |key: &str| -> Vec<String> {
            let all = answer.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (publishers, refused) = (texts("publishers"), texts("refused"));
        Ok(Signers { has_root: true, publishers, refused })
    }
}

impl Trust for Verifier {
    fn signers(&self, checksum: &Digest, lines: &[u8]) -> Result<Signers, LoadError> {
        self.ask(checksum, lines).map_err(unloaded)
    }

    fn index_key(&self, address: &str) -> Result<Option<PublicKey>, LoadError> {
        let policy = self.policy().map_err(unloaded)?;
        let address = address.trim_end_matches('/');
        Ok(policy.plugins.keys.into_iter().find(|(it, _)| it == address).map(|(_, key)| key))
    }
}

fn unloaded(failure: Failure) -> LoadError {
    let (message, help) = (failure.message, failure.help.join("; "));
    match failure.exit {
        Exit::Unavailable => LoadError::Unavailable { message, help },
        Exit::NotTrusted => LoadError::Untrusted { message, help },
        _ => LoadError::Conflict { message, help },
    }
}
