//! Where it listens: a free port of this machine, or a socket that only this user can open.

use std::fmt;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::{Path, PathBuf};

use opal_core::message::Reason;
use opal_files::trusted::{self, Untrusted};
use tokio::net::{TcpListener, UnixListener};

use super::codes::{NOT_TRUSTED, UNAVAILABLE, UNWRITABLE};
use super::options::Options;

/// What a browser has as host where a socket is forwarded.
const FORWARDED: &str = "localhost:8080";

/// An open place. Its socket is removed at the end.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) listener: Listener,
    /// What every request must name as `Host`.
    pub(super) authority: String,
    /// What every form must come from.
    pub(super) origin: String,
    socket: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) enum Listener {
    Address(TcpListener),
    Socket(UnixListener),
}

/// Why it cannot listen there.
#[derive(Debug)]
pub(super) enum Refused {
    /// A host that is not this machine, or not a host with a port.
    Host(String),
    Taken(PathBuf),
    Open(Untrusted),
    Io(String, io::ErrorKind),
}

impl Place {
    pub(super) fn open(options: &Options) -> Result<Self, Refused> {
        let Some(path) = &options.socket else {
            return Self::address();
        };
        let authority = options.host.as_deref().unwrap_or(FORWARDED);
        if !is_local(authority) {
            return Err(Refused::Host(authority.to_owned()));
        }
        let listener = socket(path)?;
        Ok(Self::new(Listener::Socket(listener), authority.to_owned(), Some(path.clone())))
    }

    fn address() -> Result<Self, Refused> {
        let of = |error: io::Error| Refused::Io("127.0.0.1".to_owned(), error.kind());
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(of)?;
        listener.set_nonblocking(true).map_err(of)?;
        let port = listener.local_addr().map_err(of)?.port();
        let listener = TcpListener::from_std(listener).map_err(of)?;
        Ok(Self::new(Listener::Address(listener), format!("127.0.0.1:{port}"), None))
    }

    fn new(listener: Listener, authority: String, socket: Option<PathBuf>) -> Self {
        let origin = format!("http://{authority}");
        Self { listener, authority, origin, socket }
    }

    /// The command that brings a socket to the machine of a browser.
    pub(super) fn forwarding(&self) -> Option<String> {
        let path = self.socket.as_ref()?.display().to_string();
        let port = self.authority.rsplit_once(':').map_or("8080", |(_, port)| port);
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy();
        Some(format!("ssh -N -L {} {host}", quoted(&format!("{port}:{path}"))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(path) = &self.socket {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether a browser that names this host speaks to its own machine.
fn is_local(authority: &str) -> bool {
    let Some((host, port)) = authority.rsplit_once(':') else { return false };
    let is_port = port.parse::<u16>().is_ok_and(|it| it > 0 && it.to_string() == port);
    is_port && matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

/// A socket of mode 0600, where nobody else can replace it.
fn socket(path: &Path) -> Result<UnixListener, Refused> {
    let of = |error: io::Error| Refused::Io(path.display().to_string(), error.kind());
    if path.symlink_metadata().is_ok() {
        return Err(Refused::Taken(path.to_owned()));
    }
    // Nothing else runs in this process yet, so nothing else is made with this mask.
    let usual = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(usual);
    let listener = listener.map_err(of)?;
    if let Err(untrusted) = trusted::check(path) {
        let _ = fs::remove_file(path);
        return Err(Refused::Open(untrusted));
    }
    Ok(listener)
}

/// A word as a shell needs it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Refused {
    pub(super) const fn code(&self) -> u8 {
        match self {
            Self::Host(_) => 2,
            Self::Taken(_) | Self::Io(..) => UNWRITABLE,
            Self::Open(Untrusted::Unknown(..)) => UNAVAILABLE,
            Self::Open(_) => NOT_TRUSTED,
        }
    }

    pub(super) fn help(&self) -> String {
        match self {
            Self::Host(_) => "expected `localhost:PORT`, as the browser has it".to_owned(),
            Self::Taken(_) => "remove it if no `opal ui` uses it, or name another path".to_owned(),
            Self::Open(_) => {
                "name a directory that only you can write, such as one under your home".to_owned()
            }
            Self::Io(..) => "name another path".to_owned(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "`--host {host}` is not this machine with a port"),
            Self::Taken(path) => write!(f, "`{}` exists already", path.display()),
            Self::Open(untrusted) => write!(f, "the socket could be replaced: {untrusted}"),
            Self::Io(place, kind) => {
                write!(f, "cannot listen on `{place}`: {}", Reason(*kind))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_with_a_port_are_hosts() {
        for host in ["localhost:8080", "127.0.0.1:1", "[::1]:65535"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "localhost",
            "localhost:",
            "localhost:0",
            "localhost:08080",
            "localhost:70000",
            "0.0.0.0:80",
            "example.com:8080",
            "localhost.evil.example:80",
            "evil@localhost:80",
            "::1:80",
            "localhost:80/x",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
