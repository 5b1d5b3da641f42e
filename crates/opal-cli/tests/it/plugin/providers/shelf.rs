//! A registry of providers on this machine, signed with a real OpenPGP key.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use opal_core::hash::Algorithm;
use opal_plugins::provider::bridge::platform;
use tempfile::TempDir;

/// What it serves, by path.
type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

pub(super) struct Shelf {
    pub(super) files: Files,
    port: u16,
    keys: TempDir,
}

impl Shelf {
    /// None where there is no `gpg`.
    pub(super) fn open() -> Option<Self> {
        let keys = tempfile::tempdir().unwrap();
        let has_gpg = gpg(keys.path(), &["--version"], b"").is_some();
        if !opal_testing::needs::has("gpg", has_gpg) {
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = Files::default();
        let served = Arc::clone(&files);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut line = String::new();
                let mut reader = BufReader::new(stream);
                let _ = reader.read_line(&mut line);
                let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                let mut head = String::new();
                while reader.read_line(&mut head).is_ok_and(|read| read > 2) {
                    head.clear();
                }
                let found = served.lock().unwrap().get(&path).cloned();
                let (status, body) = match found {
                    Some(body) => ("200 OK", body),
                    None => ("404 Not Found", Vec::new()),
                };
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let mut stream = reader.into_inner();
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        let shelf = Self { files, port, keys };
        shelf.put("/.well-known/terraform.json", br#"{"providers.v1":"/v1/"}"#);
        shelf.new_key("acme");
        Some(shelf)
    }

    /// `127.0.0.1:PORT/test/box`.
    pub(super) fn source(&self) -> String {
        format!("127.0.0.1:{}/test/box", self.port)
    }

    pub(super) fn put(&self, path: &str, bytes: &[u8]) {
        self.files.lock().unwrap().insert(path.to_owned(), bytes.to_vec());
    }

    pub(super) fn new_key(&self, name: &str) {
        let user = format!("{name} <{name}@acme.example>");
        let args = ["--quick-generate-key", &user, "rsa2048", "sign", "never"];
        gpg(self.keys.path(), &args, b"").expect("a key");
    }

    /// Publishes a program under these versions, signed by a key of this name.
    pub(super) fn publish(&self, versions: &[&str], program: &Path, by: &str) {
        let platform = platform();
        let (os, arch) = platform.split_once('_').unwrap();
        let listed: Vec<String> = versions
            .iter()
            .map(|version| {
                format!(
                    r#"{{"version":"{version}","protocols":["6.0"],"platforms":[{{"os":"{os}","arch":"{arch}"}}]}}"#
                )
            })
            .collect();
        let listed = format!(r#"{{"versions":[{}]}}"#, listed.join(","));
        self.put("/v1/test/box/versions", listed.as_bytes());
        let user = format!("{by}@acme.example");
        let armored = gpg(self.keys.path(), &["--armor", "--export", &user], b"").unwrap();
        let armored = serde_json::to_string(&String::from_utf8(armored).unwrap()).unwrap();
        for version in versions {
            let name = format!("terraform-provider-box_{version}_{os}_{arch}.zip");
            let zip =
                zip(&format!("terraform-provider-box_v{version}"), &fs::read(program).unwrap());
            let digest = Algorithm::Sha256.digest(&[&zip]).hex();
            let sums = format!("{digest}  {name}\n");
            let signature =
                gpg(self.keys.path(), &["--local-user", &user, "--detach-sign"], sums.as_bytes());
            let record = format!(
                r#"{{"protocols":["6.0"],"os":"{os}","arch":"{arch}","filename":"{name}","shasum":"{digest}",
                "download_url":"/files/{name}","shasums_url":"/files/{version}.sums",
                "shasums_signature_url":"/files/{version}.sig",
                "signing_keys":{{"gpg_public_keys":[{{"ascii_armor":{armored}}}]}}}}"#
            );
            self.put(&format!("/v1/test/box/{version}/download/{os}/{arch}"), record.as_bytes());
            self.put(&format!("/files/{version}.sums"), sums.as_bytes());
            self.put(&format!("/files/{version}.sig"), &signature.unwrap());
            self.put(&format!("/files/{name}"), &zip);
        }
    }

    /// Changes one byte of what it serves under paths that end so.
    pub(super) fn damage(&self, end: &str) {
        let mut files = self.files.lock().unwrap();
        let (_, bytes) = files.iter_mut().find(|(path, _)| path.ends_with(end)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let home = self.keys.path().to_str().unwrap();
        let _ = Command::new("gpgconf").args(["--homedir", home, "--kill", "all"]).status();
    }
}

fn gpg(home: &Path, args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new("gpg")
        .args(["--homedir", home.to_str().unwrap(), "--batch", "--yes", "--quiet"])
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

/// An archive with one file, as it is.
pub(super) fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let table: Vec<u32> = (0..256)
        .map(|at| (0..8).fold(at, |sum, _| (sum >> 1) ^ (0xEDB8_8320 * (sum & 1))))
        .collect();
    let step = |sum: u32, byte: &u8| (sum >> 8) ^ table[usize::from(sum as u8 ^ byte)];
    let sum = bytes.iter().fold(u32::MAX, step);
    let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let length = u16::try_from(name.len()).unwrap().to_le_bytes();
    let common = |out: &mut Vec<u8>| {
        out.extend([20, 0, 0, 0, 0, 0, 0, 0, 33, 0]);
        out.extend((!sum).to_le_bytes());
        out.extend(size);
        out.extend(size);
        out.extend(length);
        out.extend([0, 0]);
    };
    let mut out = b"PK\x03\x04".to_vec();
    common(&mut out);
    out.extend(name.as_bytes());
    out.extend(bytes);
    let start = out.len();
    out.extend(b"PK\x01\x02\x14\x03");
    common(&mut out);
    out.extend([0; 6]);
    out.extend((0o100_755_u32 << 16).to_le_bytes());
    out.extend([0; 4]);
    out.extend(name.as_bytes());
    let directory = u32::try_from(out.len() - start).unwrap().to_le_bytes();
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(directory);
    out.extend(u32::try_from(start).unwrap().to_le_bytes());
    out.extend([0, 0]);
    out
}
