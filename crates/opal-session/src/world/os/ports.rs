//! Ports: whether a process accepts connections.

use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Instant;

use opal_core::resolver::{Port, Trouble};

use crate::error::PortError;

pub(super) fn connect(to: &Port<'_>) -> Result<(), Trouble> {
    let failed =
        |why| PortError { host: to.host.to_owned(), port: to.port, timeout: to.timeout, why };
    let deadline = Instant::now() + to.timeout;
    let addresses = (to.host, to.port).to_socket_addrs().map_err(|_| failed(None))?;
    let mut last = ErrorKind::AddrNotAvailable;
    for address in addresses {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            last = ErrorKind::TimedOut;
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(_) => return Ok(()),
            Err(error) => last = error.kind(),
        }
    }
    Err(failed(Some(last)).into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_port_that_listens_is_open_and_another_says_why_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connect = |host: &str| {
            let timeout = Duration::from_secs(10);
            super::connect(&Port { host, port, timeout }).map_err(|it| it.message)
        };
        assert_eq!(connect("127.0.0.1"), Ok(()));
        let missing = connect("no-such-host.invalid").unwrap_err();
        assert!(missing.contains("was not found"), "{missing}");
        drop(listener);
        let refused = connect("127.0.0.1").unwrap_err();
        assert_eq!(refused, format!("`127.0.0.1:{port}` refused the connection"));
    }
}
