//! Requests of plugins: any method, one answer, and only public addresses unless a private one is meant.
//!
//! The name is resolved once, and the connection goes to the address that was checked. Through a proxy
//! the proxy resolves, so only the name was checked.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use opal_core::Secret;
use opal_core::pages::{ExchangeRequest, ExchangeResponse, Exchanges, Variables};
use opal_core::resolver::{MAX_VALUE_BYTES, Trouble};
use opal_core::wiped;
use ureq::config::Config;
use ureq::http::{Request, Uri};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use crate::authorities::Clients;
use crate::client::{failed, parse, proxy, server, trouble};
use crate::error::{PageError, ServerError};

/// Bytes of an answer from which nothing more is needed than whether it is a good one.
const BEGINNING: u64 = 64 << 10;

/// How much of an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// All of it: one that is too long is an error.
    Whole,
    /// Its beginning, however long it is.
    Beginning,
}

/// A client for plugins. Connections are kept.
#[derive(Debug, Default)]
pub struct Exchanger {
    public: Clients,
    any: Clients,
}

impl Exchanges for Exchanger {
    fn exchange(
        &self,
        request: &ExchangeRequest<'_>,
        variables: &Variables<'_>,
    ) -> Result<ExchangeResponse, Trouble> {
        let body = request.body.expose().as_bytes();
        Ok(self.ask(request, body, Reading::Whole, variables)?)
    }
}

impl Exchanger {
    /// Sends bytes to an address that a user has named, wherever it is, and reads the beginning of the answer.
    /// Nothing is followed, and nothing is tried again.
    pub fn post(
        &self,
        url: &Secret,
        headers: &[(String, Secret)],
        body: &[u8],
        timeout: Duration,
        variables: &Variables<'_>,
    ) -> Result<ExchangeResponse, Trouble> {
        let none = Secret::new("");
        let request = ExchangeRequest {
            method: "POST",
            url,
            headers,
            body: &none,
            is_private: true,
            timeout,
        };
        Ok(self.ask(&request, body, Reading::Beginning, variables)?)
    }

    fn ask(
        &self,
        request: &ExchangeRequest<'_>,
        body: &[u8],
        reading: Reading,
        variables: &Variables<'_>,
    ) -> Result<ExchangeResponse, PageError> {
        let uri = parse(request.url.expose())?;
        let server = server(&uri);
        let broken = |error: &Error| trouble(&server, error, request.timeout);
        let proxy = proxy(variables, &uri).map_err(|error| broken(&error))?;
        let proxy = proxy.filter(|proxy| !proxy.is_no_proxy(&uri));
        let agent = match request.is_private || proxy.is_some() {
            true => self.any.get(&uri, variables, |it| agent(it, Addresses::Any)),
            false => self.public.get(&uri, variables, |it| agent(it, Addresses::Public)),
        }?;
        let mut built = Request::builder().method(request.method).uri(uri.clone());
        for (name, value) in request.headers {
            built = built.header(name, value.expose());
        }
        let built = built.body(body).map_err(|_| PageError::InvalidHeader)?;
        let built = agent
            .configure_request(built)
            .timeout_global(Some(request.timeout))
            .allow_non_standard_methods(true)
            .proxy(proxy)
            .build();
        let mut response = agent.run(built).map_err(|error| match error {
            // What the resolver says here.
            Error::Other(_) => failed(&server, ServerError::Private),
            error => broken(&error),
        })?;
        let headers = response.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), Secret::new(value.to_str().ok()?)))
        });
        let headers = headers.collect();
        let status = response.status().as_u16();
        let most = match reading {
            Reading::Whole => MAX_VALUE_BYTES + 1,
            Reading::Beginning => BEGINNING,
        };
        let bytes = wiped::read(&mut response.body_mut().as_reader(), most)
            .map_err(|error| broken(&Error::from(error)))?;
        if bytes.len() as u64 > MAX_VALUE_BYTES {
            return Err(failed(&server, ServerError::TooLarge));
        }
        Ok(ExchangeResponse { status, headers, body: bytes })
    }
}

fn agent(config: Config, addresses: Addresses) -> Agent {
    let names = Checked { names: DefaultResolver::default(), addresses };
    Agent::with_parts(config, DefaultConnector::default(), names)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addresses {
    Public,
    Any,
}

/// Names of hosts, whose addresses are checked before anything connects to one.
#[derive(Debug)]
struct Checked {
    names: DefaultResolver,
    addresses: Addresses,
}

impl Resolver for Checked {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.names.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            error => error,
        })?;
        let is_fine = |address: IpAddr| self.addresses == Addresses::Any || is_public(address);
        // One private address among public ones is how a name leads inside.
        match found.iter().all(|address| is_fine(address.ip())) {
            true => Ok(found),
            false => Err(Error::Other(Box::new(std::fmt::Error))),
        }
    }
}

/// Whether an address is one of the internet: not of this machine, its networks, or a group.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [a, b, c, _] = it.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_special =
                a == 0 || a >= 240 || (a, b, c) == (192, 0, 0) || (a == 198 && b & 0xfe == 18);
            !(it.is_loopback()
                || it.is_private()
                || it.is_link_local()
                || it.is_multicast()
                || it.is_broadcast()
                || it.is_documentation()
                || is_shared
                || is_special)
        }
        IpAddr::V6(it) => {
            // The same address in other clothes: mapped, compatible, NAT64, 6to4.
            let inner = it.to_ipv4().or_else(|| inside(it));
            if let Some(inner) = inner {
                return is_public(IpAddr::V4(inner));
            }
            let first = it.segments()[0];
            let is_global = (0x2000..0x4000).contains(&first);
            let is_documentation = first == 0x2001 && it.segments()[1] == 0xdb8;
            is_global && !is_documentation
        }
    }
}

fn inside(address: Ipv6Addr) -> Option<std::net::Ipv4Addr> {
    let segments = address.segments();
    let pair = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        std::net::Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_networks_are_not_public() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:169.254.169.254",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
