//! Templates, asked of `opal-extra`.

use std::collections::BTreeSet;

use opal_core::data::Data;
use opal_core::gather::Gather as _;
use opal_core::template::{
    Fault, MAX_MEMORY_MIB, MAX_SECONDS, Reason, Rendered, Template, Templates, Values,
};
use opal_core::wiped::Wiped;
use serde_json::{Map, Value, json};

use crate::{EXTRA, Extra, Helper, Parcel, Unusable};

impl Templates for Extra {
    fn names(&self, template: &Template<'_>) -> Result<BTreeSet<String>, Fault> {
        let answer = answer(self.compute(&request(template, "names", None)))?;
        let names = answer.head.get("names").and_then(Value::as_array);
        let text = |name: &Value| name.as_str().map(str::to_owned);
        let names = names.and_then(|names| names.iter().map(text).collect());
        names.ok_or_else(|| unasked(&Unusable::Silent { name: EXTRA }))
    }

    fn render(&self, template: &Template<'_>, values: &Values<'_>) -> Result<Rendered, Fault> {
        let mut answer = answer(self.compute(&request(template, "render", Some(values))))?;
        if answer.head.get("computes").is_some() {
            answer = apart(template, values)?;
        }
        answer.blobs.pop().ok_or_else(|| unasked(&Unusable::Silent { name: EXTRA }))
    }
}

/// A template that computes gets a process of its own, which the system ends where it needs too much.
fn apart(template: &Template<'_>, values: &Values<'_>) -> Result<Parcel, Fault> {
    let mut helper = Helper::start(EXTRA).map_err(|unusable| unasked(&unusable))?;
    let mut parcel = request(template, "render", Some(values));
    parcel.head["template"]["apart"] = json!(true);
    let asked = helper.ask(&parcel, &mut |_| Parcel::default());
    match asked {
        Err(Unusable::Silent { .. }) => Err(exceeded()),
        asked => answer(asked),
    }
}

/// Of a template whose process the system has ended.
fn exceeded() -> Fault {
    Fault::other(format!(
        "rendering needs more than {MAX_MEMORY_MIB} MiB of memory or {MAX_SECONDS} seconds of CPU time"
    ))
}

fn request(template: &Template<'_>, what: &str, values: Option<&Values<'_>>) -> Parcel {
    let head = json!({"what": what, "allow_missing": template.allow_missing});
    let parcel = Parcel::new(json!({"template": head})).with(template.source.as_bytes());
    let Some(values) = values else { return parcel };
    let values: Map<String, Value> =
        values.iter().map(|(name, data)| ((*name).to_owned(), document(data))).gathered();
    let values = Wiped::new(Value::Object(values).to_string());
    parcel.with(values.as_bytes())
}

fn answer(asked: Result<Parcel, Unusable>) -> Result<Parcel, Fault> {
    let answer = asked.map_err(|unusable| unasked(&unusable))?;
    answer.head.get("fault").and_then(fault).map_or(Ok(answer), Err)
}

fn unasked(unusable: &Unusable) -> Fault {
    Fault::other(unusable.to_string()).with_help(Some(unusable.help()))
}

fn fault(value: &Value) -> Option<Fault> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let reason = match text("missing") {
        Some(name) => {
            let is_method = value.get("is_method")?.as_bool()?;
            Reason::Missing { name, is_method, near: text("near") }
        }
        None => Reason::Other(text("other")?),
    };
    let line = value.get("line").and_then(Value::as_u64);
    let line = line.and_then(|line| usize::try_from(line).ok());
    Some(Fault { line, reason, help: text("help") })
}

fn document(data: &Data) -> Value {
    match data {
        Data::Null => Value::Null,
        Data::Bool(value) => json!(value),
        Data::Int(value) => json!(value),
        Data::Float(value) => json!(value),
        Data::Text(text) => json!(text.expose()),
        Data::Duration(duration) => json!(duration.to_string()),
        Data::Array(items) => items.iter().map(document).collect(),
        Data::Map(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.to_string(), document(field)));
            Value::Object(fields.gathered())
        }
    }
}
