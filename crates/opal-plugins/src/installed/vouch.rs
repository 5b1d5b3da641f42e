//! Who vouches for a package: the statements that were fetched with it, checked whenever it is read.

use std::path::Path;

use opal_files::regular;
use opal_trust::keys::PublicKey;
use opal_trust::statements::{self, Subject};
use semver::Version;

use super::error::LoadError;
use crate::lock::Locked;

/// Beside the files of a package in the cache: what others say about it, and whose word counts here because
/// the signed index of its registry named them.
pub const STATEMENTS: &str = "statements.jsonl";
pub const VERIFIERS: &str = "verifiers";

const MAX_BYTES: u64 = 4 << 20;

pub(super) struct Vouched {
    pub(super) signed_by: Option<String>,
    pub(super) verification: &'static str,
}

impl Default for Vouched {
    fn default() -> Self {
        Self { signed_by: None, verification: "none" }
    }
}

/// The publisher of a locked package. The lock pins it: a file of the project cannot make up another one,
/// because the statements are checked again.
pub(super) fn read(locked: &Locked, directory: &Path) -> Result<Vouched, LoadError> {
    let text =
        |name: &str| regular::read_to_string(&directory.join(name), MAX_BYTES).unwrap_or_default();
    let lines = text(STATEMENTS);
    let (Some(checksum), version) = (locked.checksum, locked.version.to_string()) else {
        return Ok(Vouched::default());
    };
    let subject = Subject { name: &locked.name, version: &version, checksum };
    let vouched = statements::read(lines.as_bytes(), &subject);
    let publishers: Vec<String> = vouched.publishers.iter().map(ToString::to_string).collect();
    if let Some(pinned) = locked.signed_by.as_ref().filter(|it| !publishers.contains(it)) {
        let message = format!("{} {version} is not signed by its publisher {pinned}", locked.name);
        let help =
            "ask its publisher; to use it nevertheless, remove it and add it again".to_owned();
        return Err(LoadError::Untrusted { message, help });
    }
    let verifiers = text(VERIFIERS);
    let verifiers: Vec<PublicKey> =
        verifiers.lines().filter_map(|line| line.parse().ok()).collect();
    let verification = if vouched.passed(&verifiers) { "passed" } else { "none" };
    let signed_by = locked.signed_by.clone().or_else(|| publishers.into_iter().next());
    Ok(Vouched { signed_by, verification })
}

/// A locked package is the one that the lock names.
pub(super) fn is_same(locked: &Locked, name: &str, version: &Version) -> Result<(), LoadError> {
    if locked.name == name && locked.version == *version {
        return Ok(());
    }
    let message = format!(
        "`opal.lock` has {} {}, and its files are of {name} {version}",
        locked.name, locked.version
    );
    Err(LoadError::Untrusted { message, help: "remove it, and add it again".to_owned() })
}
