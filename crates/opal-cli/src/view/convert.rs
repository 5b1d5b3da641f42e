//! What `opal convert` says about a template.

use opal_decorators::TemplateNote;

use super::say;

/// A line of a template that cannot be converted, or that may not mean the same.
pub(crate) fn note(severity: &str, file: &str, note: &TemplateNote) {
    let TemplateNote { line, message, help } = note;
    say(&format!("{severity}: {file}:{line}: {message}\n  help: {help}\n"));
}
