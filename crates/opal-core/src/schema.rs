//! Documents held against JSON Schemas, draft 2020-12.

use std::fmt;

use serde_json::Value;

/// Whoever knows the standard. It is large, so that opal asks a helper.
pub trait Schemas: Send + Sync + fmt::Debug {
    /// What in the document does not fit, at most `most`; without a document, only whether the schema
    /// is one.
    fn judge(
        &self,
        schema: &Value,
        document: Option<&Value>,
        most: usize,
    ) -> Result<Vec<Misfit>, Unjudged>;
}

/// A place of a document that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// A JSON pointer.
    pub place: String,
    pub kind: MisfitKind,
    /// Why, with [`Misfit::VALUE`] in place of the value.
    pub reason: String,
}

impl Misfit {
    pub const VALUE: &str = "this value";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MisfitKind {
    /// It is of another type.
    Type,
    /// The schema does not allow it at all.
    Unknown,
    /// This field is missing in it.
    Required(String),
    Other,
}

/// No judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// It is not even JSON, and why.
    NotJson(String),
    /// It is not a schema, and why.
    Invalid(String),
    /// Nobody can be asked: why, and what to do about it.
    Unasked { why: String, help: String },
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => write!(f, "it is not a JSON Schema: {reason}"),
            Self::NotJson(reason) => write!(f, "it is not JSON: {reason}"),
            Self::Unasked { why, .. } => f.write_str(why),
        }
    }
}
