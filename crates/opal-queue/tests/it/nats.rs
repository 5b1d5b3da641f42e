//! A nats-server with JetStream, on a port of its own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use opal_testing::needs;
use opal_testing::processes::eventually;
use tempfile::TempDir;

/// It is stopped when it is dropped.
pub(crate) struct Nats {
    folder: TempDir,
    server: Child,
    port: u16,
    config: String,
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

fn program() -> PathBuf {
    // Where it is asked for, another one would say nothing about it.
    if std::env::var_os("OPAL_TEST_NATS_NEWEST").is_some() {
        return Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/nats/nats-server");
    }
    // Debian has it in a directory that few users search.
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).map(|it| it.join("nats-server"));
    found.into_iter().find(|it| it.exists()).unwrap_or_else(|| "/usr/sbin/nats-server".into())
}

impl Nats {
    /// None where the machine has no server.
    pub(crate) fn start(config: &str) -> Option<Self> {
        let program = program();
        if !needs::has(&format!("`{}`", program.display()), program.exists()) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = config.replace("FOLDER", folder.path().to_str().unwrap());
        let server = serve(folder.path(), port, &config);
        let nats = Self { folder, server, port, config };
        nats.wait();
        Some(nats)
    }

    pub(crate) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Starts it again, with what it had stored.
    pub(crate) fn restart(&mut self) {
        self.server = serve(self.folder.path(), self.port, &self.config);
        self.wait();
    }

    fn wait(&self) {
        let log = self.folder.path().join("log");
        eventually("nats-server is ready", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
                && fs::read_to_string(&log).is_ok_and(|it| it.contains("Server is ready"))
        });
    }

    /// Whether a text is anywhere in what it has stored or logged.
    pub(crate) fn has(&self, text: &str) -> bool {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path)
                    .unwrap_or_default()
                    .windows(text.len())
                    .any(|it| it == text.as_bytes())
                {
                    return true;
                }
            }
        }
        false
    }
}

fn serve(folder: &Path, port: u16, config: &str) -> Child {
    let _ = fs::remove_file(folder.join("log"));
    fs::write(folder.join("server.conf"), config).unwrap();
    Command::new(program())
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-DV", "-sd"])
        .arg(folder.join("store"))
        .arg("-l")
        .arg(folder.join("log"))
        .arg("-c")
        .arg(folder.join("server.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
