//! Values of a plan from and to those of the language and of decorators.

use opal_core::{Data, Value};

use super::{Datum, Plain, TooLarge};
use opal_core::gather::Gather as _;

impl Datum {
    /// What the command line gives.
    pub(crate) fn given(value: &Value) -> Self {
        let plain = match value {
            Value::Array(items) => Self::array(items.iter().map(Self::given).collect()),
            Value::Map(fields) => {
                let fields = fields.iter();
                Self::map(fields.map(|(key, item)| ((**key).into(), Self::given(item))).gathered())
            }
            _ => Ok(Self::from(value).plain),
        };
        Self { given: true, ..Self::constant(plain.unwrap_or(Plain::Null)) }
    }

    /// The constant that this is; none where anything in it came from the world or will.
    pub(crate) fn to_value(&self) -> Option<Value> {
        if self.is_tainted() { None } else { self.clear() }
    }

    /// The value in clear, wherever it came from: for what is declared public.
    pub(crate) fn clear(&self) -> Option<Value> {
        Some(match &self.plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(*value),
            Plain::Int(value) => Value::Int(*value),
            Plain::Float(value) => Value::Float(*value),
            Plain::Text(text) => Value::String(text.expose().to_owned().into()),
            Plain::Duration(value) => Value::Duration(*value),
            Plain::Array(list) => {
                Value::Array(list.items.iter().map(Self::clear).collect::<Option<_>>()?)
            }
            Plain::Map(fields) => {
                let items = fields.items.iter();
                let items = items.map(|(key, item)| Some((key.to_string(), item.clear()?)));
                Value::Map(items.collect::<Option<Vec<_>>>()?.into_iter().gathered())
            }
            Plain::Handle(_) | Plain::Joined(_) | Plain::Open(_) => return None,
        })
    }

    /// The value for a decorator; none where it is not known yet.
    pub(crate) fn to_data(&self) -> Option<Data> {
        Some(match &self.plain {
            Plain::Null => Data::Null,
            Plain::Bool(value) => Data::Bool(*value),
            Plain::Int(value) => Data::Int(*value),
            Plain::Float(value) => Data::Float(*value),
            Plain::Text(text) => Data::Text(text.clone()),
            Plain::Duration(value) => Data::Duration(*value),
            Plain::Array(list) => {
                Data::Array(list.items.iter().map(Self::to_data).collect::<Option<_>>()?)
            }
            Plain::Map(fields) => {
                let items = fields.items.iter();
                let items = items.map(|(key, item)| Some((key.to_string(), item.to_data()?)));
                Data::Map(items.collect::<Option<Vec<_>>>()?.into_iter().gathered())
            }
            Plain::Handle(_) | Plain::Joined(_) | Plain::Open(_) => return None,
        })
    }
}

/// What a decorator gave; bounded by what a decorator may give.
impl TryFrom<Data> for Plain {
    type Error = TooLarge;

    fn try_from(data: Data) -> Result<Self, TooLarge> {
        let inner = |data| Ok(Datum::constant(Self::try_from(data)?));
        Ok(match data {
            Data::Null => Self::Null,
            Data::Bool(value) => Self::Bool(value),
            Data::Int(value) => Self::Int(value),
            Data::Float(value) => Self::Float(value),
            Data::Text(text) => Self::Text(text),
            Data::Duration(value) => Self::Duration(value),
            Data::Array(items) => {
                Datum::array(items.into_iter().map(inner).collect::<Result<_, _>>()?)?
            }
            Data::Map(fields) => {
                let items = fields.into_iter().map(|(key, item)| Ok((key.into(), inner(item)?)));
                Datum::map(items.collect::<Result<Vec<_>, _>>()?.into_iter().gathered())?
            }
        })
    }
}

impl From<&Value> for Datum {
    fn from(value: &Value) -> Self {
        let plain = Plain::try_from(Data::from(value));
        // Constants are bounded by the source and the command line.
        Self::constant(plain.unwrap_or(Plain::Null))
    }
}
