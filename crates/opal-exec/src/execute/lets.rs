//! Bindings at run time: what a step gave, and the parts of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Names, StepError};
use opal_core::class::Flags;
use opal_core::decorator::{Descriptor, Exposure};
use opal_core::gather::Gather as _;
use opal_core::plan::{Arg, Binding, Handle, Part, Step};
use opal_core::resolver::Trouble;
use opal_core::{Class, Data, Secret, Type, Value};

/// The field that a captured command stands for where it is named alone.
const OUTPUT: &str = "stdout";

/// What is bound where a step is.
#[derive(Clone, Debug, Default)]
pub(super) struct Lets(Arc<BTreeMap<Arc<str>, Bound>>);

#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) data: Data,
    /// Whether it is the result of a command: alone it means what the command printed.
    pub(super) is_command: bool,
    /// It is not a secret: people may see it.
    pub(super) is_shown: bool,
    /// Parts of the result that its schema marks as secret.
    pub(super) secrets: Vec<Data>,
}

/// Longer values are not written out in the line of a step.
const MAX_SHOWN_BYTES: usize = 1000;

impl Lets {
    pub(super) fn bind(&mut self, id: &Arc<str>, bound: Bound) {
        Arc::make_mut(&mut self.0).insert(Arc::clone(id), bound);
    }

    /// A value as the line of a step shows it, where people may see it.
    pub(super) fn shown(&self, handle: &Handle) -> Option<Value> {
        let is_shown = self.0.get(&handle.id).is_some_and(|bound| bound.is_shown);
        let data = is_shown.then(|| self.get(handle).ok()).flatten()?;
        in_clear(&data).filter(|value| value.to_string().len() <= MAX_SHOWN_BYTES)
    }

    pub(super) fn get(&self, handle: &Handle) -> Result<Data, Trouble> {
        let bound = self.0.get(&handle.id).ok_or(StepError::UnboundLet(&handle.name))?;
        if handle.access.is_empty() {
            return Ok(bound.alone());
        }
        let names = if bound.is_shown || bound.is_command { Names::Said } else { Names::Hidden };
        access(&bound.data, &handle.name, &handle.access, names)
    }
}

impl Bound {
    /// Who may see it. Of a result with a schema everything is plain that looks plain; without one,
    /// as of a command, it may be anything.
    pub(super) fn class(&self, descriptor: &Descriptor, step: &Step) -> Class {
        let has_schema =
            matches!(&descriptor.returns, Some(returns) if matches!(returns.ty, Type::Object(_)));
        let exposure = match descriptor.exposure {
            Exposure::Resolved if has_schema && !gives_output(descriptor) => Exposure::Plain,
            exposure => exposure,
        };
        Class::of(exposure, flags(step), None, Some(&self.data))
    }

    /// What a binding reaches in the result of a decorator; `is_any` where the result is not what
    /// the decorator usually returns, `is_public` where everybody may see it.
    pub(super) fn new(
        descriptor: &Descriptor,
        result: Data,
        binding: &Binding,
        is_any: bool,
        is_public: bool,
    ) -> Result<Self, Trouble> {
        let (name, parts) = (&binding.name, binding.access.as_slice());
        let is_command = parts.is_empty() && !is_any && gives_output(descriptor);
        let names = if is_any && !is_public { Names::Hidden } else { Names::Said };
        let mut secrets = Vec::new();
        if let Some(shape) = descriptor.result {
            shape.secrets(&result, &mut secrets);
        }
        let secrets = secrets.into_iter().cloned().collect();
        let data = access(&result, name, parts, names)?;
        Ok(Self { data, is_command, is_shown: false, secrets })
    }

    fn alone(&self) -> Data {
        match (&self.data, self.is_command) {
            (Data::Map(fields), true) => match fields.get(OUTPUT) {
                Some(Data::Text(text)) => Data::Text(without_line_ends(text)),
                other => other.cloned().unwrap_or(Data::Null),
            },
            (data, _) => data.clone(),
        }
    }

