//! The bytes of values: MessagePack, guided by a type.
//!
//! An extension is an unknown value, whatever its number: providers may say more about it than we
//! need. Lengths are checked against what is left, so a length alone allocates nothing.

use std::collections::BTreeMap;
use std::fmt;

use opal_core::data::Secret;
use rmp::Marker;
use rmp::encode;

use super::{MAX_DEPTH, MAX_ELEMENTS, Number, Text, Type, Value};

/// Why bytes are not a value of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes end in the middle of a value.
    Cut,
    /// Bytes follow the value.
    Rest,
    Depth,
    Elements,
    NotUtf8,
    /// A value of another type.
    Other,
    /// A key twice, or an attribute that the type does not have.
    Key,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("a value is cut off"),
            Self::Rest => f.write_str("bytes follow a value"),
            Self::Depth => write!(f, "a value is nested more than {MAX_DEPTH} levels deep"),
            Self::Elements => write!(f, "a value has more than {MAX_ELEMENTS} elements"),
            Self::NotUtf8 => f.write_str("a text is not UTF-8"),
            Self::Other => f.write_str("a value is not of the type in the schema"),
            Self::Key => f.write_str("an object has other attributes than the schema"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Reads one value of a type.
pub fn decode(bytes: &[u8], of: &Type) -> Result<Value, Malformed> {
    let mut reader = Reader { rest: bytes, elements: 0 };
    let value = reader.value(of, 0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(Malformed::Rest) }
}

struct Reader<'a> {
    rest: &'a [u8],
    elements: usize,
}

