//! Parameters and results: values, and the bytes that follow their line.
//!
//! A frame is a map with the one key `$frame`, whose number is its place among the frames. Only this
//! module makes and reads such maps.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::wiped::Wiped;
use base64ct::{Base64, Encoding as _};

use crate::data::json::FRAME;
use crate::data::{Data, Secret};

/// Bytes that are wiped when their last owner lets go of them.
pub type Bytes = Arc<Wiped<Vec<u8>>>;

/// Longer text and bytes follow the line.
const INLINE_TEXT: usize = 16 << 10;
const INLINE_BYTES: usize = 1 << 10;

/// Frames that are collected for a line.
#[derive(Default)]
pub struct Frames(pub(super) Vec<Bytes>);

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|frame| frame.len())).finish()
    }
}

impl Frames {
    pub fn text(&mut self, text: &Secret) -> Data {
        if text.expose().len() <= INLINE_TEXT {
            return Data::Text(text.clone());
        }
        self.frame(text.expose().as_bytes())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Data {
        if bytes.len() <= INLINE_BYTES {
            return Data::text(Base64::encode_string(bytes));
        }
        self.frame(bytes)
    }

    fn frame(&mut self, bytes: &[u8]) -> Data {
        let place = Data::Int(i64::try_from(self.0.len()).unwrap_or(i64::MAX));
        self.0.push(Arc::new(Wiped::new(bytes.to_vec())));
        Data::Map(BTreeMap::from([(FRAME.to_owned(), place)]))
    }

    /// The bytes of all frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|frame| frame.len()).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is said in a call or a reply.
#[derive(Debug)]
pub struct Body {
    pub data: Data,
    pub frames: Frames,
}

impl Default for Body {
    fn default() -> Self {
        Self { data: Data::Map(BTreeMap::new()), frames: Frames::default() }
    }
}

impl Body {
    /// What has this shape.
    pub fn of<T: Shape>(it: &T) -> Self {
        let mut frames = Frames::default();
        let data = it.write(&mut frames);
        Self { data, frames }
    }

    /// Adds a field.
    #[must_use]
    pub fn with<T: Shape>(mut self, name: &str, it: &T) -> Self {
        let data = it.write(&mut self.frames);
        if let Data::Map(fields) = &mut self.data {
            fields.insert(name.to_owned(), data);
        }
        self
    }

    #[must_use]
    pub fn view(&self) -> View<'_> {
        View { data: &self.data, frames: &self.frames.0 }
    }

    /// The whole, where it has this shape.
    #[must_use]
    pub fn read<T: Shape>(&self) -> Option<T> {
        T::read(self.view())
    }

    /// A field, where it has this shape. A missing one is null.
    #[must_use]
    pub fn get<T: Shape>(&self, name: &str) -> Option<T> {
        T::read(self.view().field(name))
    }
}

/// A value and the frames it may name.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub data: &'a Data,
    frames: &'a [Bytes],
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data.fmt(f)
    }
}

impl<'a> View<'a> {
    /// Null where there is none.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        let found = match self.data {
            Data::Map(fields) => fields.get(name),
            _ => None,
        };
        View { data: found.unwrap_or(&Data::Null), ..self }
    }

    #[must_use]
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        match self.data {
            Data::Array(items) => Some(items.iter().map(move |data| View { data, ..self })),
            _ => None,
        }
    }

    fn frame(self) -> Option<&'a Bytes> {
        let Data::Map(fields) = self.data else { return None };
        let Data::Int(place) = fields.get(FRAME).filter(|_| fields.len() == 1)? else {
            return None;
        };
        self.frames.get(usize::try_from(*place).ok()?)
    }

    pub fn get<T: Shape>(self, name: &str) -> Option<T> {
        T::read(self.field(name))
    }
}

/// What can be said. Reading gives none where the other side said something else.
pub trait Shape: Sized {
    fn write(&self, frames: &mut Frames) -> Data;
    fn read(view: View<'_>) -> Option<Self>;
}

impl Shape for Secret {
    fn write(&self, frames: &mut Frames) -> Data {
        frames.text(self)
    }

    fn read(view: View<'_>) -> Option<Self> {
        if let Data::Text(text) = view.data {
            return Some(text.clone());
        }
        Some(Self::new(str::from_utf8(view.frame()?).ok()?))
    }
}

impl Shape for String {
    fn write(&self, frames: &mut Frames) -> Data {
        frames.text(&Secret::new(self.as_str()))
    }

    fn read(view: View<'_>) -> Option<Self> {
        Secret::read(view).map(|text| text.expose().to_owned())
    }
}

impl Shape for Wiped<Vec<u8>> {
    fn write(&self, frames: &mut Frames) -> Data {
        frames.bytes(self)
    }

    fn read(view: View<'_>) -> Option<Self> {
        if let Data::Text(text) = view.data {
            return Base64::decode_vec(text.expose()).ok().map(Wiped::new);
        }
        view.frame().map(|bytes| Wiped::clone(bytes))
    }
}

impl Shape for bool {
    fn write(&self, _: &mut Frames) -> Data {
        Data::Bool(*self)
    }

    fn read(view: View<'_>) -> Option<Self> {
        match view.data {
            Data::Bool(it) => Some(*it),
            _ => None,
        }
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Shape for $number {
            fn write(&self, _: &mut Frames) -> Data {
                Data::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn read(view: View<'_>) -> Option<Self> {
                match view.data {
                    Data::Int(it) => Self::try_from(*it).ok(),
                    _ => None,
                }
            }
        }
    )*};
}
numbers!(u16, u32, u64, i32);

impl<T: Shape> Shape for Option<T> {
    fn write(&self, frames: &mut Frames) -> Data {
        self.as_ref().map_or(Data::Null, |it| it.write(frames))
    }

    fn read(view: View<'_>) -> Option<Self> {
        match view.data {
            Data::Null => Some(None),
            _ => T::read(view).map(Some),
        }
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn write(&self, frames: &mut Frames) -> Data {
        Data::Array(self.iter().map(|it| it.write(frames)).collect())
    }

    fn read(view: View<'_>) -> Option<Self> {
        view.items()?.map(T::read).collect()
    }
}

impl<A: Shape, B: Shape> Shape for (A, B) {
    fn write(&self, frames: &mut Frames) -> Data {
        Data::Array(vec![self.0.write(frames), self.1.write(frames)])
    }

    fn read(view: View<'_>) -> Option<Self> {
        let mut items = view.items().filter(|items| items.len() == 2)?;
        Some((A::read(items.next()?)?, B::read(items.next()?)?))
    }
}

/// A record: its fields by name, in both directions. A field that is unknown is refused.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }

        impl $crate::protocol::Shape for $name {
            fn write(
                &self,
                frames: &mut $crate::protocol::Frames,
            ) -> $crate::data::Data {
                let mut fields = std::collections::BTreeMap::new();
                $(fields.insert(
                    stringify!($field).to_owned(),
                    $crate::protocol::Shape::write(&self.$field, frames),
                );)*
                $crate::data::Data::Map(fields)
            }

            fn read(view: $crate::protocol::body::View<'_>) -> Option<Self> {
                let known: &[&str] = &[$(stringify!($field),)*];
                match view.data {
                    $crate::data::Data::Map(fields)
                        if fields.keys().all(|key| known.contains(&key.as_str())) => {}
                    _ => return None,
                }
                Some(Self { $($field: view.get(stringify!($field))?,)* })
            }
        }
    };
}
pub(crate) use record;
