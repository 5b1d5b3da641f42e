//! Templates.

use opal_core::gather::Gather as _;
use opal_core::template::{Fault, Reason, Template, Templates as _, Values};
use opal_core::{Data, Secret};
use opal_helper::Parcel;
use opal_template::{Engine, bounds};
use serde_json::{Value, json};

pub(crate) fn answer(request: &Parcel) -> Option<Parcel> {
    let head = request.head.get("template")?;
    let source = request.text(0)?;
    let template = Template { source, allow_missing: head.get("allow_missing")?.as_bool()? };
    if head.get("what")?.as_str()? == "names" {
        return Some(match Engine.names(&template) {
            Ok(names) => Parcel::new(json!({"names": names})),
            Err(fault) => faulty(&fault),
        });
    }
    if head.get("apart").is_some() {
        bounds::limit_this_process().ok()?;
    } else {
        match Engine.is_tame(&template) {
            Ok(true) => {}
            Ok(false) => return Some(Parcel::new(json!({"computes": true}))),
            Err(fault) => return Some(faulty(&fault)),
        }
    }
    let values: Value = serde_json::from_slice(request.blobs.get(1)?).ok()?;
    let Value::Object(values) = values else { return None };
    let values: Vec<(String, Data)> =
        values.into_iter().map(|(name, value)| (name, data(value))).collect();
    let values: Values<'_> = values.iter().map(|(name, data)| (name.as_str(), data)).gathered();
    Some(match Engine.render(&template, &values) {
        Ok(rendered) => {
            let mut parcel = Parcel::new(json!({}));
            parcel.blobs.push(rendered);
            parcel
        }
        Err(fault) => faulty(&fault),
    })
}

fn faulty(fault: &Fault) -> Parcel {
    let mut document = json!({"line": fault.line, "help": fault.help});
    match &fault.reason {
        Reason::Missing { name, is_method, near } => {
            document["missing"] = json!(name);
            document["is_method"] = json!(is_method);
            document["near"] = json!(near);
        }
        Reason::Other(message) => document["other"] = json!(message),
    }
    Parcel::new(json!({"fault": document}))
}

fn data(value: Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Data::Int(value),
            None => Data::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Data::Text(Secret::new(text)),
        Value::Array(items) => Data::Array(items.into_iter().map(data).collect()),
        Value::Object(fields) => {
            Data::Map(fields.into_iter().map(|(name, field)| (name, data(field))).gathered())
        }
    }
}
