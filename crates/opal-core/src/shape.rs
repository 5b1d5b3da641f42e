//! What a manifest says about a value beyond its [`Type`]: bounds, formats, known fields.
//!
//! A shape describes a value completely; the type of a parameter follows from it. What is not known yet
//! gets the benefit of the doubt, as with types.

mod format;

use crate::code::Code;
use crate::data::Data;
use crate::parameter::{Known, Mismatch, matches};
use crate::types::{Choices, Field, Type, TypeRef};

pub use format::Format;

#[derive(Debug)]
pub struct Shape {
    pub kind: ShapeKind,
    /// Whether nothing may be there too.
    pub nullable: bool,
    /// A secret: a handle where it is given, a secret where it is returned.
    pub secret: bool,
    pub docs: &'static str,
}

#[derive(Debug)]
pub enum ShapeKind {
    Text {
        pattern: Option<&'static str>,
        characters: (u64, u64),
        format: Option<Format>,
    },
    /// A closed set; of those that are deprecated, what to write instead.
    Choice {
        choices: &'static [&'static str],
        deprecated: &'static [(&'static str, &'static str)],
    },
    Int {
        low: i64,
        high: i64,
    },
    Number {
        low: f64,
        high: f64,
    },
    Bool,
    Duration,
    List(&'static Shape),
    Map(&'static Shape),
    Fields(&'static [ShapeField]),
    /// Fields that depend on the text of one of them.
    Union {
        tag: &'static str,
        cases: &'static [(&'static str, &'static [ShapeField])],
    },
    /// An Int or a Float.
    Numeric,
    /// One alone, or a list.
    OneOrMore(&'static Shape),
    Any,
}

#[derive(Debug)]
pub struct ShapeField {
    pub name: &'static str,
    pub required: bool,
    pub shape: Shape,
}

impl Shape {
    /// What to write instead of a text that is deprecated.
    #[must_use]
    pub fn instead_of(&self, text: &str) -> Option<&'static str> {
        let ShapeKind::Choice { deprecated, .. } = &self.kind else { return None };
        deprecated.iter().find(|(name, _)| *name == text).map(|(_, instead)| *instead)
    }

    /// The type of what has this shape.
    #[must_use]
    pub fn type_of(&self) -> Type {
        match &self.kind {
            _ if self.nullable => Type::Any,
            ShapeKind::Text { .. } => Type::String,
            ShapeKind::Choice { choices, .. } => Type::OneOf(Choices::Static(choices)),
            ShapeKind::Int { .. } => Type::Int,
            ShapeKind::Number { .. } => Type::Float,
            ShapeKind::Bool => Type::Bool,
            ShapeKind::Duration => Type::Duration,
            ShapeKind::List(element) => Type::array(element.type_of()),
            ShapeKind::Map(element) => {
                Type::Map(TypeRef::Shared(std::sync::Arc::new(element.type_of())))
            }
            ShapeKind::Fields(_) | ShapeKind::Union { .. } => {
                Type::Map(TypeRef::Static(&Type::Any))
            }
            ShapeKind::Numeric | ShapeKind::OneOrMore(_) | ShapeKind::Any => Type::Any,
        }
    }

    /// The same for what is returned: the fields that are known can be named.
    #[must_use]
    pub fn result_type(&self) -> Type {
        match &self.kind {
            ShapeKind::Fields(fields) if !self.nullable => {
                let field = |it: &'static ShapeField| Field {
                    name: it.name,
                    ty: if it.required { it.shape.result_type() } else { Type::Any },
                    docs: it.shape.docs,
                };
                Type::Object(Box::leak(fields.iter().map(field).collect()))
            }
            _ => self.type_of(),
        }
    }

    /// Whether any part of it is a secret.
    #[must_use]
    pub fn holds_secret(&self) -> bool {
        let any = |fields: &[ShapeField]| fields.iter().any(|field| field.shape.holds_secret());
        self.secret
            || match &self.kind {
                ShapeKind::List(element)
                | ShapeKind::Map(element)
                | ShapeKind::OneOrMore(element) => element.holds_secret(),
                ShapeKind::Fields(fields) => any(fields),
                ShapeKind::Union { cases, .. } => cases.iter().any(|(_, fields)| any(fields)),
                _ => false,
            }
    }

    /// The shape of a field, of the value of a key, or without a name of an element.
    #[must_use]
    pub fn part(&self, name: Option<&str>) -> Option<&Self> {
        match (&self.kind, name) {
            (ShapeKind::Fields(fields), Some(name)) => {
                fields.iter().find(|field| field.name == name).map(|field| &field.shape)
            }
            (ShapeKind::Map(element), Some(_)) | (ShapeKind::List(element), None) => Some(element),
            _ => None,
        }
    }

    /// The parts of a value that are secret.
    pub fn secrets<'d>(&self, data: &'d Data, found: &mut Vec<&'d Data>) {
        if self.secret {
            found.push(data);
            return;
        }
        let of = |fields: &[ShapeField], found: &mut Vec<&'d Data>| {
            let Data::Map(given) = data else { return };
            for field in fields {
                if let Some(part) = given.get(field.name) {
                    field.shape.secrets(part, found);
                }
            }
        };
        match (&self.kind, data) {
            (ShapeKind::List(element) | ShapeKind::OneOrMore(element), Data::Array(items)) => {
                items.iter().for_each(|item| element.secrets(item, found));
            }
            (ShapeKind::Map(element), Data::Map(items)) => {
                items.values().for_each(|item| element.secrets(item, found));
            }
            (ShapeKind::Fields(fields), _) => of(fields, found),
            (ShapeKind::Union { cases, .. }, _) => {
                cases.iter().for_each(|(_, fields)| of(fields, found));
            }
            _ => {}
        }
    }

    /// Whether a value has this shape.
    ///
    /// # Errors
    /// The first rule that it breaks, with the place inside the value.
    pub fn check(&self, value: &dyn Known) -> Result<(), Mismatch> {
        self.check_at(value, "")
    }

    fn check_at(&self, value: &dyn Known, place: &str) -> Result<(), Mismatch> {
        let given = value.type_of();
        if given == Type::Any || (self.nullable && given == Type::Null) {
            return Ok(());
        }
        let broken = |code, why: String| Mismatch::Shape { place: place.to_owned(), code, why };
        let ty = self.plain_type();
        if !ty.accepts(&given) {
            let why = format!("expects {}, got {}", ty.with_article(), given.with_article());
            return Err(broken(Code::WrongType, why));
        }
        match &self.kind {
            ShapeKind::Text { pattern, characters, format } => match value.as_text() {
                Some(text) => check_text(text, *pattern, *characters, *format)
                    .map_err(|(code, why)| broken(code, why)),
                None => Ok(()),
            },
            ShapeKind::Choice { choices, .. } => match value.as_text() {
                Some(text) if !choices.contains(&text) => Err(broken(
                    Code::NotAChoice,
                    crate::parameter::expected(choices.iter().copied()),
                )),
                _ => Ok(()),
            },
            ShapeKind::Int { low, high } => match value.as_int() {
                Some(given) if !(low..=high).contains(&&given) => {
                    Err(broken(Code::OutOfRange, format!("must be between {low} and {high}")))
                }
                _ => Ok(()),
            },
            ShapeKind::Number { low, high } => match value.as_float() {
                Some(given) if !(*low..=*high).contains(&given) => {
                    Err(broken(Code::OutOfRange, format!("must be between {low} and {high}")))
                }
                _ => Ok(()),
            },
            ShapeKind::Numeric if !matches!(given, Type::Int | Type::Float) => {
                let given = given.with_article();
                Err(broken(Code::WrongType, format!("expects an Int or a Float, got {given}")))
            }
            ShapeKind::OneOrMore(element) => match given {
                Type::Array(_) => element.check_all(value, place),
                _ => element.check_at(value, place),
            },
            ShapeKind::Bool | ShapeKind::Duration | ShapeKind::Numeric | ShapeKind::Any => Ok(()),
            ShapeKind::List(element) | ShapeKind::Map(element) => element.check_all(value, place),
            ShapeKind::Fields(fields) => check_fields(fields, None, value, place),
            ShapeKind::Union { tag, cases } => {
                let Some(parts) = value.parts() else { return Ok(()) };
                let case = parts.iter().find(|(name, _)| name == tag);
                let Some((_, case)) = case else {
                    return Err(broken(Code::MissingArgument, format!("needs the field `{tag}`")));
                };
                let Some(text) = case.as_text() else { return Ok(()) };
                match cases.iter().find(|(name, _)| *name == text) {
                    Some((_, fields)) => check_fields(fields, Some(tag), value, place),
                    None => {
                        let place = format!("{place}.{tag}");
                        let why = crate::parameter::expected(cases.iter().map(|(name, _)| *name));
                        Err(Mismatch::Shape { place, code: Code::NotAChoice, why })
                    }
                }
            }
        }
    }

    /// Every part of a value.
    fn check_all(&self, value: &dyn Known, place: &str) -> Result<(), Mismatch> {
        let mut parts = value.parts().into_iter().flatten();
        parts.try_for_each(|(name, part)| self.check_at(part, &format!("{place}.{name}")))
    }

    /// All of it but the texts for people, for the hash of what a decorator promises.
    pub(crate) fn canonical(&self, out: &mut String) {
        use std::fmt::Write as _;
        out.push_str(if self.nullable { "nullable " } else { "" });
        out.push_str(if self.secret { "secret " } else { "" });
        let _ = match &self.kind {
            ShapeKind::Text { pattern, characters: (least, most), format } => {
                let format = format.map(Format::name);
                write!(out, "text({pattern:?},{least},{most},{format:?})")
            }
            ShapeKind::Choice { choices, .. } => write!(out, "choice({choices:?})"),
            ShapeKind::Int { low, high } => write!(out, "int({low},{high})"),
            ShapeKind::Number { low, high } => write!(out, "number({low:?},{high:?})"),
            ShapeKind::Bool => write!(out, "bool"),
            ShapeKind::Duration => write!(out, "duration"),
            ShapeKind::List(element) | ShapeKind::Map(element) => {
                out.push_str(if matches!(self.kind, ShapeKind::List(_)) {
                    "list("
                } else {
                    "map("
                });
                element.canonical(out);
                write!(out, ")")
            }
            ShapeKind::OneOrMore(element) => {
                out.push_str("one(");
                element.canonical(out);
                write!(out, ")")
            }
            ShapeKind::Numeric => write!(out, "numeric"),
            ShapeKind::Any => write!(out, "any"),
            ShapeKind::Fields(fields) => {
                canonical_fields(fields, out);
                Ok(())
            }
            ShapeKind::Union { tag, cases } => {
                let _ = write!(out, "union({tag:?}");
                for (case, fields) in *cases {
                    let _ = write!(out, ",{case:?}");
                    canonical_fields(fields, out);
                }
                write!(out, ")")
            }
        };
    }

    fn plain_type(&self) -> Type {
        match &self.kind {
            ShapeKind::List(_) => Type::array(Type::Any),
            ShapeKind::Map(_) | ShapeKind::Fields(_) | ShapeKind::Union { .. } => {
                Type::Map(TypeRef::Static(&Type::Any))
            }
            ShapeKind::Choice { .. } | ShapeKind::Text { .. } => Type::String,
            ShapeKind::Int { .. } => Type::Int,
            ShapeKind::Number { .. } => Type::Float,
            ShapeKind::Bool => Type::Bool,
            ShapeKind::Duration => Type::Duration,
            ShapeKind::Numeric | ShapeKind::OneOrMore(_) | ShapeKind::Any => Type::Any,
        }
    }
}

