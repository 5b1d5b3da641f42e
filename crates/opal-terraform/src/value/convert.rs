//! Values of opal as values of providers, by type, and back. Nothing is coerced.

use std::collections::BTreeMap;
use std::fmt;

use opal_core::data::Data;

use super::{Number, Text, Type, Value};

/// An argument that a type does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, from the argument on: `rule[0].port`.
    pub path: String,
    pub expected: &'static str,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: expected {}", self.path, self.expected)
    }
}

/// What an argument says. Attributes that it leaves out are null.
pub fn from_data(data: &Data, of: &Type, path: &str) -> Result<Value, Mismatch> {
    let fail = |expected| Err(Mismatch { path: path.to_owned(), expected });
    let items = |items: &[Data], of: &Type| -> Result<Vec<Value>, Mismatch> {
        let each = items.iter().enumerate();
        each.map(|(index, item)| from_data(item, of, &format!("{path}[{index}]"))).collect()
    };
    match (data, of) {
        (Data::Null, _) => Ok(Value::Null),
        (data, Type::Dynamic) => Ok(open(data)),
        (Data::Bool(it), Type::Bool) => Ok(Value::Bool(*it)),
        (Data::Int(number), Type::Number) => Ok(Value::int(*number)),
        (Data::Float(number), Type::Number) if number.is_finite() => {
            Ok(Value::Number(Number::float(*number)))
        }
        (Data::Text(text), Type::String) => Ok(Value::Text(Text(text.clone()))),
        (Data::Duration(it), Type::String) => Ok(Value::text(it.to_string())),
        (Data::Array(all), Type::List(of)) => items(all, of).map(Value::List),
        (Data::Array(all), Type::Set(of)) => items(all, of).map(Value::set),
        (Data::Array(all), Type::Tuple(of)) if all.len() == of.len() => {
            let each = all.iter().zip(of).enumerate();
            let each =
                each.map(|(index, (item, of))| from_data(item, of, &format!("{path}[{index}]")));
            each.collect::<Result<_, _>>().map(Value::List)
        }
        (Data::Map(fields), Type::Map(of)) => {
            let each = fields.iter().map(|(name, data)| {
                Ok((name.clone(), from_data(data, of, &format!("{path}.{name}"))?))
            });
            each.collect::<Result<_, _>>().map(Value::Map)
        }
        (Data::Map(fields), Type::Object(of)) => {
            if let Some(other) = fields.keys().find(|name| !of.contains_key(*name)) {
                let path = format!("{path}.{other}");
                return Err(Mismatch { path, expected: "an attribute of the schema" });
            }
            let each = of.iter().map(|(name, of)| {
                let data = fields.get(name).unwrap_or(&Data::Null);
                Ok((name.clone(), from_data(data, of, &format!("{path}.{name}"))?))
            });
            each.collect::<Result<_, _>>().map(Value::Map)
        }
        (_, of) => fail(named(of)),
    }
}

const fn named(of: &Type) -> &'static str {
    match of {
        Type::Dynamic => "a value",
        Type::Bool => "a Bool",
        Type::Number => "an Int or a Float",
        Type::String => "a String",
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => "an Array",
        Type::Map(_) | Type::Object(_) => "a Map",
    }
}

/// A value where the schema leaves the type open.
fn open(data: &Data) -> Value {
    match data {
        Data::Null => Value::Null,
        Data::Bool(it) => Value::Bool(*it),
        Data::Int(number) => Value::int(*number),
        Data::Float(number) => Value::Number(Number::float(*number)),
        Data::Text(text) => Value::Text(Text(text.clone())),
        Data::Duration(it) => Value::text(it.to_string()),
        Data::Array(items) => Value::List(items.iter().map(open).collect()),
        Data::Map(fields) => {
            Value::Map(fields.iter().map(|(name, data)| (name.clone(), open(data))).collect())
        }
    }
}

/// A number that opal has no type for, or a value that is not known, as a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoData {
    /// E1404.
    OutOfRange,
    Unknown,
}

/// What a field of a result is.
pub fn to_data(value: &Value) -> Result<Data, NoData> {
    Ok(match value {
        Value::Null => Data::Null,
        Value::Unknown => return Err(NoData::Unknown),
        Value::Bool(it) => Data::Bool(*it),
        Value::Number(Number::Int(number)) => Data::Int(*number),
        Value::Number(Number::Float(number)) if number.is_finite() => Data::Float(*number),
        Value::Number(_) => return Err(NoData::OutOfRange),
        Value::Text(text) => Data::Text(text.0.clone()),
        Value::List(items) => Data::Array(items.iter().map(to_data).collect::<Result<_, _>>()?),
        Value::Map(fields) => {
            let each = fields.iter().map(|(name, value)| Ok((name.clone(), to_data(value)?)));
            Data::Map(each.collect::<Result<BTreeMap<_, _>, NoData>>()?)
        }
        Value::Typed(typed) => to_data(&typed.1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_core::data::json;

    #[test]
    fn nothing_is_coerced() {
        for (of, json, why) in [
            (r#""string""#, "1", "`a`: expected a String"),
            (r#""number""#, r#""1""#, "`a`: expected an Int or a Float"),
            (r#""bool""#, r#""true""#, "`a`: expected a Bool"),
            (r#"["list","string"]"#, r#""x""#, "`a`: expected an Array"),
            (r#"["list","string"]"#, r#"["x",2]"#, "`a[1]`: expected a String"),
            (r#"["map","bool"]"#, r#"{"k":1}"#, "`a.k`: expected a Bool"),
            (
                r#"["object",{"x":"bool"}]"#,
                r#"{"y":true}"#,
                "`a.y`: expected an attribute of the schema",
            ),
            (r#"["tuple",["bool"]]"#, "[]", "`a`: expected an Array"),
        ] {
            let of = Type::read(of.as_bytes()).unwrap();
            let said = from_data(&json::read(json).unwrap(), &of, "a").unwrap_err().to_string();
            assert_eq!(said, why);
        }
    }

    #[test]
    fn a_number_out_of_range_and_an_unknown_cannot_be_results() {
        let long = Number::decimal("18446744073709551616").unwrap();
        assert!(matches!(to_data(&Value::Number(long)), Err(NoData::OutOfRange)));
        assert!(matches!(to_data(&Value::List(vec![Value::Unknown])), Err(NoData::Unknown)));
    }
}