/// What a value begins with.
enum Head<'a> {
    Null,
    Unknown,
    Bool(bool),
    Number(Number),
    Bytes(&'a [u8]),
    Array(usize),
    Map(usize),
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn big<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed::Cut)
    }

    /// A length of 1, 2 or 4 bytes.
    fn length(&mut self, bytes: usize) -> Result<usize, Malformed> {
        let taken = self.take(bytes)?;
        Ok(taken.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    fn head(&mut self) -> Result<Head<'a>, Malformed> {
        let [marker] = self.big::<1>()?;
        Ok(match Marker::from_u8(marker) {
            Marker::Null => Head::Null,
            Marker::True => Head::Bool(true),
            Marker::False => Head::Bool(false),
            Marker::FixExt1 => self.unknown(1)?,
            Marker::FixExt2 => self.unknown(2)?,
            Marker::FixExt4 => self.unknown(4)?,
            Marker::FixExt8 => self.unknown(8)?,
            Marker::FixExt16 => self.unknown(16)?,
            marker @ (Marker::Ext8 | Marker::Ext16 | Marker::Ext32) => {
                let length = self.length(width(marker))?;
                self.unknown(length)?
            }
            Marker::FixStr(length) => Head::Bytes(self.take(length.into())?),
            marker @ (Marker::Str8
            | Marker::Str16
            | Marker::Str32
            | Marker::Bin8
            | Marker::Bin16
            | Marker::Bin32) => {
                let length = self.length(width(marker))?;
                Head::Bytes(self.take(length)?)
            }
            Marker::FixArray(length) => Head::Array(length.into()),
            marker @ (Marker::Array16 | Marker::Array32) => {
                Head::Array(self.length(width(marker))?)
            }
            Marker::FixMap(length) => Head::Map(length.into()),
            marker @ (Marker::Map16 | Marker::Map32) => Head::Map(self.length(width(marker))?),
            other => Head::Number(self.number(other)?),
        })
    }

    fn number(&mut self, marker: Marker) -> Result<Number, Malformed> {
        Ok(match marker {
            Marker::FixPos(number) => Number::Int(number.into()),
            Marker::FixNeg(number) => Number::Int(number.into()),
            Marker::U8 => Number::Int(u8::from_be_bytes(self.big()?).into()),
            Marker::U16 => Number::Int(u16::from_be_bytes(self.big()?).into()),
            Marker::U32 => Number::Int(u32::from_be_bytes(self.big()?).into()),
            Marker::U64 => {
                let number = u64::from_be_bytes(self.big()?);
                i64::try_from(number).map_or_else(|_| Number::Long(number.to_string()), Number::Int)
            }
            Marker::I8 => Number::Int(i8::from_be_bytes(self.big()?).into()),
            Marker::I16 => Number::Int(i16::from_be_bytes(self.big()?).into()),
            Marker::I32 => Number::Int(i32::from_be_bytes(self.big()?).into()),
            Marker::I64 => Number::Int(i64::from_be_bytes(self.big()?)),
            Marker::F32 => Number::float(f32::from_be_bytes(self.big()?).into()),
            Marker::F64 => Number::float(f64::from_be_bytes(self.big()?)),
            _ => return Err(Malformed::Other),
        })
    }

    /// Whatever an extension says, after the byte with its number.
    fn unknown(&mut self, length: usize) -> Result<Head<'a>, Malformed> {
        self.take(length + 1)?;
        Ok(Head::Unknown)
    }

    fn value(&mut self, of: &Type, depth: usize) -> Result<Value, Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed::Depth);
        }
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(Malformed::Elements);
        }
        match (self.head()?, of) {
            (Head::Null, _) => Ok(Value::Null),
            (Head::Unknown, _) => Ok(Value::Unknown),
            (Head::Array(2), Type::Dynamic) => self.typed(depth),
            (Head::Bool(it), Type::Bool) => Ok(Value::Bool(it)),
            (Head::Number(it), Type::Number) => Ok(Value::Number(it)),
            (Head::Bytes(digits), Type::Number) => {
                let number = str::from_utf8(digits).ok().and_then(Number::decimal);
                number.map(Value::Number).ok_or(Malformed::Other)
            }
            (Head::Bytes(bytes), Type::String) => Ok(Value::Text(text(bytes)?)),
            (Head::Array(length), Type::List(of)) => self.items(length, of, depth).map(Value::List),
            (Head::Array(length), Type::Set(of)) => self.items(length, of, depth).map(Value::set),
            (Head::Array(length), Type::Tuple(of)) if length == of.len() => of
                .iter()
                .map(|of| self.value(of, depth + 1))
                .collect::<Result<_, _>>()
                .map(Value::List),
            (Head::Map(length), Type::Map(of)) => self.fields(length, |_| Some(of), depth),
            (Head::Map(length), Type::Object(of)) => {
                if length != of.len() {
                    return Err(Malformed::Key);
                }
                self.fields(length, |name| of.get(name), depth)
            }
            _ => Err(Malformed::Other),
        }
    }

    /// A value with its type, where the schema leaves it open.
    fn typed(&mut self, depth: usize) -> Result<Value, Malformed> {
        let Head::Bytes(json) = self.head()? else { return Err(Malformed::Other) };
        let of = Type::read(json).map_err(|_| Malformed::Other)?;
        let value = self.value(&of, depth + 1)?;
        Ok(Value::Typed(Box::new((of, value))))
    }

    fn items(&mut self, length: usize, of: &Type, depth: usize) -> Result<Vec<Value>, Malformed> {
        self.check(length)?;
        (0..length).map(|_| self.value(of, depth + 1)).collect()
    }

    fn fields<'t>(
        &mut self,
        length: usize,
        of: impl Fn(&str) -> Option<&'t Type>,
        depth: usize,
    ) -> Result<Value, Malformed>
    where
        Type: 't,
    {
        self.check(length)?;
        let mut fields = BTreeMap::new();
        for _ in 0..length {
            let Head::Bytes(name) = self.head()? else { return Err(Malformed::Other) };
            let name = str::from_utf8(name).map_err(|_| Malformed::NotUtf8)?;
            let value = self.value(of(name).ok_or(Malformed::Key)?, depth + 1)?;
            if fields.insert(name.to_owned(), value).is_some() {
                return Err(Malformed::Key);
            }
        }
        Ok(Value::Map(fields))
    }

    /// Each element needs a byte at least.
    fn check(&self, length: usize) -> Result<(), Malformed> {
        if length > MAX_ELEMENTS {
            return Err(Malformed::Elements);
        }
        if length > self.rest.len() { Err(Malformed::Cut) } else { Ok(()) }
    }
}

