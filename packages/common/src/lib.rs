//! What the packages share: the arguments of a call, addresses, and requests whose answers are JSON.
//!
//! Each package says itself what an answer means.

use opal_plugin::{Call, Error, ErrorKind, Part, Probe, Response, Secret};
use serde_json::Value;

/// The arguments of a call.
#[derive(Debug)]
pub struct Args<'c> {
    all: Value,
    secrets: &'c [Secret],
}

impl<'c> Args<'c> {
    pub fn of(call: &'c Call) -> Self {
        let all = serde_json::from_str(&call.args).unwrap_or_default();
        Self { all, secrets: &call.secrets }
    }

    /// A text; an empty one where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.all[name].as_str().unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.all[name].as_u64()
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.all[name].as_bool().unwrap_or_default()
    }

    /// A secret, which only opal can read.
    pub fn secret(&self, name: &str) -> Option<&'c Secret> {
        let number = self.all[name]["$secret"].as_u64()?;
        self.secrets.get(usize::try_from(number).ok()?)
    }

    /// The address of a server, without the `/` at its end.
    pub fn server(&self) -> Result<&str, Error> {
        let server = self.text("server").trim_end_matches('/');
        let rest = server.strip_prefix("https://").or(server.strip_prefix("http://"));
        match rest {
            Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', '@']) => Ok(server),
            _ => {
                let message = format!("`{}` is not the address of a server", self.text("server"));
                let error = Error::new(ErrorKind::Invalid, message);
                Err(error.help("write it like `https://server.example`"))
            }
        }
    }
}

/// What a call shows to a server: its parameter `token`, or what a variable of the user holds.
#[derive(Debug)]
pub enum Token<'c> {
    Given(&'c Secret),
    Own(Secret),
    None,
}

impl<'c> Token<'c> {
    pub fn of(args: &Args<'c>, probe: &Probe, variable: &str) -> Result<Self, Error> {
        match args.secret("token") {
            Some(given) => Ok(Self::Given(given)),
            None => Ok(probe.env(variable)?.map_or(Self::None, Self::Own)),
        }
    }

    pub fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Given(secret) => Some(secret),
            Self::Own(secret) => Some(secret),
            Self::None => None,
        }
    }
}

/// A path in an address: each of its parts says itself, and none is another one.
pub fn path(text: &str) -> Result<String, Error> {
    let parts: Vec<&str> = text.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        let error = Error::new(ErrorKind::Invalid, format!("`{text}` is not a path"));
        return Err(error.help("write it like `app/database`"));
    }
    Ok(parts.into_iter().map(segment).collect::<Vec<_>>().join("/"))
}

/// A text as one part of an address.
pub fn segment(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A header with a plain text.
pub fn header<'p>(name: &str, value: &str) -> (String, Vec<Part<'p>>) {
    (name.to_owned(), vec![Part::Text(value.to_owned())])
}

/// The document of an answer.
pub fn json(answer: &Response, from: &str) -> Result<Value, Error> {
    serde_json::from_slice(&answer.body).map_err(|_| {
        let message = format!("`{from}` answers {}, and not with JSON", answer.status);
        Error::new(ErrorKind::Failed, message).help("check the address of the server")
    })
}

/// What opal cannot reach is named, and what to do about it.
pub fn unreached(error: Error, server: &str) -> Error {
    match error.kind {
        ErrorKind::Missing | ErrorKind::Failed if error.help.is_empty() => {
            error.help(format!("check that `{server}` can be reached"))
        }
        _ => error,
    }
}
