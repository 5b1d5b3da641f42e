//! The nodes of a configuration: YAML without tags, and the diagnostic of a text that has none.

use std::rc::Rc;

use opal_core::Diagnostic;

use super::report::CODES;

pub use opal_yaml::{Node, NodeKind};

/// Reads the document of a text; none where there is nothing in it.
pub fn read(text: &str) -> Result<Option<Rc<Node>>, Box<Diagnostic>> {
    opal_yaml::read(text, |_| false).map_err(|it| Box::new(CODES.unreadable(it)))
}

/// The fault of a text without a document; `help` says how such a file begins.
#[must_use]
pub fn empty(text: &str, help: &str) -> Diagnostic {
    CODES.empty(text, help)
}