/// How many bytes the length after a marker has.
const fn width(marker: Marker) -> usize {
    match marker {
        Marker::Ext8 | Marker::Str8 | Marker::Bin8 => 1,
        Marker::Ext16 | Marker::Str16 | Marker::Bin16 | Marker::Array16 | Marker::Map16 => 2,
        _ => 4,
    }
}

fn text(bytes: &[u8]) -> Result<Text, Malformed> {
    let text = str::from_utf8(bytes).map_err(|_| Malformed::NotUtf8)?;
    Ok(Text(Secret::new(text)))
}

/// Writes a value of a type. One that does not fit its type is refused.
pub fn encode(value: &Value, of: &Type) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    write(&mut out, value, of)?;
    Ok(out)
}

fn write(out: &mut Vec<u8>, value: &Value, of: &Type) -> Result<(), Malformed> {
    match (value, of) {
        (Value::Null, _) => out.push(0xc0),
        // Extension 0 with one byte, which means nothing.
        (Value::Unknown, _) => out.extend([0xd4, 0, 0]),
        (Value::Typed(typed), Type::Dynamic) => typed_value(out, &typed.1, &typed.0)?,
        (Value::Typed(typed), of) => write(out, &typed.1, of)?,
        (value, Type::Dynamic) => typed_value(out, value, &implied(value))?,
        (Value::Bool(it), Type::Bool) => out.push(if *it { 0xc3 } else { 0xc2 }),
        (Value::Number(number), Type::Number) => write_number(out, number),
        (Value::Text(text), Type::String) => string(out, text.expose()),
        (Value::List(items), Type::List(of) | Type::Set(of)) => {
            put(encode::write_array_len(out, length(items.len())?));
            for item in items {
                write(out, item, of)?;
            }
        }
        (Value::List(items), Type::Tuple(of)) if items.len() == of.len() => {
            put(encode::write_array_len(out, length(items.len())?));
            for (item, of) in items.iter().zip(of) {
                write(out, item, of)?;
            }
        }
        (Value::Map(fields), Type::Map(of)) => {
            put(encode::write_map_len(out, length(fields.len())?));
            for (name, value) in fields {
                string(out, name);
                write(out, value, of)?;
            }
        }
        (Value::Map(fields), Type::Object(of)) => {
            if fields.keys().any(|name| !of.contains_key(name)) {
                return Err(Malformed::Key);
            }
            put(encode::write_map_len(out, length(of.len())?));
            for (name, of) in of {
                string(out, name);
                write(out, value.field(name), of)?;
            }
        }
        _ => return Err(Malformed::Other),
    }
    Ok(())
}

/// Writing to memory does not fail.
fn put<T, E>(_: Result<T, E>) {}

fn length(length: usize) -> Result<u32, Malformed> {
    u32::try_from(length).map_err(|_| Malformed::Elements)
}

fn string(out: &mut Vec<u8>, text: &str) {
    put(encode::write_str(out, text));
}

fn write_number(out: &mut Vec<u8>, number: &Number) {
    match number {
        Number::Int(number) => put(encode::write_sint(out, *number)),
        Number::Float(number) => put(encode::write_f64(out, *number)),
        Number::Long(text) => string(out, text),
    }
}

fn typed_value(out: &mut Vec<u8>, value: &Value, of: &Type) -> Result<(), Malformed> {
    put(encode::write_array_len(out, 2));
    put(encode::write_bin(out, of.json().to_string().as_bytes()));
    write(out, value, of)
}

/// The type of a value that came without one.
fn implied(value: &Value) -> Type {
    match value {
        Value::Null | Value::Unknown => Type::Dynamic,
        Value::Bool(_) => Type::Bool,
        Value::Number(_) => Type::Number,
        Value::Text(_) => Type::String,
        Value::List(items) => Type::Tuple(items.iter().map(implied).collect()),
        Value::Map(fields) => Type::Object(
            fields.iter().map(|(name, value)| (name.clone(), implied(value))).collect(),
        ),
        Value::Typed(typed) => typed.0.clone(),
    }
}

#[cfg(test)]
mod tests;
