//! The request for a target inside a target, as bytes.
//!
//! It names a hop and never a program: the helper builds the words itself. Names are parsed when they
//! are decoded, so none that the grammar does not allow comes through.

use std::str::FromStr;

use opal_core::target::{
    Engine, Hop, Image, KubeContext, Mount, Name, NewContainer, Pod, User, Via,
};

use super::Timing;
use super::codec::{Decoder, Encoder, Malformed, Wire, choice, record};
use super::effect::Windows;
use crate::reach::{Dialling, Nonce};

/// A hop from the machine of the helper. Its streams are those of the program that leads there.
#[derive(Clone, Debug)]
pub struct Reaching {
    pub hop: Hop,
    pub dialling: Dialling,
    pub has_password: bool,
    pub windows: Windows,
}

record!(Reaching { hop, dialling, has_password, windows });
record!(Dialling { nonce, digests, is_read_only, timing });
record!(Timing { ping, lost });
record!(NewContainer { engine, image, mounts, network });
record!(Pod { name, namespace, container, context });
choice!(Engine, "engine" { 0 => Auto {}, 1 => Docker {}, 2 => Podman {} });
choice!(Via, "program" { 0 => Sudo {}, 1 => Doas {} });

impl Wire for Nonce {
    fn encode(&self, to: &mut Encoder) {
        to.raw(&self.0);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self(from.array()?))
    }
}

macro_rules! names {
    ($($name:ident),+) => {
        $(impl Wire for $name {
            fn encode(&self, to: &mut Encoder) {
                to.bytes(self.as_str().as_bytes());
            }

            fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
                let text = String::decode(from)?;
                Self::from_str(&text).map_err(|_| Malformed("an invalid name"))
            }
        })+
    };
}

names!(Image, KubeContext, Name, User);

impl Wire for Mount {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.to_string().as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let text = String::decode(from)?;
        // There is one way to write it.
        let mount = text.parse::<Self>().ok().filter(|mount| mount.to_string() == text);
        mount.ok_or(Malformed("an invalid mount"))
    }
}

impl Wire for Hop {
    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Container { engine, name } => {
                to.raw(&[0]);
                engine.encode(to);
                name.encode(to);
            }
            Self::Pod(pod) => {
                to.raw(&[1]);
                pod.encode(to);
            }
            Self::User { user, via } => {
                to.raw(&[2]);
                user.encode(to);
                via.encode(to);
            }
            Self::NewContainer(new) => {
                to.raw(&[3]);
                new.encode(to);
            }
            // No helper decodes it: a machine is never inside a target.
            Self::Local | Self::Ssh(_) | Self::Program(_) => to.raw(&[255]),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            0 => Ok(Self::Container { engine: Wire::decode(from)?, name: Wire::decode(from)? }),
            1 => Ok(Self::Pod(Wire::decode(from)?)),
            2 => Ok(Self::User { user: Wire::decode(from)?, via: Wire::decode(from)? }),
            3 => Ok(Self::NewContainer(Wire::decode(from)?)),
            _ => Err(Malformed("unknown kind of hop")),
        }
    }
}
