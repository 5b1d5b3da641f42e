//! `user@host:port`, as people write it.

use std::fmt;
use std::net::Ipv6Addr;
use std::num::NonZeroU16;
use std::str::FromStr;

use super::Ssh;
use super::name::{NameError, User};
use crate::view::visible;

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    Name(NameError),
    /// Not a number between 1 and 65535.
    Port {
        text: String,
    },
    /// An IPv6 address without brackets: where its port begins is a guess.
    Brackets {
        text: String,
    },
}

impl From<NameError> for AddressError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl FromStr for Ssh {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        // The name of a user may hold `@`, that of a host may not.
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (Some(user.parse::<User>()?), place),
            None => (None, text),
        };
        let (host, port) = parts(place)?;
        let port = port.map(number).transpose()?;
        Ok(Self { host: host.parse()?, port, user })
    }
}

fn parts(place: &str) -> Result<(&str, Option<&str>), AddressError> {
    let bracketed = place.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((inner, rest)) = bracketed
        && inner.parse::<Ipv6Addr>().is_ok()
    {
        return match rest.strip_prefix(':') {
            Some(port) => Ok((inner, Some(port))),
            None if rest.is_empty() => Ok((inner, None)),
            None => Err(AddressError::Port { text: rest.to_owned() }),
        };
    }
    if place.parse::<Ipv6Addr>().is_ok() {
        return Err(AddressError::Brackets { text: place.to_owned() });
    }
    Ok(place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))))
}

fn number(text: &str) -> Result<NonZeroU16, AddressError> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|_| is_plain);
    port.ok_or_else(|| AddressError::Port { text: text.to_owned() })
}

/// `user@host:port`, with brackets where the host is an IPv6 address.
impl fmt::Display for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.as_str().contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => write!(f, "{}", self.host)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Port { text } => {
                let text = visible::brief(text, 64);
                write!(f, "invalid port `{text}`: expects a number between 1 and 65535")
            }
            Self::Brackets { text } => {
                write!(f, "IPv6 address `{text}` without brackets: write `[{text}]`")
            }
        }
    }
}

impl std::error::Error for AddressError {}
