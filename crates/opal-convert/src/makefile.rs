//! Makefiles.
//!
//! | what | where |
//! |---|---|
//! | logical lines, what kind each is | `lines` |
//! | the file: variables, conditions, rules | `reader` |
//! | `$(…)`; its functions | `expand`, `functions` |
//! | rules as tasks | `rules` |
//!
//! Nothing is evaluated as make would: `$(shell …)` becomes a value that opal reads when it plans.
//! Rules for files stay with make where their dependencies are computed.

mod expand;
mod functions;
mod lines;
mod reader;
mod rules;

use crate::form::Sheet;
use crate::outcome::Unreadable;

pub(crate) fn read(text: &str) -> Result<Sheet, Unreadable> {
    let file = reader::Reader::read(text);
    if file.rules.is_empty() {
        return Err(Unreadable::new(1, "the file has no rules"));
    }
    Ok(rules::sheet(file))
}
