//! The key of the person who approves, and signing with it: `ssh-keygen` does it, so that agents and hardware
//! keys work and no private key is read here.

use std::path::{Path, PathBuf};
use std::process::Command;

use opal_core::contract::approval::{Approval, Statement};
use opal_trust::approvals::{self, KeyFile, NAMESPACE, Signer};
use opal_trust::policy::Rule;
use opal_vault::root::Root;

use crate::ambient::{self, IDENTITY};
use crate::failure::{Exit, Failure};

/// Bytes of a file with a key.
const MAX_KEY_BYTES: u64 = 64 * 1024;

/// The usual keys of a person, those in a device first.
const USUAL: [&str; 2] = ["id_ed25519_sk", "id_ed25519"];

/// A key to sign with.
#[derive(Debug)]
pub(crate) struct Approver {
    /// What `ssh-keygen` is given.
    pub(crate) path: PathBuf,
    pub(crate) file: KeyFile,
}

impl Approver {
    /// The key that was named, or the usual one; of several the one that a rule lists.
    pub(crate) fn find(
        given: Option<&str>,
        root: Option<&Root>,
        rules: &[&Rule],
    ) -> Result<Self, Failure> {
        if let Some(given) = given {
            let name = root.map(|root| root.path().join(format!("credentials/{given}.key")));
            let named = name.filter(|path| !given.contains('/') && path.exists());
            let path = match PathBuf::from(given) {
                path if path.exists() => path,
                path => named.unwrap_or(path),
            };
            return Self::load(&path);
        }
        let home = ambient::variable("HOME").map(|home| PathBuf::from(home).join(".ssh"));
        let usual = home.iter().flat_map(|folder| USUAL.map(|name| folder.join(name)));
        let own = root.into_iter().flat_map(keys_of);
        let mut found: Vec<Self> = usual
            .chain(own)
            .filter(|path| path.exists())
            .filter_map(|path| Self::load(&path).ok())
            .collect();
        let is_listed = |it: &Self| rules.iter().any(|rule| rule.person(&it.file.signer).is_some());
        let best = found.iter().position(is_listed).unwrap_or(0);
        if found.is_empty() {
            return Err(Failure::new(
                Exit::NoFile,
                "there is no key to approve with",
                "name one with `--key FILE`, make one with `ssh-keygen -t ed25519`, or with \
                 `opal keys generate --approve NAME`",
            ));
        }
        Ok(found.swap_remove(best))
    }

    fn load(path: &Path) -> Result<Self, Failure> {
        let public = path.with_added_extension("pub");
        let parsed = [path, &public].into_iter().find_map(|path| KeyFile::parse(&text(path)?));
        match parsed {
            Some(file) => Ok(Self { path: path.to_owned(), file }),
            None if !path.exists() => Err(Failure::new(
                Exit::NoFile,
                format!("there is no key `{}`", path.display()),
                "name a file such as `~/.ssh/id_ed25519`; `opal keys list` lists the keys of opal",
            )),
            None => Err(Failure::new(
                Exit::Source,
                format!("`{}` is not a key that can approve", path.display()),
                "use an `ssh-ed25519` or an `sk-ssh-ed25519@openssh.com` key",
            )),
        }
    }

    /// Signs a statement, and says whether a hardware key was touched for it. `ssh-keygen` asks for a
    /// passphrase or a touch.
    #[expect(clippy::disallowed_methods, reason = "the program that holds the person's key")]
    pub(super) fn sign(&self, statement: Statement) -> Result<(Approval, bool), Failure> {
        let failed = |what: String| {
            let help = "see what it printed; `ssh-keygen` is part of OpenSSH 8.1 and later";
            Failure::new(Exit::Unavailable, format!("`ssh-keygen` {what}"), help)
        };
        // A file, so that standard input stays what a passphrase is typed on.
        let unwritable = |error: std::io::Error| Failure::unwritable("a temporary file", &error);
        let folder = tempfile::tempdir().map_err(unwritable)?;
        let file = folder.path().join("statement");
        std::fs::write(&file, statement.bytes()).map_err(unwritable)?;
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"]).arg(&self.path).arg(&file);
        let done = command.env_remove(IDENTITY).stdout(std::io::stderr()).status();
        let done = done.map_err(|error| failed(format!("cannot be started: {error}")))?;
        if !done.success() {
            return Err(failed("did not sign".to_owned()));
        }
        let signature = std::fs::read_to_string(file.with_added_extension("sig"));
        let signature = signature.map_err(|error| failed(format!("did not sign: {error}")))?;
        let approval = Approval { statement, signature };
        // What nobody could check counts nowhere.
        let checked =
            approvals::check(&approval).map_err(|why| failed(format!("did not sign: {why}")))?;
        if checked.signer != self.file.signer {
            return Err(failed("signed with another key".to_owned()));
        }
        Ok((approval, checked.touched))
    }

    /// Whether every process that reaches the person's agent can sign with it, too.
    pub(super) fn is_reachable(&self) -> bool {
        !self.file.signer.is_hardware() && ambient::variable("SSH_AUTH_SOCK").is_some()
    }
}

/// The keys of the runtime root, those that cannot approve included.
fn keys_of(root: &Root) -> Vec<PathBuf> {
    let Ok(folder) = root.guarded("credentials") else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut keys: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "key")).collect();
    keys.sort_unstable();
    keys
}

/// Private keys of listed people that any step of this account could sign with, and their files.
pub(crate) fn open_keys(
    root: Option<&Root>,
    is_listed: &dyn Fn(&Signer) -> bool,
) -> Vec<(PathBuf, Signer)> {
    let own = root.map(|root| root.path().join("credentials"));
    let home = ambient::variable("HOME").map(|home| PathBuf::from(home).join(".ssh"));
    let mut found = Vec::new();
    for folder in own.into_iter().chain(home) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
        let paths = entries.map(|entry| entry.path());
        let keys = paths.filter_map(|path| {
            let key = KeyFile::parse(&text(&path)?)?;
            (key.is_open && is_listed(&key.signer)).then_some((path, key.signer))
        });
        found.extend(keys);
    }
    found.sort_unstable();
    found
}

fn text(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = opal_files::regular::open_given(path).ok()?;
    file.take(MAX_KEY_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
