//! Makefiles.
//!
//! | what | where |
//! |---|---|
//! | logical lines, what kind each is | `lines` |
//! | the file: variables, conditions, rules, included files | `reader`, `values` |
//! | variables whose values are known | `constants` |
//! | `$(…)`; its functions | `expand`, `functions` |
//! | rules as tasks; `$(error …)` outside them | `rules`, `checks` |
//!
//! Nothing is evaluated as make would: `$(shell …)` becomes a value that opal reads when it plans.
//! Rules for files stay with make where their dependencies are computed.

mod canned;
mod checks;
mod constants;
mod expand;
mod functions;
mod lines;
mod reader;
mod rules;
mod shell_flags;
mod values;

use std::collections::BTreeMap;

use crate::files::Folder;
use crate::form::Sheet;
use crate::outcome::Unreadable;
use reader::Reader;

/// A Makefile with the files that it includes.
pub(crate) fn read(text: &str, files: Folder<'_>) -> Result<Sheet, Unreadable> {
    // Functions of make need the values of variables that are defined further down.
    let first = Reader::read(text, BTreeMap::new(), files);
    let file = Reader::read(text, constants::fixed(&first), files.again());
    let names = Reader::read(text, constants::defaults(&first), files.again());
    if file.rules.is_empty() {
        return Err(Unreadable::new(1, "the file has no rules"));
    }
    Ok(rules::sheet(file, &names))
}
