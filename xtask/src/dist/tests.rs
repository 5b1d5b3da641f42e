//! The script that installs a release, against a local server, with real `curl`, `wget` and `ssh-keygen`.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::{archive, signing};
use crate::chores::command;

/// A release with a program that prints its version, and a home to install it in.
struct Release {
    folder: PathBuf,
    script: PathBuf,
}

impl Drop for Release {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.base());
    }
}

impl Release {
    fn new(test: &str) -> Self {
        let base = std::env::temp_dir().join(format!("opal-install-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        let folder = base.join("release");
        let name = format!("opal-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let bin = folder.join(&name).join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("opal"), "#!/bin/sh\necho opal of the release\n").unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(bin.join("opal"), executable).unwrap();
        let packed = archive::pack(&folder.join(&name), "1700000000").unwrap();
        let key = key(&base, "key");
        signing::sign(&folder, &[packed], &key).unwrap();
        let script = base.join("install.sh");
        let address = serve(folder.clone());
        let public = signing::public_key(&key).unwrap();
        let text = signing::script(&address, env!("CARGO_PKG_VERSION"), &public).unwrap();
        fs::write(&script, text).unwrap();
        fs::create_dir_all(base.join("home")).unwrap();
        Self { folder, script }
    }

    fn base(&self) -> &Path {
        self.script.parent().unwrap()
    }

    fn installed(&self) -> PathBuf {
        self.base().join("home/.local/bin/opal")
    }

    fn install(&self, words: &[&str]) -> Output {
        self.install_with("/usr/local/bin:/usr/bin:/bin", words)
    }

    fn install_with(&self, path: &str, words: &[&str]) -> Output {
        let mut line = vec!["/bin/sh", self.script.to_str().unwrap()];
        line.extend(words);
        let mut command = command(&line);
        command.env_clear().env("PATH", path).env("HOME", self.base().join("home"));
        command.output().unwrap()
    }

    /// Runs the script, which must install nothing and say this.
    fn refuses(&self, output: &Output, message: &str) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(message), "{said}");
        assert!(!self.installed().exists());
    }
}

fn key(base: &Path, name: &str) -> PathBuf {
    let key = base.join(name);
    let line =
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key.to_str().unwrap()];
    assert!(command(&line).status().unwrap().success());
    key
}

/// Serves the files of a directory, for as long as the test runs.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &folder);
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or(Ok(String::new()))?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    match fs::read(folder.join(name)) {
        Ok(bytes) => {
            write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len())?;
            stream.write_all(&bytes)
        }
        Err(_) => stream.write_all(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    }
}

/// A directory of programs without those that are named.
fn programs_without(base: &Path, missing: &[&str]) -> String {
    let folder = base.join("programs");
    fs::create_dir_all(&folder).unwrap();
    for directory in ["/usr/bin", "/bin"] {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let name = entry.file_name();
            if !missing.iter().any(|it| name == *it) {
                let _ = std::os::unix::fs::symlink(entry.path(), folder.join(name));
            }
        }
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_release_is_installed_from_a_server() {
    let release = Release::new("server");
    let output = release.install(&[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("installed opal") && said.contains("export PATH="), "{said}");
    let run = command(&[release.installed().to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "opal of the release\n");
    // Again, over the old one.
    assert!(release.install(&[]).status.success());
}

#[test]
fn a_changed_archive_is_not_installed() {
    let release = Release::new("checksum");
    for entry in fs::read_dir(&release.folder).unwrap().flatten() {
        if entry.path().extension().is_some_and(|it| it == "gz") {
            let mut bytes = fs::read(entry.path()).unwrap();
            bytes.push(0);
            fs::write(entry.path(), bytes).unwrap();
        }
    }
    release.refuses(&release.install(&[]), "is not the one in SHA256SUMS");
}

#[test]
fn checksums_that_another_key_signed_are_not_trusted() {
    let release = Release::new("signature");
    let other = key(release.base(), "other");
    let files: Vec<PathBuf> =
        fs::read_dir(&release.folder).unwrap().flatten().map(|it| it.path()).collect();
    let archives: Vec<PathBuf> =
        files.into_iter().filter(|it| it.extension().is_some_and(|it| it == "gz")).collect();
    signing::sign(&release.folder, &archives, &other).unwrap();
    release.refuses(&release.install(&[]), "is not that of the key in this script");
}

#[test]
fn changed_checksums_are_not_trusted() {
    let release = Release::new("sums");
    let path = release.folder.join("SHA256SUMS");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}  other\n", "0".repeat(64))).unwrap();
    release.refuses(&release.install(&[]), "is not that of the key in this script");
}

#[test]
fn a_signature_of_the_same_key_for_something_else_is_not_trusted() {
    let release = Release::new("namespace");
    let key = release.base().join("key");
    let sums = release.folder.join("SHA256SUMS");
    fs::remove_file(release.folder.join("SHA256SUMS.sig")).unwrap();
    let line = [
        "ssh-keygen",
        "-q",
        "-Y",
        "sign",
        "-f",
        key.to_str().unwrap(),
        "-n",
        "git",
        sums.to_str().unwrap(),
    ];
    assert!(command(&line).status().unwrap().success());
    release.refuses(&release.install(&[]), "is not that of the key in this script");
}

#[test]
fn without_curl_wget_downloads_and_without_both_the_script_says_so() {
    let release = Release::new("tools");
    let none = programs_without(release.base(), &["curl", "wget"]);
    release.refuses(&release.install_with(&none, &[]), "neither `curl` nor `wget` was found");
    fs::remove_dir_all(&none).unwrap();
    let wget = programs_without(release.base(), &["curl"]);
    let output = release.install_with(&wget, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(release.installed().exists());
}

#[test]
fn a_home_that_cannot_be_written_is_named_with_the_way_out() {
    let release = Release::new("home");
    // A file in the place of the directory stops root as well.
    fs::write(release.base().join("home/.local"), "").unwrap();
    let output = release.install(&[]);
    release.refuses(&output, "cannot be written");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--dir DIRECTORY"));
    let elsewhere = release.base().join("elsewhere");
    let output = release.install(&["--dir", elsewhere.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(elsewhere.join("opal").exists());
}

#[test]
fn a_missing_release_and_wrong_words_have_their_own_messages() {
    let release = Release::new("missing");
    fs::remove_file(release.folder.join("SHA256SUMS")).unwrap();
    release.refuses(&release.install(&[]), "could not download");
    assert_eq!(release.install(&["--wrong"]).status.code(), Some(2));
    assert_eq!(release.install(&["--dir"]).status.code(), Some(2));
    release.refuses(&release.install(&["--from", "somewhere"]), "is not an address of a release");
    assert!(release.install(&["--help"]).status.success());
}

#[test]
fn two_archives_of_the_same_files_have_the_same_bytes() {
    let release = Release::new("bytes");
    let name = format!("opal-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = release.folder.join(&name);
    let archive = |time: &str| fs::read(archive::pack(&folder, time).unwrap()).unwrap();
    let first = archive("1700000000");
    // Times and modes of this machine are not in it.
    fs::set_permissions(folder.join("bin"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(first == archive("1700000000"));
    assert!(first != archive("1700000001"));
}
