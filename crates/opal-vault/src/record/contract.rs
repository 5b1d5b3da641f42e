//! The contract of a run, and who approved it.

use opal_core::hash::Digest;

use super::line::Line;

/// Which contract it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Of all bytes of its file.
    pub file_digest: Digest,
    /// The file, as it was named.
    pub path: String,
    /// Who approved it, where that was needed.
    pub approvals: Vec<Approved>,
}

/// An approval that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    pub name: String,
    pub key: String,
    /// When, as text.
    pub at: String,
    pub note: Option<String>,
}

impl Contract {
    /// One that nobody had to approve.
    #[must_use]
    pub fn new(file_digest: Digest, path: impl Into<String>) -> Self {
        Self { file_digest, path: path.into(), approvals: Vec::new() }
    }

    pub(super) fn write(&self, line: &mut Line) {
        line.object("contract", |line| {
            if !self.approvals.is_empty() {
                line.list("approvals", &self.approvals, |line, one| {
                    line.text("at", &one.at);
                    line.text("key", &one.key);
                    line.text("name", &one.name);
                    line.maybe("note", one.note.as_deref());
                });
            }
            line.text("file_digest", &self.file_digest.hex());
            line.text("path", &self.path);
        });
    }
}