fn check_text(
    text: &str,
    pattern: Option<&'static str>,
    (least, most): (u64, u64),
    format: Option<Format>,
) -> Result<(), (Code, String)> {
    let length = text.chars().count() as u64;
    if !(least..=most).contains(&length) {
        let why = match most {
            u64::MAX => format!("must have at least {least} characters"),
            _ => format!("must have between {least} and {most} characters"),
        };
        return Err((Code::OutOfRange, why));
    }
    if let Some(pattern) = pattern.filter(|pattern| !matches(pattern, text)) {
        return Err((Code::PatternMismatch, format!("must match `{pattern}`")));
    }
    match format.filter(|format| !format.holds(text)) {
        Some(format) => Err((Code::PatternMismatch, format!("must be a valid {}", format.name()))),
        None => Ok(()),
    }
}

fn canonical_fields(fields: &[ShapeField], out: &mut String) {
    use std::fmt::Write as _;
    out.push('{');
    for field in fields {
        let _ = write!(out, "{:?}{}:", field.name, if field.required { "!" } else { "" });
        field.shape.canonical(out);
        out.push(',');
    }
    out.push('}');
}

fn check_fields(
    fields: &[ShapeField],
    tag: Option<&str>,
    value: &dyn Known,
    place: &str,
) -> Result<(), Mismatch> {
    let Some(parts) = value.parts() else { return Ok(()) };
    let broken = |code, why: String| Mismatch::Shape { place: place.to_owned(), code, why };
    for (name, part) in &parts {
        match fields.iter().find(|field| field.name == name) {
            Some(field) => field.shape.check_at(*part, &format!("{place}.{name}"))?,
            None if tag == Some(name) => {}
            None => {
                let known = crate::parameter::expected(fields.iter().map(|field| field.name));
                let why = format!("has no field `{name}`; {known}");
                return Err(broken(Code::UnknownArgument, why));
            }
        }
    }
    let missing =
        fields.iter().find(|it| it.required && !parts.iter().any(|(name, _)| name == it.name));
    match missing {
        Some(field) => {
            Err(broken(Code::MissingArgument, format!("needs the field `{}`", field.name)))
        }
        None => Ok(()),
    }
}
