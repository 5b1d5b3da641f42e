//! Results whose schema says which of their parts are secret.

use std::rc::Rc;

use opal_core::class::Flags;
use opal_core::decorator::Exposure;
use opal_core::shape::Shape;
use opal_core::{Class, Data};

use super::Datum;

/// Who may see the parts of a result: those that its schema marks are declared secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) shape: &'static Shape,
    /// The class of the other ones.
    pub(crate) otherwise: Class,
}

impl Parts {
    /// What must be hidden of a value: what is marked, and what looks like a secret.
    pub(crate) fn hidden(self, data: &Data) -> Data {
        if self.otherwise.is_secret() || self.shape.secret {
            return data.clone();
        }
        let mut found = Vec::new();
        self.shape.secrets(data, &mut found);
        looking_secret(data, &mut found);
        Data::Array(found.into_iter().cloned().collect())
    }
}

fn looking_secret<'d>(data: &'d Data, found: &mut Vec<&'d Data>) {
    match data {
        Data::Array(items) => items.iter().for_each(|item| looking_secret(item, found)),
        Data::Map(fields) => fields.values().for_each(|item| looking_secret(item, found)),
        leaf if class_of(leaf).is_secret() => found.push(leaf),
        _ => {}
    }
}

/// The class of a part that is not marked, by its looks.
fn class_of(data: &Data) -> Class {
    Class::of(Exposure::Plain, Flags::default(), None, Some(data))
}

impl Datum {
    /// As a part of a result: a secret only where its schema marks it, or something in it. Without a name
    /// it is an element.
    pub(crate) fn part_of(mut self, whole: &Self, name: Option<&str>) -> Self {
        let parts = whole.taint.as_ref().and_then(|taint| taint.parts);
        let part = parts.and_then(|it| Some(Parts { shape: it.shape.part(name)?, ..it }));
        let Some((part, data)) = part.and_then(|part| Some((part, self.to_data()?))) else {
            return self;
        };
        if let Some(taint) = self.taint.as_mut().map(Rc::make_mut) {
            taint.parts = Some(part);
            if !part.shape.holds_secret() {
                taint.class = class_of(&data).max(part.otherwise);
            }
        }
        self
    }
}
