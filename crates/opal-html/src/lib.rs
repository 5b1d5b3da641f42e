//! Runs and verifications as files for people and CI systems. Data in, text out.
//!
//! | what | where |
//! |---|---|
//! | what a file is made of | [`Report`], in `report` |
//! | gathering it while a run goes on | [`Collector`], in `collect`; what steps print, in `printed` |
//! | JUnit, for CI systems | [`junit`] |
//! | Markdown, for job summaries | [`markdown`] |
//! | one HTML file | [`page`], colours of output in `colours` |
//!
//! Deliberately not here: files, and the decision what is a secret. Every text has been through the
//! vault; here it is escaped for its format, and characters that hide or act are drawn.

mod collect;
mod colours;
pub mod junit;
pub mod markdown;
pub mod page;
mod printed;
mod report;
mod text;

pub use collect::{Collector, Leaf};
pub use printed::Printed;
pub use report::{Case, Outcome, Report, Span};
