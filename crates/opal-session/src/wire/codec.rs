//! Bytes of requests and replies. Everything that is decoded is checked: lengths against what is
//! there, names, depths and counts against the limits.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use opal_core::Secret;
use opal_core::wiped;
use opal_core::wiped::Wiped;

use super::{MAX_DEPTH, MAX_NAMES};

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// What can be sent.
pub trait Wire: Sized {
    fn encode(&self, to: &mut Encoder);
    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed>;
}

/// Bytes to be sent. They are wiped, because there may be values among them.
#[derive(Debug, Default)]
pub struct Encoder(Wiped<Vec<u8>>);

impl Encoder {
    pub fn raw(&mut self, bytes: &[u8]) {
        wiped::reserve(&mut self.0, bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// A length and so many bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// What was encoded so far.
    #[must_use]
    pub fn into_bytes(self) -> Wiped<Vec<u8>> {
        self.0
    }

    /// More than [`u32::MAX`] of anything is refused by who sends the message as a whole.
    pub fn count(&mut self, count: usize) {
        self.raw(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }
}

/// All bytes of something.
pub fn encoded(it: &impl Wire) -> Wiped<Vec<u8>> {
    let mut encoder = Encoder::default();
    it.encode(&mut encoder);
    encoder.0
}

/// What the bytes say, all of them.
pub fn decoded<T: Wire>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut decoder = Decoder { bytes, names: 0, depth: 0 };
    let it = T::decode(&mut decoder)?;
    match decoder.bytes {
        [] => Ok(it),
        _ => Err(Malformed("there are bytes after the end of a message")),
    }
}

/// Bytes that were received.
#[derive(Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    names: usize,
    depth: usize,
}

impl<'a> Decoder<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let split = self.bytes.split_at_checked(count);
        let (taken, rest) = split.ok_or(Malformed("a message ends in the middle"))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| Malformed("a message ends in the middle"))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let count = u32::decode(self)? as usize;
        self.take(count)
    }

    /// How many follow, each of at least one byte.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = u32::decode(self)? as usize;
        match count <= self.bytes.len() {
            true => Ok(count),
            false => Err(Malformed("a message ends in the middle")),
        }
    }

    /// Something inside of something.
    pub fn nested<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        if self.depth == MAX_DEPTH {
            return Err(Malformed("a value is more than 64 levels deep"));
        }
        self.depth += 1;
        let it = decode(self);
        self.depth -= 1;
        it
    }
}

/// The name of an entry of a directory: one component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub OsString);

impl Wire for Name {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.0.as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        from.names += 1;
        if from.names > MAX_NAMES {
            return Err(Malformed("there are more than 200,000 names"));
        }
        match from.bytes()? {
            b"" => Err(Malformed("a name is empty")),
            b"." | b".." => Err(Malformed("a name is `.` or `..`")),
            name if name.contains(&b'/') => Err(Malformed("a name contains `/`")),
            name if name.contains(&0) => Err(Malformed("a name contains NUL")),
            name => Ok(Self(OsStr::from_bytes(name).to_owned())),
        }
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl Wire for $number {
            fn encode(&self, to: &mut Encoder) {
                to.raw(&self.to_le_bytes());
            }

            fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
                Ok(Self::from_le_bytes(from.array()?))
            }
        })+
    };
}

numbers!(u8, u16, u32, u64, i32, i64, f64);

impl Wire for bool {
    fn encode(&self, to: &mut Encoder) {
        to.raw(&[u8::from(*self)]);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("neither true nor false")),
        }
    }
}

impl Wire for String {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(from.bytes()?);
        text.map(str::to_owned).map_err(|_| Malformed("a text is not UTF-8"))
    }
}

impl Wire for Secret {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.expose().as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        String::decode(from).map(Self::new)
    }
}

/// Any bytes: what no path can be is refused by who uses it, with a message that names it.
impl Wire for PathBuf {
    fn encode(&self, to: &mut Encoder) {
        to.bytes(self.as_os_str().as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        from.bytes().map(|path| OsString::from_vec(path.to_vec()).into())
    }
}

impl Wire for Duration {
    fn encode(&self, to: &mut Encoder) {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX).encode(to);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        u64::decode(from).map(Self::from_nanos)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn encode(&self, to: &mut Encoder) {
        self.is_some().encode(to);
        if let Some(it) = self {
            it.encode(to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        bool::decode(from)?.then(|| T::decode(from)).transpose()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.len());
        self.iter().for_each(|it| it.encode(to));
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        // Nothing is reserved for what a stranger only says to be there.
        let count = from.count()?;
        (0..count).map(|_| T::decode(from)).collect()
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.len());
        for (key, value) in self {
            key.encode(to);
            value.encode(to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let mut map = Self::new();
        for _ in 0..from.count()? {
            let (key, value) = (String::decode(from)?, T::decode(from)?);
            if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(Malformed("the keys of a map are not in order"));
            }
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// A struct, field by field.
macro_rules! record {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::wire::codec::Wire for $name {
            fn encode(&self, to: &mut $crate::wire::codec::Encoder) {
                let Self { $($field),* } = self;
                $($crate::wire::codec::Wire::encode($field, to);)*
            }

            fn decode(
                from: &mut $crate::wire::codec::Decoder<'_>,
            ) -> Result<Self, $crate::wire::codec::Malformed> {
                $(let $field = $crate::wire::codec::Wire::decode(from)?;)*
                Ok(Self { $($field),* })
            }
        }
    };
}

/// An enum: a number for each variant, then its fields.
macro_rules! choice {
    ($name:ident, $what:literal { $($number:literal => $variant:ident { $($field:ident),* }),+ $(,)? }) => {
        impl $crate::wire::codec::Wire for $name {
            fn encode(&self, to: &mut $crate::wire::codec::Encoder) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        to.raw(&[$number]);
                        $($crate::wire::codec::Wire::encode($field, to);)*
                    })+
                }
            }

            fn decode(
                from: &mut $crate::wire::codec::Decoder<'_>,
            ) -> Result<Self, $crate::wire::codec::Malformed> {
                match u8::decode(from)? {
                    $($number => {
                        $(let $field = $crate::wire::codec::Wire::decode(from)?;)*
                        Ok(Self::$variant { $($field),* })
                    })+
                    _ => Err($crate::wire::codec::Malformed(concat!("unknown kind of ", $what))),
                }
            }
        }
    };
}

pub(crate) use {choice, record};
