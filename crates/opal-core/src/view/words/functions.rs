//! Functions of the file.

use super::Words;
use crate::plan::{Arg, Step};
use crate::view::ink::{Ink, Style};
use crate::view::quote;

impl Words<'_> {
    /// `@house.check("web")` as it was called, and whose it is.
    fn expansion(&self, step: &Step, ink: &mut Ink) {
        let name = step.node.to_string();
        let call = step.reason().unwrap_or_default();
        ink.styled(Style::Bold, &name);
        ink.write(call.strip_prefix(&*name).unwrap_or_default());
        let known = self.defaults.and_then(|it| it.get(step.node.path()?)?.plugin);
        if let Some(plugin) = known {
            ink.styled(Style::Dim, &format!("  ({} {})", plugin.name, plugin.version));
        }
    }

    /// `@cmd.build("release")` as it was called, or `@cmd.build`; of a dependency who needs it.
    pub(super) fn function(&self, step: &Step, ink: &mut Ink) {
        if step.is_expansion() {
            return self.expansion(step, ink);
        }
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
