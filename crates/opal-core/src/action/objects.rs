//! What decorators of packages open and act on.

use crate::data::Secret;

/// Something outside of the run that a decorator of a package opened, and has to close.
#[derive(Clone, Copy, Debug)]
pub struct OpenObject<'a> {
    /// Under which everything that closing needs is kept.
    pub id: &'a str,
    pub plugin: &'a str,
    pub version: &'a str,
    pub decorator: &'a str,
    /// What the plugin calls it.
    pub token: &'a Secret,
    /// Whether this machine keeps what closing needs.
    pub is_kept: bool,
}

/// An object of the world that a decorator of a package acted on.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    pub plugin: &'a str,
    pub version: &'a str,
    /// Its type, where the package has several.
    pub of: Option<&'a str>,
    /// What the world calls it; before it is there, what it is found by.
    pub identity: Option<&'a Secret>,
    pub news: ObjectNews,
}

/// What is known about an object that a decorator of a package acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectNews {
    /// It is about to be acted on: what is done to it.
    Intended(&'static str),
    /// It was acted on.
    Made,
    /// It was there before: opal never closes or deletes it.
    Adopted,
}
