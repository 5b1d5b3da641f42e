//! The helper, the guest in Rust, and an opal that answers from a table.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::data::Secret;
use opal_core::protocol::call::{Function, Invocation, Load};
use opal_core::protocol::request::{Content, Handle, Millis, Named, Revealed, Service, WriteFile};
use opal_core::protocol::{Body, Kind, Refusal};
use opal_core::wiped::Wiped;
use opal_plugins::client::{CallFailure, Component, Host, Hosts, Serve};

pub(crate) const BUILD: &str = opal_helper::BUILD;

pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_opal-plugin-host"))
}

pub(crate) use opal_testing::guest::wasm as guest;

/// A component, compiled by the helper.
pub(crate) fn compile(wasm: &[u8]) -> Result<(File, Vec<String>), Refusal> {
    let mut from = tempfile::tempfile().unwrap();
    from.write_all(wasm).unwrap();
    let to = tempfile::tempfile().unwrap();
    let exports = Host::compile(program(), BUILD, &from, &to).unwrap()?;
    Ok((to, exports))
}

/// The guest in Rust, compiled once.
pub(crate) fn component() -> Component {
    static COMPILED: OnceLock<(File, Vec<String>)> = OnceLock::new();
    let (file, exports) = COMPILED.get_or_init(|| compile(guest()).unwrap());
    named("acme/guest", file.try_clone().unwrap(), exports.clone())
}

pub(crate) fn named(name: &str, compiled: File, exports: Vec<String>) -> Component {
    let load = Load { exports, memory_mib: 64 };
    let (name, version) = (name.to_owned(), "1.2.3".to_owned());
    Component { name, version, compiled, load, native: None, is_alone: false }
}

pub(crate) fn hosts() -> Hosts {
    Hosts::at(PathBuf::from(program()))
}

pub(crate) fn invocation(decorator: &str, subject: &str) -> Invocation {
    Invocation {
        decorator: decorator.to_owned(),
        subject: Some(subject.to_owned()),
        args: Secret::new("{}"),
        secrets: 0,
        text: None,
        seed: "11".repeat(32),
        token: None,
        outcome: None,
        event: None,
    }
}

/// Calls `value.resolve` of the guest.
pub(crate) fn resolve(
    hosts: &Hosts,
    component: &Component,
    decorator: &str,
    subject: &str,
) -> Result<String, CallFailure> {
    let mut opal = Opal::default();
    let it = invocation(decorator, subject);
    let (body, _) = hosts.call(component, Function::Resolve, &it, &mut opal)?;
    Ok(body.get::<String>("value").unwrap())
}

/// An opal with one file, one variable, and a log of what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Opal {
    pub(crate) asked: Vec<String>,
    pub(crate) written: Vec<(String, Vec<u8>)>,
    pub(crate) is_stopped: bool,
    /// Stop when this is asked.
    pub(crate) stops_at: Option<Service>,
    /// Wait that long before it stops.
    pub(crate) stops_after: Option<std::time::Instant>,
}

impl Serve for Opal {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        let name = params.read::<Named>().map(|it| it.name.expose().to_owned()).unwrap_or_default();
        self.asked.push(format!("{} {name}", service.word()).trim_end().to_owned());
        if self.stops_at == Some(service) {
            self.is_stopped = true;
        }
        match service {
            Service::ProbeRead if name == "here" => {
                Ok(Body::of(&Content { bytes: Wiped::new(b"content".to_vec()) }))
            }
            Service::ProbeRead if name == "large" => {
                Ok(Body::of(&Content { bytes: Wiped::new(vec![b'x'; 3 << 20]) }))
            }
            Service::ProbeRead => Err(Refusal::new(Kind::Missing, "no such file")),
            Service::ProbeEnv => Ok(Body::of(&Handle { secret: (name == "SET").then_some(7) })),
            Service::Reveal => match params.read::<Handle>().unwrap().secret {
                Some(7) => Ok(Body::of(&Revealed { text: Secret::new("canary-5150") })),
                _ => Err(Refusal::new(Kind::Denied, "not a handle of this call")),
            },
            Service::ProbeNow => Ok(Body::of(&Millis { ms: 1_700_000_000_123 })),
            Service::StageWrite => {
                let it: WriteFile = params.read().unwrap();
                self.written.push((it.path.expose().to_owned(), it.bytes.to_vec()));
                Ok(Body::default())
            }
            Service::StageKeep | Service::StageLog => Ok(Body::default()),
            _ => Err(Refusal::new(Kind::Denied, "not granted")),
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped || self.stops_after.is_some_and(|at| std::time::Instant::now() > at)
    }
}
