//! The one line that a provider prints: `1|5|unix|PATH|grpc|`.

use std::fmt;
use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use super::is_in;
use crate::wire::Protocol;

/// The line, at most.
const MAX_LINE: usize = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLine {
    /// The output ended.
    End,
    Long,
}

impl fmt::Display for NoLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("its output ended before the handshake line"),
            Self::Long => {
                write!(f, "its first line is longer than {MAX_LINE} bytes: not a provider")
            }
        }
    }
}

/// The first line. A byte at a time, because what follows is not ours.
pub(super) async fn line(from: &mut Receiver) -> Result<Vec<u8>, NoLine> {
    let mut line = Vec::new();
    loop {
        match from.read_u8().await {
            Err(_) => return Err(NoLine::End),
            Ok(b'\n') => return Ok(line),
            Ok(_) if line.len() == MAX_LINE => return Err(NoLine::Long),
            Ok(byte) => line.push(byte),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Handshake {
    pub(super) protocol: Protocol,
    pub(super) socket: PathBuf,
}

impl Handshake {
    /// Reads the line. The socket must be directly in our directory.
    pub(super) fn read(line: &[u8], directory: &Path) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("its handshake line is refused: {why}"));
        let Ok(line) = str::from_utf8(line) else { return refused("it is not text") };
        let parts: Vec<&str> = line.trim_end_matches('\r').split('|').collect();
        let [core, protocol, network, address, kind, certificate @ ..] = &parts[..] else {
            return refused("it has too few parts");
        };
        let protocol = match *protocol {
            "5" => Protocol::Five,
            "6" => Protocol::Six,
            _ => return refused("opal speaks protocols 5 and 6"),
        };
        let socket = PathBuf::from(address);
        match () {
            () if *core != "1" => refused("its first part is not 1"),
            () if *network != "unix" => refused("its socket is not a unix socket"),
            () if *kind != "grpc" => refused("it does not speak gRPC"),
            () if certificate.first().is_some_and(|it| !it.is_empty()) => {
                refused("it has a certificate, which opal did not ask for")
            }
            () if !is_in(&socket, directory) => {
                refused("its socket is not in the directory it was given")
            }
            () => Ok(Self { protocol, socket }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_of_a_provider_is_accepted() {
        let directory = Path::new("/d");
        let read = |line: &str| Handshake::read(line.as_bytes(), directory);
        let six = Handshake { protocol: Protocol::Six, socket: "/d/s".into() };
        assert_eq!(read("1|6|unix|/d/s|grpc|"), Ok(six));
        assert_eq!(read("1|5|unix|/d/s|grpc|\r").unwrap().protocol, Protocol::Five);
        assert!(read("1|5|unix|/d/s|grpc").is_ok());
        // Newer versions of the library add parts.
        assert!(read("1|5|unix|/d/s|grpc||true").is_ok());
        for line in [
            "",
            "hello",
            "1|5|unix",
            "2|5|unix|/d/s|grpc|",
            "1|4|unix|/d/s|grpc|",
            "1|7|unix|/d/s|grpc|",
            "1|5|tcp|127.0.0.1:9|grpc|",
            "1|5|unix|/d/s|netrpc|",
            "1|5|unix|/d/s|grpc|MIIB",
            "1|5|unix|/tmp/s|grpc|",
            "1|5|unix|/d/../e/s|grpc|",
            "1|5|unix|/d/sub/s|grpc|",
            "1|5|unix|/d/..|grpc|",
            "1|5|unix|s|grpc|",
            "1|5|unix||grpc|",
            "1|5|unix|/d|grpc|",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
