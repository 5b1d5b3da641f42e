//! The first words of both sides.

use std::collections::BTreeMap;
use std::path::PathBuf;

use opal_core::Secret;
use opal_core::hash::Digest;

use super::codec::{Decoder, Encoder, Malformed, Wire, record};
use super::{BUILD, VERSION};

/// What a helper says of itself and its machine. Nothing of it is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub version: u32,
    pub build: String,
    /// Of its own program, where it was asked for that.
    pub digest: Option<Digest>,
    pub user: u32,
    /// `/etc/machine-id`; empty where there is none.
    pub machine: String,
    pub os: String,
    pub arch: String,
    pub name: String,
    /// Where steps start, unless [`Begin`] says so.
    pub start: PathBuf,
    pub home: Option<PathBuf>,
    /// Whether it cannot decode an effect.
    pub is_read_only: bool,
}

record!(Hello { version, build, digest, user, machine, os, arch, name, start, home, is_read_only });

impl Hello {
    /// Whether both sides speak the same language.
    pub fn check(&self) -> Result<(), Malformed> {
        if self.version != VERSION {
            return Err(Malformed("the helper speaks another version of the protocol"));
        }
        match self.build == BUILD {
            true => Ok(()),
            false => Err(Malformed("the helper is of another build than opal")),
        }
    }
}

/// What opal says first.
#[derive(Clone, Debug)]
pub struct Begin {
    pub version: u32,
    /// Tells the processes of this run from all others.
    pub marker: String,
    /// Where steps start.
    pub start: Option<PathBuf>,
    /// On top of the environment of the helper.
    pub environment: BTreeMap<String, Secret>,
    /// Whether the environment is first that of a login shell.
    pub is_login: bool,
}

record!(Begin { version, marker, start, environment, is_login });

impl Wire for Digest {
    fn encode(&self, to: &mut Encoder) {
        to.raw(&self.0);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self(from.array()?))
    }
}
