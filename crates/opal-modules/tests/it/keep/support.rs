//! What several of the tests need.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opal_core::Data;
use opal_modules::keep::{RunId, RuntimeRoot};
use opal_vault::Vault;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const CANARY: &str = "canary-5150-Zx";

/// A root with all its directories.
pub(crate) fn root() -> (TempDir, RuntimeRoot) {
    let folder = tempfile::tempdir().unwrap();
    let root = RuntimeRoot::find(Some(&folder.path().join("root")), None, None).unwrap();
    root.ensure().unwrap();
    (folder, root)
}

/// A vault as a run of a module has it, which knows the canary.
pub(crate) fn vault() -> Vault {
    let vault = Vault::with_patterns();
    vault.register(&Data::text(CANARY), "<redacted>");
    vault
}

pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_729_600 + seconds)
}

pub(crate) fn run_id() -> RunId {
    RunId::new("apply", at(0), [1, 2, 3, 4])
}

pub(crate) fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

pub(crate) fn document(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The names in a directory, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file that only its owner may read.
pub(crate) fn private(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}
