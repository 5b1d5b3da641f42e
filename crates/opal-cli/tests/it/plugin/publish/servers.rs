//! Servers that registries are on: a web server with files, and Debian's `docker-registry`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use opal_testing::processes::eventually;

use crate::needs;

/// A web server with the files of a directory. It ends with the tests.
pub(super) struct WebServer {
    pub(super) address: String,
}

/// What it does with PUT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Puts {
    Take,
    /// As a server does that only serves files.
    Refuse,
    /// As one does that wants a password.
    Deny,
    /// Only the files of a version; then somebody else was faster.
    Conflict,
}

impl WebServer {
    pub(super) fn start(folder: &Path, puts: Puts) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let folder = folder.to_owned();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let folder = folder.clone();
                thread::spawn(move || serve(&stream.unwrap(), &folder, puts));
            }
        });
        Self { address }
    }
}

fn serve(stream: &TcpStream, folder: &Path, puts: Puts) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.replace("%2B", "+"));
        let mut length = 0;
        let mut only_new = false;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(text) = header.strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            only_new |= header == "if-none-match: *";
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let file: PathBuf = folder.join(path.trim_start_matches('/'));
        let (status, body) = match (method.as_str(), puts) {
            ("GET", _) => fs::read(&file).map_or((404, Vec::new()), |found| (200, found)),
            ("PUT", Puts::Refuse) => (405, Vec::new()),
            ("PUT", Puts::Deny) => (403, Vec::new()),
            ("PUT", Puts::Conflict) if path.ends_with("versions.json") => (412, Vec::new()),
            ("PUT", _) if only_new && file.exists() => (412, Vec::new()),
            ("PUT", _) => {
                fs::create_dir_all(file.parent()?).ok()?;
                fs::write(&file, body).ok()?;
                (201, Vec::new())
            }
            _ => (400, Vec::new()),
        };
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut stream = stream;
        stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

/// Debian's `docker-registry`, stopped when it is dropped.
pub(in crate::plugin) struct DockerRegistry {
    server: Child,
    folders: Vec<tempfile::TempDir>,
    pub(in crate::plugin) host: String,
}

impl DockerRegistry {
    /// None where it is not installed.
    #[expect(clippy::disallowed_methods, reason = "servers are programs")]
    pub(in crate::plugin) fn start(more: &str) -> Option<Self> {
        if !needs::program("docker-registry") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let host = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let data = folder.path().join("data");
        let text = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\n{more}http:\n  addr: {host}\n",
            data.display()
        );
        let config = folder.path().join("config.yml");
        fs::write(&config, text).unwrap();
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(&config).env_clear().stdout(Stdio::null()).stderr(Stdio::null());
        let server = command.spawn().unwrap();
        let found = Self { server, folders: vec![folder], host };
        eventually("docker-registry listens", || TcpStream::connect(&found.host).is_ok());
        Some(found)
    }
}

impl DockerRegistry {
    /// One that lets `user` in, with `pass`.
    #[expect(clippy::disallowed_methods, reason = "a test waits for it")]
    pub(in crate::plugin) fn with_password() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        // As htpasswd writes it.
        let line = r#"print "user:", crypt("pass", '$2b$05$abcdefghijklmnopqrstuu'), "\n""#;
        let line = Command::new("perl").args(["-e", line]).output().unwrap();
        let file = folder.path().join("htpasswd");
        fs::write(&file, line.stdout).unwrap();
        let auth = format!("auth:\n  htpasswd:\n    realm: test\n    path: {}\n", file.display());
        let mut found = Self::start(&auth)?;
        found.folders.push(folder);
        Some(found)
    }

    pub(in crate::plugin) fn port(&self) -> &str {
        self.host.rsplit(':').next().unwrap()
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
