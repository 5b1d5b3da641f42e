//! Runs, verifications and plans as files for people and CI systems. Data in, text out.
//!
//! | what | where |
//! |---|---|
//! | what a file is made of | [`Report`], in `report` |
//! | gathering it while a run goes on | [`Collector`], in `collect`; what steps print, in `printed` |
//! | JUnit, for CI systems | [`junit`] |
//! | Markdown, for job summaries | [`markdown`] |
//! | the page of a run | [`page`], its lanes in `timeline`; colours of output in `colours` |
//! | the page of a plan | [`PlanPage`], in `plan` |
//! | the page of what differs between two plans | [`difference`] |
//! | the pages of `opal ui`, with their script | [`ui`] |
//! | what every page has | `frame` |
//!
//! Deliberately not here: files, and the decision what is a secret. Every text has been through the
//! vault; here it is escaped for its format, and characters that hide or act are drawn.

mod collect;
mod colours;
pub mod difference;
mod frame;
pub mod junit;
pub mod markdown;
pub mod page;
mod plan;
mod printed;
mod report;
mod text;
mod timeline;
pub mod ui;

pub use collect::{Collector, Leaf};
pub use frame::body_of;
pub use plan::PlanPage;
pub use printed::Printed;
pub use report::{Case, Check, Outcome, Report, Span};
