//! The key that a host presents, accepted or not: `ssh` says it to a program of ours, which says it to
//! a socket that only this user can reach.

use std::io::{self, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use base64ct::{Base64, Base64Unpadded, Encoding as _};
use opal_core::hash::Algorithm;
use opal_core::target::HostKey;
use opal_session::reach::report;
use tempfile::TempDir;

use super::origin::Origin;

/// Of one report.
const MAX_REPORT_BYTES: u64 = 64 * 1024;

/// For one connection: `ssh` asks for the order, for the name and for the address.
const MAX_REPORTS: usize = 16;

/// How long a report that has begun may take.
const REPORT_TIME: Duration = Duration::from_secs(1);

/// Waits for reports of one connection.
#[derive(Debug)]
pub(super) struct Watch {
    listener: UnixListener,
    folder: TempDir,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        // Only this user can enter it.
        let folder = tempfile::Builder::new().prefix("opal-").tempdir()?;
        let listener = UnixListener::bind(folder.path().join("key"))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, folder })
    }

    /// The option of `ssh`. `own` is the command that the user has, with its tokens.
    pub(super) fn option(&self, origin: &Origin, own: Option<&str>) -> String {
        let (program, before) = &origin.helper;
        let mut words = vec![quoted(program)];
        words.extend(before.iter().map(|word| quoted(Path::new(word))));
        words.extend([report::WORD.to_owned(), quoted(&self.folder.path().join("key"))]);
        words.extend(report::TOKENS.map(str::to_owned));
        words.extend(own.map(str::to_owned));
        format!("KnownHostsCommand={}", words.join(" "))
    }

    /// The key that the host has presented; none where it came to none. Whoever has reported has ended.
    pub(super) fn presented(&self) -> Option<HostKey> {
        let mut last = None;
        for _ in 0..MAX_REPORTS {
            let Ok((stream, _)) = self.listener.accept() else { break };
            last = read(stream).or(last);
        }
        last
    }
}

/// A word that `ssh` reads as one, without tokens in it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('%', "%%");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn read(stream: UnixStream) -> Option<HostKey> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(REPORT_TIME)).ok()?;
    let mut text = String::new();
    stream.take(MAX_REPORT_BYTES).read_to_string(&mut text).ok()?;
    let mut words = text.lines();
    let reason = words.next()?;
    let (_, _, _, key) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if reason != "HOSTNAME" {
        return None;
    }
    host_key(&Base64::decode_vec(key).ok()?)
}

/// A key as it is on the wire of SSH.
pub(super) fn host_key(blob: &[u8]) -> Option<HostKey> {
    let mut fields = Fields(blob);
    let algorithm = String::from_utf8(fields.text()?.to_vec()).ok()?;
    let identity = match algorithm.strip_suffix("-cert-v01@openssh.com") {
        None => fingerprint(blob),
        Some(base) => certificate(base, &mut fields)?,
    };
    HostKey::new(&algorithm, &identity)
}

/// The key of whoever signed it, and the names that it is for.
fn certificate(base: &str, fields: &mut Fields<'_>) -> Option<String> {
    fields.text()?;
    let of_key = match base {
        "ssh-ed25519" => 1,
        "ssh-rsa" | "sk-ssh-ed25519" => 2,
        "sk-ecdsa-sha2-nistp256" => 3,
        "ssh-dss" => 4,
        _ if base.starts_with("ecdsa-sha2-") => 2,
        _ => return None,
    };
    for _ in 0..of_key {
        fields.text()?;
    }
    // Serial number, kind, and the id.
    fields.take(8)?;
    fields.take(4)?;
    fields.text()?;
    let mut names = Fields(fields.text()?);
    let mut principals = Vec::new();
    while !names.0.is_empty() {
        principals.push(String::from_utf8(names.text()?.to_vec()).ok()?);
    }
    principals.sort();
    // From when, until when, and what it allows.
    fields.take(16)?;
    for _ in 0..3 {
        fields.text()?;
    }
    let authority = fingerprint(fields.text()?);
    Some(format!("{authority} for {}", principals.join(",")))
}

fn fingerprint(blob: &[u8]) -> String {
    let digest = Algorithm::Sha256.digest(&[blob]);
    format!("SHA256:{}", Base64Unpadded::encode_string(&digest.0))
}

/// What is left of a message of SSH.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.take(4)?.try_into().ok()?);
        self.take(usize::try_from(length).ok()?)
    }
}

/// What the contract's key type is called in `HostKeyAlgorithms`.
pub(super) fn algorithms(key: &HostKey) -> String {
    match key.algorithm() {
        "ssh-rsa" => "rsa-sha2-512,rsa-sha2-256".to_owned(),
        "ssh-rsa-cert-v01@openssh.com" => {
            let suffix = "-cert-v01@openssh.com";
            format!("rsa-sha2-512{suffix},rsa-sha2-256{suffix}")
        }
        other => other.to_owned(),
    }
}
