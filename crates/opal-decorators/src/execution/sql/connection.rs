//! `USER@HOST:PORT`, or the path of a socket.

use std::num::NonZeroU16;

use opal_core::target::{Host, User};

/// As a parameter: closed, so that no part can be an option of the client.
pub(crate) const PATTERN: &str = r"([A-Za-z0-9_][A-Za-z0-9._+-]{0,63}@)?([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?|/[A-Za-z0-9._/-]*)?";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) user: Option<User>,
    pub(crate) place: Place,
    pub(crate) port: Option<NonZeroU16>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The client's own configuration says it.
    #[default]
    Usual,
    Host(Host),
    /// A path.
    Socket(String),
}

impl Connection {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (user, rest) = match text.split_once('@') {
            Some((user, rest)) => (Some(user.parse::<User>().ok()?), rest),
            None => (None, text),
        };
        if rest.is_empty() {
            return Some(Self { user, ..Self::default() });
        }
        if rest.starts_with('/') {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
            let place = rest.chars().all(is_plain).then(|| Place::Socket(rest.to_owned()))?;
            return Some(Self { user, place, port: None });
        }
        let (host, port) = match rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((host, after)) => {
                (host, after.strip_prefix(':').or(after.is_empty().then_some(""))?)
            }
            None => rest.split_once(':').unwrap_or((rest, "")),
        };
        let port = if port.is_empty() { None } else { Some(port.parse::<NonZeroU16>().ok()?) };
        Some(Self { user, place: Place::Host(host.parse().ok()?), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_a_host_or_a_socket() {
        let parts = |text: &str| {
            let Connection { user, place, port } = Connection::parse(text)?;
            let place = match place {
                Place::Usual => String::new(),
                Place::Host(host) => host.to_string(),
                Place::Socket(path) => path,
            };
            Some((
                user.map(|it| it.to_string()).unwrap_or_default(),
                place,
                port.map_or(0, NonZeroU16::get),
            ))
        };
        for (text, user, place, port) in [
            ("", "", "", 0),
            ("db1", "", "db1", 0),
            ("db1:5433", "", "db1", 5433),
            ("app@db1", "app", "db1", 0),
            ("app@db1.example.com:1", "app", "db1.example.com", 1),
            ("app@[::1]:5432", "app", "::1", 5432),
            ("[::1]", "", "::1", 0),
            ("/run/postgresql", "", "/run/postgresql", 0),
            ("app@/run/x", "app", "/run/x", 0),
            ("app@", "app", "", 0),
        ] {
            assert_eq!(parts(text), Some((user.into(), place.into(), port)), "{text}");
        }
        for text in [
            "-h",
            "a b",
            "db1:0",
            "db1:70000",
            "db1:x",
            "-u@db1",
            "a=b",
            "/x y",
            "[::1]x",
            "host=db1",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
