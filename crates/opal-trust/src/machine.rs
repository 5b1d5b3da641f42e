//! Which machine uses the keys of a runtime root.
//!
//! They must not travel: whoever gets them can sign, and can have code run that another machine compiled.

use std::path::Path;

use opal_core::hash::Algorithm;
use opal_vault::root::{Root, read_guarded, read_public};

const FOLDER: &str = "credentials";
const FILE: &str = "machine";

/// What a system calls itself.
const ID: &str = "/etc/machine-id";

/// Whether another machine used these keys last. From now on it is this one. Where one of the two has no
/// name, nobody can tell.
#[must_use]
pub fn has_moved(root: &Root) -> bool {
    let Ok(id) = read_public(Path::new(ID), 1024) else { return false };
    // Keys that are not there have no machine.
    if id.trim_ascii().is_empty() || root.guarded(FOLDER).is_err() {
        return false;
    }
    // Others need not learn the name of a machine.
    let now = Algorithm::Blake3.digest(&[b"opal machine v1", id.trim_ascii()]).hex();
    let path = root.path().join(FOLDER).join(FILE);
    let before = read_guarded(&path, 1024).ok();
    if before.as_ref().is_some_and(|before| before.trim_ascii() == now.as_bytes()) {
        return false;
    }
    let _ = root.replace(FOLDER, FILE, format!("{now}\n").as_bytes());
    before.is_some()
}
