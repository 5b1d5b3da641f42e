//! Types of values, as schemas write them: a JSON document.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

use super::MAX_DEPTH;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// Any type; values carry theirs.
    Dynamic,
    Bool,
    Number,
    String,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Tuple(Vec<Type>),
    Object(BTreeMap<String, Type>),
}

/// A schema has something else where a type belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotType;

impl fmt::Display for NotType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a type")
    }
}

impl Type {
    /// Reads the JSON form, such as `["list","string"]`.
    pub fn read(bytes: &[u8]) -> Result<Self, NotType> {
        let json: Json = serde_json::from_slice(bytes).map_err(|_| NotType)?;
        Self::of(&json, 0)
    }

    fn of(json: &Json, depth: usize) -> Result<Self, NotType> {
        if depth > MAX_DEPTH {
            return Err(NotType);
        }
        let inner = |json: &Json| Self::of(json, depth + 1);
        match json {
            Json::String(word) => match word.as_str() {
                "dynamic" => Ok(Self::Dynamic),
                "bool" => Ok(Self::Bool),
                "number" => Ok(Self::Number),
                "string" => Ok(Self::String),
                _ => Err(NotType),
            },
            Json::Array(parts) => match parts.split_first().map(|(word, of)| (word.as_str(), of)) {
                Some((Some("list"), [of])) => Ok(Self::List(Box::new(inner(of)?))),
                Some((Some("set"), [of])) => Ok(Self::Set(Box::new(inner(of)?))),
                Some((Some("map"), [of])) => Ok(Self::Map(Box::new(inner(of)?))),
                Some((Some("tuple"), [Json::Array(of)])) => {
                    Ok(Self::Tuple(of.iter().map(inner).collect::<Result<_, _>>()?))
                }
                // A third part names what may be left out of a configuration; values have all.
                Some((Some("object"), [Json::Object(of)] | [Json::Object(of), Json::Array(_)])) => {
                    let fields = of.iter().map(|(name, of)| Ok((name.clone(), inner(of)?)));
                    Ok(Self::Object(fields.collect::<Result<_, NotType>>()?))
                }
                _ => Err(NotType),
            },
            _ => Err(NotType),
        }
    }

    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> Json {
        let pair = |word: &str, of: &Self| Json::Array(vec![word.into(), of.json()]);
        match self {
            Self::Dynamic => "dynamic".into(),
            Self::Bool => "bool".into(),
            Self::Number => "number".into(),
            Self::String => "string".into(),
            Self::List(of) => pair("list", of),
            Self::Set(of) => pair("set", of),
            Self::Map(of) => pair("map", of),
            Self::Tuple(of) => {
                Json::Array(vec!["tuple".into(), of.iter().map(Self::json).collect()])
            }
            Self::Object(of) => {
                let fields = of.iter().map(|(name, of)| (name.clone(), of.json())).collect();
                Json::Array(vec!["object".into(), Json::Object(fields)])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_and_written() {
        for text in [
            r#""string""#,
            r#""dynamic""#,
            r#"["list","number"]"#,
            r#"["map",["set","bool"]]"#,
            r#"["object",{"a":"string","b":["tuple",["bool","number"]]}]"#,
        ] {
            let read = Type::read(text.as_bytes()).unwrap();
            assert_eq!(read.json().to_string(), text);
        }
    }

    #[test]
    fn anything_but_a_type_is_refused() {
        let deep = format!("{}\"string\"{}", "[\"list\",".repeat(100), "]".repeat(100));
        for text in
            ["", "null", "[]", "{}", r#""text""#, r#"["list"]"#, r#"["map","string",1]"#, &deep]
        {
            assert_eq!(Type::read(text.as_bytes()), Err(NotType), "{text}");
        }
    }
}
