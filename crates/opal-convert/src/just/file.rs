//! A justfile as it is written.

use super::expr::Fault;
use super::settings::{Attribute, Settings};
use crate::form::{Expr, Leftover, Param, Variable};

#[derive(Debug, Default)]
pub(super) struct Justfile {
    pub(super) settings: Settings,
    pub(super) variables: Vec<Variable>,
    pub(super) exported: Vec<String>,
    pub(super) aliases: Vec<Alias>,
    pub(super) recipes: Vec<Recipe>,
    pub(super) leftovers: Vec<Leftover>,
    /// Files that it names, in their order.
    pub(super) includes: Vec<Include>,
}

/// `alias name := target`.
#[derive(Debug)]
pub(super) struct Alias {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) target: String,
    pub(super) is_private: bool,
}

/// `import 'path'`, or `mod name 'path'`.
#[derive(Clone, Debug)]
pub(super) struct Include {
    pub(super) line: usize,
    /// None for an import, whose recipes are in the same namespace.
    pub(super) module: Option<String>,
    pub(super) path: Option<String>,
    pub(super) optional: bool,
    pub(super) source: String,
}

#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) line: usize,
    /// The file that it is in, where that is another one.
    pub(super) file: Option<String>,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) docs: Vec<String>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) header: Result<Header, Fault>,
    pub(super) body: Vec<String>,
}

/// `name params: before && after`.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) params: Vec<RecipeParam>,
    pub(super) before: Vec<(String, Vec<Expr>)>,
    pub(super) after: Vec<(String, Vec<Expr>)>,
}

#[derive(Debug)]
pub(super) struct RecipeParam {
    pub(super) param: Param,
    /// `+name`: at least one.
    pub(super) is_required_rest: bool,
    pub(super) is_exported: bool,
}
