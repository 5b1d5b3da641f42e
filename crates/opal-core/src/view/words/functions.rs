//! Functions of the file.

use super::Words;
use crate::plan::{Arg, Step};
use crate::view::ink::{Ink, Style};
use crate::view::quote;

impl Words<'_> {
    /// `@cmd.build("release")` as it was called, or `@cmd.build`; of a dependency who needs it.
    pub(super) fn function(step: &Step, ink: &mut Ink) {
        let name = match step.arg("function") {
            Some(Arg::Const(name)) => format!("{}.{}", step.node, quote::plain(name)),
            _ => step.node.to_string(),
        };
        let call = step.reason().unwrap_or_default();
        ink.styled(Style::Bold, &name);
        ink.write(call.strip_prefix(&*name).unwrap_or_default());
        if let Some(Arg::Const(directory)) = step.arg("directory") {
            ink.write(&format!(" in {}", quote::plain(directory)));
        }
        let dependents = step.dependents();
        if !dependents.is_empty() {
            ink.styled(Style::Dim, &format!("  (needed by {})", dependents.join(", ")));
        }
    }
}