    /// What must not be seen: all of it; of a command its output, and what else is `read` of it.
    /// What it says beside that is for people.
    pub(super) fn hidden<'r>(&self, read: impl Iterator<Item = &'r [Part]>) -> Data {
        if !self.is_command {
            return self.data.clone();
        }
        // Alone it is its output, and what is not there fails the step that reads it.
        let read = read.filter(|parts| !parts.is_empty());
        let parts = read.filter_map(|parts| access(&self.data, "", parts, Names::Hidden).ok());
        Data::Array([self.alone()].into_iter().chain(parts).collect())
    }
}

/// A value that is not a secret.
fn in_clear(data: &Data) -> Option<Value> {
    Some(match data {
        Data::Null => return None,
        Data::Bool(value) => Value::Bool(*value),
        Data::Int(value) => Value::Int(*value),
        Data::Float(value) => Value::Float(*value),
        Data::Duration(value) => Value::Duration(*value),
        Data::Text(text) => Value::String(text.expose().to_owned().into()),
        Data::Array(items) => Value::Array(items.iter().map(in_clear).collect::<Option<Vec<_>>>()?),
        Data::Map(fields) => {
            let fields = fields.iter().map(|(key, item)| Some((key.clone(), in_clear(item)?)));
            Value::Map(fields.collect::<Option<Vec<_>>>()?.into_iter().gathered())
        }
    })
}

/// What replaces what a binding holds.
pub(super) fn label_of(id: &str) -> String {
    format!("🔒 opal:h:{id}")
}

/// What the call of a step says about its result.
pub(super) fn flags(step: &Step) -> Flags {
    let says = |name| matches!(step.arg(name), Some(Arg::Const(Value::Bool(true))));
    Flags { public: says("public"), secret: says("secret") }
}

/// Whether the result is that of a command.
fn gives_output(descriptor: &Descriptor) -> bool {
    descriptor.returns.as_ref().is_some_and(|returns| {
        matches!(returns.ty, Type::Object(fields) if fields.iter().any(|f| f.name == OUTPUT))
    })
}

/// What `$( … )` would give.
pub(super) fn without_line_ends(text: &Secret) -> Secret {
    let kept = text.expose().trim_end_matches('\n');
    match kept.len() == text.expose().len() {
        true => text.clone(),
        false => Secret::new(kept),
    }
}

/// A handle as it is written: `let.pods[0].name`.
pub(super) fn written(name: &str, parts: &[Part]) -> String {
    let mut text = format!("let.{name}");
    for part in parts {
        match part {
            Part::Field(field) => text.extend([".", field]),
            Part::Index(index) => text.push_str(&format!("[{index}]")),
            Part::All => text.push_str(".*"),
        }
    }
    text
}

fn access(data: &Data, name: &str, parts: &[Part], names: Names) -> Result<Data, Trouble> {
    let mut data = data.clone();
    for (done, part) in parts.iter().enumerate() {
        data = one(&data, part).ok_or_else(|| {
            let base = &written(name, &parts[..done]);
            Trouble::from(StepError::Absent { part, data: &data, base, names })
        })?;
    }
    Ok(data)
}

fn one(data: &Data, part: &Part) -> Option<Data> {
    match (data, part) {
        (Data::Map(fields), Part::Field(field)) => match fields.get(&**field) {
            None if &**field == "length" => Some(count(fields.len())),
            found => found.cloned(),
        },
        (Data::Map(fields), Part::Index(index)) => fields.get(&index.to_string()).cloned(),
        (Data::Map(fields), Part::All) => Some(Data::Array(fields.values().cloned().collect())),
        (Data::Array(items), Part::Index(index)) => {
            items.get(usize::try_from(*index).ok()?).cloned()
        }
        (Data::Array(_), Part::All) => Some(data.clone()),
        (Data::Array(items), Part::Field(field)) if &**field == "length" => {
            Some(count(items.len()))
        }
        (Data::Text(text), Part::Field(field)) if &**field == "length" => {
            Some(count(text.characters()))
        }
        _ => None,
    }
}

fn count(items: usize) -> Data {
    Data::Int(i64::try_from(items).unwrap_or(i64::MAX))
}
