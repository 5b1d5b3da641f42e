//! Which files of a project are sent, and which are left out.
//!
//! In a git repository: what git knows, and other files that it does not ignore. Elsewhere: all files but those
//! that `.gitignore` names. `.opalignore` counts in both. What git does not know is never sent where it is a
//! secret by its nature: `.env` files, private keys and the runtime root.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opal_core::message::Reason;

use super::{BundleError, MAX_FILES};

/// Bytes of a file in which a private key is looked for.
const MAX_HEAD: usize = 64 * 1024;

/// The names of files, with `/` between their parts.
type Names = BTreeSet<Vec<u8>>;

#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Files that git knows: somebody has decided that they belong to the project.
    pub(super) tracked: Names,
    /// Other files that are sent unless they hold a private key.
    pub(super) others: Names,
    pub(super) out: Names,
}

impl Listing {
    /// The files of the project in a directory. `root` is the runtime root.
    pub(super) fn of(top: &Path, root: &Path) -> Result<Self, BundleError> {
        let mut listing = Self::default();
        if top.ancestors().any(|it| it.join(".git").exists()) {
            listing.tracked = names(&git(top, &["ls-files", "-z", "--cached"])?);
            let words = ["ls-files", "-z", "--others", "--exclude-standard"];
            listing.others = names(&git(top, &words)?);
            listing.leave_out(|name| is_in(&top.join(std::ffi::OsStr::from_bytes(name)), root));
        } else {
            listing.walk(top, root)?;
            listing.obey(top, ".gitignore")?;
        }
        listing.obey(top, ".opalignore")?;
        listing.leave_out(is_environment);
        Ok(listing)
    }

    /// Leaves out other files than those of git.
    fn leave_out(&mut self, is_out: impl Fn(&[u8]) -> bool) {
        let (out, others) = std::mem::take(&mut self.others).into_iter().partition(|it| is_out(it));
        self.others = others;
        self.out.extend::<Names>(out);
    }

    fn walk(&mut self, top: &Path, root: &Path) -> Result<(), BundleError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let at = top.join(&folder);
            let unreadable =
                |why: std::io::Error| BundleError::Unreadable { path: at.clone(), why: why.kind() };
            for entry in fs::read_dir(&at).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let name = folder.join(entry.file_name());
                if !entry.file_type().map_err(unreadable)?.is_dir() {
                    self.others.insert(name.into_os_string().into_vec());
                } else if is_in(&entry.path(), root) {
                    self.out.insert([name.as_os_str().as_bytes(), b"/"].concat());
                } else if entry.file_name() != ".git" {
                    folders.push(name);
                }
                if self.others.len() + folders.len() > 2 * MAX_FILES {
                    return Err(BundleError::TooMany);
                }
            }
        }
        Ok(())
    }

    /// Leaves out what the rules of files with this name ignore, as git reads them.
    fn obey(&mut self, top: &Path, rules: &str) -> Result<(), BundleError> {
        let is_rules =
            |name: &Vec<u8>| name.rsplit(|it| *it == b'/').next() == Some(rules.as_bytes());
        if !self.tracked.iter().chain(&self.others).any(is_rules) {
            return Ok(());
        }
        // A repository of a moment, in which nothing is known yet.
        let failed = |error: std::io::Error| BundleError::Git(Reason(error.kind()).to_string());
        let place = tempfile::tempdir().map_err(failed)?;
        let at = place.path().display().to_string();
        git(top, &["init", "--quiet", "--bare", &at])?;
        let (dir, rules) = (format!("--git-dir={at}"), format!("--exclude-per-directory={rules}"));
        let kept = git(top, &[&dir, "--work-tree=.", "ls-files", "-z", "--others", &rules])?;
        let kept = names(&kept);
        // A repository inside is one name that ends with a slash.
        let is_kept = |name: &[u8]| {
            let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            kept.contains(name) || ends.into_iter().any(|(at, _)| kept.contains(&name[..=at]))
        };
        self.leave_out(|name| !is_kept(name));
        let (tracked, out): (Names, Names) =
            std::mem::take(&mut self.tracked).into_iter().partition(|it| is_kept(it));
        self.tracked = tracked;
        self.out.extend(out);
        Ok(())
    }
}

/// Whether a path is the runtime root or in it, whatever leads there.
fn is_in(path: &Path, root: &Path) -> bool {
    let real = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
    real(path).starts_with(real(root))
}

fn is_environment(name: &[u8]) -> bool {
    let name = name.rsplit(|it| *it == b'/').next().unwrap_or_default();
    name == b".env" || name.starts_with(b".env.")
}

/// Whether a file has a private key.
pub(super) fn is_private_key(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_HEAD)]);
    head.lines().any(|line| {
        line.strip_prefix("-----BEGIN ").is_some_and(|label| label.contains("PRIVATE KEY"))
            || line.starts_with("AGE-SECRET-KEY-")
            || line.starts_with("PuTTY-User-Key-File-")
    })
}

fn names(listed: &[u8]) -> Names {
    listed.split(|byte| *byte == 0).filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect()
}

fn git(top: &Path, words: &[&str]) -> Result<Vec<u8>, BundleError> {
    #[expect(clippy::disallowed_methods, reason = "it is waited for here")]
    let listed = Command::new("git")
        .args(["-c", "core.fsmonitor=false"])
        .args(words)
        .current_dir(top)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| BundleError::Git(Reason(error.kind()).to_string()))?;
    if !listed.status.success() {
        let said = String::from_utf8_lossy(&listed.stderr);
        return Err(BundleError::Git(said.lines().next().unwrap_or_default().to_owned()));
    }
    Ok(listed.stdout)
}
