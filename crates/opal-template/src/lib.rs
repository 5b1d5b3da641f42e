//! Templates: rendering Jinja, and Go's spelling as Jinja.
//!
//! | what | where |
//! |---|---|
//! | the engine, within bounds and without a way out | `engine`; methods of values in `methods` |
//! | what it says where a name does not exist | `names` |
//! | what it cannot be asked: names in slices, long chains | `slices`, `chains` |
//! | which templates can ask for any amount of memory, and a process that cannot have it | [`bounds`] |
//! | templates in Go's spelling | `go` |
//!
//! Deliberately not here: files. A template sees the values that it is given and nothing else.

pub mod bounds;
mod chains;
mod engine;
mod go;
mod methods;
mod names;
mod slices;

pub use engine::Engine;
pub use go::{ConvertedTemplate, TemplateNote, convert_template};
