//! Formats of texts that opal checks.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::parameter::matches;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Uri,
    Hostname,
    Ipv4,
    Ipv6,
    Cidr,
    DateTime,
    Semver,
}

impl Format {
    pub const ALL: [Self; 7] = [
        Self::Uri,
        Self::Hostname,
        Self::Ipv4,
        Self::Ipv6,
        Self::Cidr,
        Self::DateTime,
        Self::Semver,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uri => "uri",
            Self::Hostname => "hostname",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Cidr => "cidr",
            Self::DateTime => "date-time",
            Self::Semver => "semver",
        }
    }

    #[must_use]
    pub fn holds(self, text: &str) -> bool {
        match self {
            Self::Uri => matches(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", text),
            Self::Hostname => {
                let label = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*";
                text.len() <= 253 && matches(label, text)
            }
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Cidr => text.split_once('/').is_some_and(|(address, bits)| {
                let bits = bits.parse::<u8>().ok().filter(|it| it.to_string() == bits);
                let most = match (address.parse::<Ipv4Addr>(), address.parse::<Ipv6Addr>()) {
                    (Ok(_), _) => 32,
                    (_, Ok(_)) => 128,
                    _ => return false,
                };
                bits.is_some_and(|bits| bits <= most)
            }),
            Self::DateTime => text.parse::<jiff::Timestamp>().is_ok(),
            Self::Semver => matches(
                r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?",
                text,
            ),
        }
    }
}
