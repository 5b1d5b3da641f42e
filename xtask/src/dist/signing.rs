//! The list of checksums, its signature, and the script that checks both.

use std::path::{Path, PathBuf};

use crate::chores::{answers, run};

/// What the signature is for, so that one of the same key for something else is none here.
const NAMESPACE: &str = "opal-release";

const SCRIPT: &str = include_str!("install.sh");

/// The public key beside a private one, without its comment.
pub(super) fn public_key(key: &Path) -> Result<String, String> {
    let path = key.with_file_name(format!("{}.pub", file_name(key)));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!("`{}`: {error}; `ssh-keygen -t ed25519 -f FILE` makes a key", path.display())
    })?;
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    if words.len() != 2 {
        return Err(format!("`{}` is not a public key", path.display()));
    }
    Ok(words.join(" "))
}

/// The script that installs this version from this address, if its signature is of this key.
pub(super) fn script(releases: &str, version: &str, key: &str) -> Result<String, String> {
    let releases = releases.trim_end_matches('/');
    for (what, text) in [("address", releases), ("version", version), ("key", key)] {
        if text.contains('\'') || text.chars().any(char::is_control) {
            return Err(format!(
                "the {what} of the release cannot contain `'` or control characters"
            ));
        }
    }
    Ok(SCRIPT.replace("@RELEASES@", releases).replace("@VERSION@", version).replace("@KEY@", key))
}

/// Writes SHA256SUMS for files of this directory, and its signature.
pub(super) fn sign(out: &Path, files: &[PathBuf], key: &Path) -> Result<(), String> {
    let mut sums = String::new();
    for file in files {
        let path = file.to_str().ok_or("the directory of the release is not UTF-8")?;
        let line = answers(&["sha256sum", "--", path]).ok_or("`sha256sum` failed")?;
        let sum = line.split_whitespace().next().ok_or("`sha256sum` printed nothing")?;
        sums.push_str(&format!("{sum}  {}\n", file_name(file)));
    }
    let path = out.join("SHA256SUMS");
    std::fs::write(&path, sums).map_err(|error| format!("`SHA256SUMS`: {error}"))?;
    // It does not replace an older signature.
    let _ = std::fs::remove_file(out.join("SHA256SUMS.sig"));
    let key = key.to_str().ok_or("the path of the key is not UTF-8")?;
    run(out, &["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, "SHA256SUMS"])
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
