//! Values, scripts and troubles as bytes.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use opal_core::action::{Limits, Why};
use opal_core::context::Context;
use opal_core::duration;
use opal_core::message::Message;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_core::{Data, Secret};

use super::codec::{Decoder, Encoder, Malformed, Wire, record};

impl Wire for Data {
    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Null => to.raw(&[0]),
            Self::Bool(it) => tagged(1, it, to),
            Self::Int(it) => tagged(2, it, to),
            Self::Float(it) => tagged(3, it, to),
            Self::Text(it) => tagged(4, it, to),
            Self::Duration(it) => tagged(5, &it.as_nanos(), to),
            Self::Array(it) => tagged(6, it, to),
            Self::Map(it) => tagged(7, it, to),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(match u8::decode(from)? {
            0 => Self::Null,
            1 => Self::Bool(Wire::decode(from)?),
            2 => Self::Int(Wire::decode(from)?),
            3 => Self::Float(Wire::decode(from)?),
            4 => Self::Text(Wire::decode(from)?),
            5 => Self::Duration(duration::Duration::from_nanos(i64::decode(from)?)),
            6 => Self::Array(from.nested(Vec::decode)?),
            7 => Self::Map(from.nested(BTreeMap::decode)?),
            _ => return Err(Malformed("unknown kind of value")),
        })
    }
}

fn tagged(tag: u8, it: &impl Wire, to: &mut Encoder) {
    to.raw(&[tag]);
    it.encode(to);
}

impl Wire for ScriptPart {
    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Text(text) => tagged(0, text, to),
            Self::Data(data, context) => {
                tagged(1, data, to);
                context.bits().encode(to);
            }
            Self::Raw(text) => tagged(2, text, to),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(match u8::decode(from)? {
            0 => Self::Text(Wire::decode(from)?),
            1 => Self::Data(Data::decode(from)?, Context::from_bits(u32::decode(from)?)),
            2 => Self::Raw(Secret::decode(from)?),
            _ => return Err(Malformed("unknown kind of script")),
        })
    }
}

record!(Limits { memory, processes, cpu });
record!(Trouble { kind, message, help });

/// Its text, and where the parts are that were given.
impl Wire for Message {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.as_bytes());
        let given = self.given();
        to.count(given.len());
        for part in given {
            to.count(part.start);
            to.count(part.end);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let text = String::decode(from)?;
        let count = from.count()?;
        let mut given = Vec::new();
        for _ in 0..count {
            given.push(u32::decode(from)? as usize..u32::decode(from)? as usize);
        }
        Self::with_given(text, given).ok_or(Malformed("a message whose parts are not in it"))
    }
}

/// A table with a number for each.
macro_rules! numbered {
    ($name:ident, $what:literal { $($number:literal => $variant:ident),+ $(,)? } else $other:expr) => {
        impl Wire for $name {
            fn encode(&self, to: &mut Encoder) {
                let number: u8 = match self {
                    $(Self::$variant => $number,)+
                    #[allow(unreachable_patterns, reason = "not every table has all variants")]
                    _ => $other,
                };
                number.encode(to);
            }

            fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
                match u8::decode(from)? {
                    $($number => Ok(Self::$variant),)+
                    _ => Err(Malformed(concat!("unknown kind of ", $what))),
                }
            }
        }
    };
}

numbered!(TroubleKind, "trouble" {
    0 => Missing, 1 => Denied, 2 => Failed, 3 => TimedOut, 4 => Unreachable, 5 => TooLarge,
    6 => NotText, 7 => Invalid, 8 => Lost,
} else 2);

// Those that a message tells apart.
numbered!(ErrorKind, "error" {
    0 => Other, 1 => NotFound, 2 => PermissionDenied, 3 => AlreadyExists, 4 => InvalidInput,
    5 => InvalidData, 6 => StorageFull, 7 => QuotaExceeded, 8 => ReadOnlyFilesystem,
    9 => InvalidFilename, 10 => CrossesDevices, 11 => WouldBlock, 12 => TimedOut,
    13 => FileTooLarge, 14 => IsADirectory, 15 => NotADirectory, 16 => BrokenPipe,
    17 => Interrupted, 18 => OutOfMemory, 19 => StaleNetworkFileHandle, 20 => ResourceBusy,
    21 => UnexpectedEof, 22 => ConnectionReset, 23 => HostUnreachable,
} else 0);

impl Wire for Why {
    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Signal(number) => tagged(0, number, to),
            Self::TimedOut => to.raw(&[1]),
            Self::Cancelled => to.raw(&[2]),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            0 => i32::decode(from).map(Self::Signal),
            1 => Ok(Self::TimedOut),
            2 => Ok(Self::Cancelled),
            _ => Err(Malformed("unknown kind of order")),
        }
    }
}
