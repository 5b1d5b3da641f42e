//! Views of plans that are made by hand: the tree, and JSON against its published schema.

mod build;
mod everything;
mod from_file;
mod json;
mod large;
mod schema;
mod tree;
