//! The bundle of `opal plugin publish --bundle FILE`: what another signer says about a package.

use std::path::Path;

use opal_plugins::installed::Installed;
use opal_vault::root::{Root, read_given};
use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::trust::Verifier;

const MAX_BUNDLE: u64 = 1 << 20;

/// A bundle that was verified.
#[derive(Debug)]
pub(super) struct Bundle {
    /// As statements have it.
    pub(super) line: String,
    /// `sigstore:IDENTITY (ISSUER)`.
    pub(super) publisher: String,
}

/// A published statement is for everybody, so one that does not hold is not published at all.
pub(super) fn read(file: &Path, one: &Installed, root: &Root) -> Result<Bundle, Failure> {
    let bytes = read_given(file, MAX_BUNDLE)
        .map_err(|error| Failure::new(Exit::NoFile, error.to_string(), error.help()))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("`{}` is not a Sigstore bundle: {error}", file.display());
        Failure::new(Exit::Source, message, "name the file that the signer wrote")
    })?;
    let line = format!("{document}\n");
    let found = Verifier::new(Some(root.clone())).ask(&one.checksum, line.as_bytes())?;
    if !found.has_root {
        let message = "this machine has no trust root to verify the bundle with";
        let help = "name the root of the signer in `config/policy.toml` of the runtime root: \
                    `[plugins]`, `sigstore = [\"/…/trusted_root.json\"]`";
        return Err(Failure::new(Exit::NotTrusted, message, help));
    }
    match found.publishers.into_iter().next() {
        Some(publisher) => Ok(Bundle { line, publisher }),
        None => {
            let why = found.refused.first().map_or("not a bundle of format 0.3", String::as_str);
            let (file, name, version) = (file.display(), one.name(), one.version());
            let message = format!("`{file}` does not say who published {name} {version}: {why}");
            let help = "sign the file that `opal plugin pack --list FILE` writes, with SLSA \
                        provenance as the predicate";
            Err(Failure::new(Exit::NotTrusted, message, help))
        }
    }
}
