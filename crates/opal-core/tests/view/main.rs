//! Views of plans that are made by hand: the tree, and JSON against its published schema.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod build;
mod everything;
mod from_file;
mod json;
mod large;
mod schema;
mod tree;
