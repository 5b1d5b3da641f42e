//! Which opal was here last: best effort, and never a reason to stop.

use std::path::Path;
use std::time::SystemTime;

use opal_vault::Vault;
use serde_json::json;

use super::file;
use super::id::{RunId, time};
use super::root::RuntimeRoot;

/// What is known of a run that begins.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    pub version: &'a str,
    pub command: &'a str,
    pub run_id: &'a RunId,
    pub evidence: &'a Path,
    pub pid: u32,
    pub at: SystemTime,
}

/// Leaves a stamp. Where that cannot be done, nothing is said: nobody needs it.
pub fn stamp(root: &RuntimeRoot, stamp: &Stamp<'_>, vault: &Vault) {
    let value = json!({
        "version": stamp.version,
        "root": root.path().to_string_lossy(),
        "command": stamp.command,
        "run_id": stamp.run_id.as_str(),
        "evidence_dir": stamp.evidence.to_string_lossy(),
        "pid": stamp.pid,
        "timestamp_utc": time(stamp.at),
    });
    let _ = file::write(&root.stamp(), &vault.json(&value, &[]));
}
