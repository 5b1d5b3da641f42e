//! A registry that serves one version, honestly, and the tools to make it lie.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use opal_terraform::package::open::{From, Open, Opened, open};
use opal_terraform::package::source::{Platform, Source, Version};
use opal_terraform::package::{Rejected, hex};
use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedPublicKey,
    SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, Password};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::support::directory;

pub(super) const NAME: &str = "terraform-provider-box_1.2.3_linux_amd64.zip";

/// What a registry serves for one version.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) zip: Vec<u8>,
    pub(super) sums: Vec<u8>,
    pub(super) signature: Vec<u8>,
    pub(super) record: Vec<u8>,
}

pub(super) fn key() -> SignedSecretKey {
    let mut params = SecretKeyParamsBuilder::default();
    params
        .key_type(KeyType::Ed25519Legacy)
        .can_certify(true)
        .can_sign(true)
        .primary_user_id("Box <box@acme.example>".to_owned());
    params.build().unwrap().generate(rand::thread_rng()).unwrap()
}

pub(super) fn public(key: &SignedSecretKey) -> String {
    SignedPublicKey::from(key.clone()).to_armored_string(ArmorOptions::default()).unwrap()
}

pub(super) fn fingerprint(key: &SignedSecretKey) -> String {
    format!("openpgp:{}", hex(key.fingerprint().as_bytes()).to_uppercase())
}

pub(super) fn sign(key: &SignedSecretKey, sums: &[u8]) -> Vec<u8> {
    let signature = DetachedSignature::sign_binary_data(
        rand::thread_rng(),
        &key.primary_key,
        &Password::empty(),
        HashAlgorithm::Sha256,
        sums,
    );
    signature.unwrap().to_bytes().unwrap()
}

pub(super) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(super) const FILES: [(&str, &[u8]); 2] =
    [("LICENSE", b"do as you like"), ("terraform-provider-box_v1.2.3", b"#!/bin/sh\n")];

/// What an honest registry serves.
pub(super) fn serve(zip: Vec<u8>, signer: &SignedSecretKey, keys: &[String]) -> Served {
    let digest = hex(&Sha256::digest(&zip));
    let other = "ab".repeat(32);
    let sums =
        format!("{digest}  {NAME}\n{other}  terraform-provider-box_1.2.3_darwin_arm64.zip\n");
    let keys: Vec<_> = keys.iter().map(|it| serde_json::json!({"ascii_armor": it})).collect();
    let record = serde_json::json!({
        "protocols": ["6.0"], "os": "linux", "arch": "amd64", "filename": NAME, "shasum": digest,
        "download_url": "https://cdn.example/box.zip", "shasums_url": "https://cdn.example/sums",
        "shasums_signature_url": "https://cdn.example/sums.sig",
        "signing_keys": {"gpg_public_keys": keys},
    });
    let signature = sign(signer, sums.as_bytes());
    Served { zip, sums: sums.into_bytes(), signature, record: record.to_string().into_bytes() }
}

pub(super) fn honest(key: &SignedSecretKey) -> Served {
    serve(zip(&FILES), key, &[public(key)])
}

pub(super) struct Cache(pub(super) TempDir);

impl Cache {
    pub(super) fn new() -> Self {
        Self(directory())
    }

    pub(super) fn ask(&self, served: &Served) -> Open {
        let archive = self.0.path().join("archive.zip");
        std::fs::write(&archive, &served.zip).unwrap();
        Open {
            source: Source::read("reg.example/acme/box").unwrap(),
            version: Version::read("1.2.3").unwrap(),
            platform: Platform::read("linux_amd64").unwrap(),
            from: From::Registry {
                at: "https://reg.example/record".to_owned(),
                record: served.record.clone(),
                sums: served.sums.clone(),
                signature: served.signature.clone(),
                archive,
            },
            hashes: vec![],
            signed_by: None,
            trust: false,
            now: now(),
            into: self.unpacked(),
        }
    }

    pub(super) fn unpacked(&self) -> PathBuf {
        self.0.path().join("unpacked")
    }

    pub(super) fn open(&self, served: &Served) -> Result<Opened, Rejected> {
        self.judge(&self.ask(served))
    }

    /// Opens; what was refused leaves nothing, what was unpacked is removed for the next time.
    pub(super) fn judge(&self, ask: &Open) -> Result<Opened, Rejected> {
        let opened = open(ask);
        assert_eq!(opened.is_ok(), self.unpacked().exists());
        let _ = std::fs::remove_dir_all(self.unpacked());
        opened
    }
}

pub(super) fn now() -> u64 {
    let now = std::fs::metadata("/proc/self").unwrap().modified().unwrap();
    now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

/// GnuPG with a directory of its own.
pub(super) struct Gpg(pub(super) TempDir);

impl Gpg {
    pub(super) fn start() -> Option<Self> {
        let gpg = Self(directory());
        let is_there = gpg.try_run(&["--version"], b"").is_some();
        opal_testing::needs::has("gpg", is_there).then_some(gpg)
    }

    pub(super) fn try_run(&self, args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        #[expect(clippy::disallowed_methods, reason = "it is waited for")]
        let mut child = Command::new("gpg")
            .args(["--homedir", self.0.path().to_str().unwrap(), "--batch", "--yes", "--quiet"])
            .args(["--pinentry-mode", "loopback", "--passphrase", ""])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        child.stdin.take().unwrap().write_all(input).ok()?;
        let output = child.wait_with_output().ok()?;
        output.status.success().then_some(output.stdout)
    }

    pub(super) fn run(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        self.try_run(args, input).unwrap_or_else(|| panic!("gpg {args:?}"))
    }

    pub(super) fn armored(&self) -> String {
        String::from_utf8(self.run(&["--armor", "--export"], b"")).unwrap()
    }

    /// A package whose list this key signs, and its public key as it is then.
    pub(super) fn serve(&self) -> Served {
        let mut served = serve(zip(&FILES), &key(), &[self.armored()]);
        served.signature = self.run(&["--detach-sign"], &served.sums);
        served
    }
}

impl Drop for Gpg {
    fn drop(&mut self) {
        #[expect(clippy::disallowed_methods, reason = "it ends the agent that gpg started")]
        let _ = Command::new("gpgconf")
            .args(["--homedir", self.0.path().to_str().unwrap(), "--kill", "all"])
            .status();
    }
}

/// An archive with a name, a mode and content of its own.
pub(super) fn odd(name: &str, mode: Option<u32>, bytes: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in FILES {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    // The writer refuses what an attacker does not: names and modes are changed in the bytes.
    let place = "N".repeat(name.len());
    zip.start_file(place.as_str(), options).unwrap();
    zip.write_all(bytes).unwrap();
    let mut all = zip.finish().unwrap().into_inner();
    let places: Vec<usize> = (0..all.len() - place.len())
        .filter(|at| all[*at..].starts_with(place.as_bytes()) && *at > 30)
        .collect();
    for at in places {
        all[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    if let Some(mode) = mode {
        let start = b"PK\x01\x02";
        let at = (0..all.len() - 4).rfind(|at| all[*at..].starts_with(start)).unwrap();
        all[at + 5] = 3;
        all[at + 38..at + 42].copy_from_slice(&(mode << 16).to_le_bytes());
    }
    all
}
