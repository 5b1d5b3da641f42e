//! Types of values. No type turns into another by itself.

use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Not known before values are; never written in source.
    Any,
    Null,
    Bool,
    Int,
    Float,
    String,
    Duration,
    Regex,
    Array(TypeRef),
    Map(TypeRef),
    /// A closed set of strings.
    OneOf(Choices),
    /// A map whose fields are known, as a decorator returns it.
    Object(&'static [Field]),
}

/// A field of an [`Type::Object`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub ty: Type,
    pub docs: &'static str,
}

/// A type inside another. Descriptors hold theirs in static memory, source texts share theirs.
#[derive(Clone, Debug)]
pub enum TypeRef {
    Static(&'static Type),
    Shared(Arc<Type>),
}

impl TypeRef {
    #[must_use]
    pub fn get(&self) -> &Type {
        match self {
            Self::Static(ty) => ty,
            Self::Shared(ty) => ty,
        }
    }
}

impl PartialEq for TypeRef {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
impl Eq for TypeRef {}

/// The members of a closed set.
#[derive(Clone, Debug)]
pub enum Choices {
    Static(&'static [&'static str]),
    Shared(Arc<[String]>),
}

impl Choices {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let (fixed, shared): (&[&str], &[String]) = match self {
            Self::Static(names) => (names, &[]),
            Self::Shared(names) => (&[], names),
        };
        fixed.iter().copied().chain(shared.iter().map(String::as_str))
    }

    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|choice| choice == name)
    }
}

impl PartialEq for Choices {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
impl Eq for Choices {}

impl Type {
    /// The names a source text may write.
    pub const NAMES: [&'static str; 7] =
        ["String", "Int", "Float", "Bool", "Duration", "Array", "Map"];

    /// The type written as `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "String" => Self::String,
            "Int" => Self::Int,
            "Float" => Self::Float,
            "Bool" => Self::Bool,
            "Duration" => Self::Duration,
            "Array" => Self::array(Self::Any),
            "Map" => Self::Map(TypeRef::Static(&Self::Any)),
            _ => return None,
        })
    }

    #[must_use]
    pub fn array(element: Self) -> Self {
        Self::Array(TypeRef::Shared(Arc::new(element)))
    }

    /// Whether a value of type `given` may appear where this type is expected.
    ///
    /// An unknown type is given the benefit of the doubt: the planner looks again with the value.
    #[must_use]
    pub fn accepts(&self, given: &Self) -> bool {
        match (self, given) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::String, Self::OneOf(_)) | (Self::OneOf(_), Self::String) => true,
            (Self::Array(want), Self::Array(have)) | (Self::Map(want), Self::Map(have)) => {
                want.get().accepts(have.get())
            }
            (Self::Map(_), Self::Object(_)) => true,
            (want, have) => want == have,
        }
    }
}

impl Type {
    /// The type with its article: `an Int`, `a String`.
    #[must_use]
    pub fn with_article(&self) -> String {
        let article = match self {
            Self::Int | Self::Array(_) => "an ",
            Self::Any | Self::Null => "",
            Self::OneOf(_) => "one of ",
            _ => "a ",
        };
        format!("{article}{self}")
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any value"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("Bool"),
            Self::Int => f.write_str("Int"),
            Self::Float => f.write_str("Float"),
            Self::String => f.write_str("String"),
            Self::Duration => f.write_str("Duration"),
            Self::Regex => f.write_str("Regex"),
            Self::Array(of) if *of.get() == Self::Any => f.write_str("Array"),
            Self::Array(of) => write!(f, "Array[{}]", of.get()),
            Self::Map(_) | Self::Object(_) => f.write_str("Map"),
            Self::OneOf(choices) => {
                for (index, choice) in choices.iter().enumerate() {
                    let separator = if index == 0 { "" } else { " | " };
                    write!(f, "{separator}\"{choice}\"")?;
                }
                Ok(())
            }
        }
    }
}
