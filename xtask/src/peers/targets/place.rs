//! Where the measurements take place: an SSH server and a container of our own, and a way to the server
//! that takes time.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::peers::{command, free_port, text, write};

/// One way of the slow connection; there and back is twice as long.
const WAY: Duration = Duration::from_millis(25);

/// Server and container end when it is dropped.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) port: u16,
}

impl Place {
    /// None where there is no server, or no right to start one.
    pub(super) fn start(folder: PathBuf) -> Result<Option<Self>, String> {
        let is_root = command(&["id", "-u"]).output().is_ok_and(|user| user.stdout == b"0\n");
        if !is_root || !Path::new("/usr/sbin/sshd").exists() {
            return Ok(None);
        }
        write(&folder, "start.sh", include_str!("start.sh"))?;
        let port = free_port()?;
        let slow = delay(port)?;
        let place = Self { folder, port };
        let words = ["sh", "start.sh", &port.to_string(), &slow.to_string()];
        let started = command(&words).current_dir(&place.folder).status();
        match started.is_ok_and(|status| status.success()) && place.answers() {
            true => Ok(Some(place)),
            false => Err("the SSH server or the container does not start".to_owned()),
        }
    }

    fn answers(&self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    pub(super) fn has_container(&self) -> bool {
        self.folder.join("image").is_dir()
    }

    /// The words with the `ssh` and `podman` of this place first on the path.
    #[expect(clippy::disallowed_methods, reason = "the programs of the system are found in it")]
    pub(super) fn line(&self, words: &[&str]) -> Result<Vec<String>, String> {
        let path = std::env::var("PATH").map_err(|error| format!("PATH: {error}"))?;
        let path = format!("PATH={}:{path}", text(&self.folder.join("bin"))?);
        Ok(["env", &path].iter().chain(words).copied().map(str::to_owned).collect())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = command(&["sh", "-c", "kill $(cat sshd.pid)"]).current_dir(&self.folder).status();
        if self.has_container() {
            let words = ["bin/podman", "rm", "--all", "--force", "--time", "0"];
            let _ = command(&words).current_dir(&self.folder).output();
        }
    }
}

/// A port that passes everything on to another, later. It lives as long as this process.
fn delay(port: u16) -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    let own = listener.local_addr().map_err(|error| error.to_string())?.port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
            for end in [&client, &server] {
                let _ = end.set_nodelay(true);
            }
            if let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) {
                pass(from, to);
            }
            pass(server, client);
        }
    });
    Ok(own)
}

/// Each piece arrives when its time has come, so that a long way is not a narrow one.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + WAY, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in receiver {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}
