//! Workflow commands of GitHub: a step's output folded away, and a failure beside its line.

use super::report::{Failed, headline};
use crate::view::diagnostics::workflow_escape;

pub(super) const END_GROUP: &str = "::endgroup::";

pub(super) fn group(title: &str) -> String {
    let mut line = "::group::".to_owned();
    workflow_escape(title, &[], &mut line);
    line
}

pub(super) fn error(failed: &Failed<'_>) -> String {
    let mut line = "::error ".to_owned();
    if let Some((file, number)) = &failed.place {
        line.push_str("file=");
        workflow_escape(file, &[':', ','], &mut line);
        line.push_str(&format!(",line={number},"));
    }
    line.push_str("title=");
    workflow_escape(failed.name(), &[':', ','], &mut line);
    line.push_str("::");
    workflow_escape(&headline(failed), &[], &mut line);
    line
}
