//! The few colours of a run.

use opal_core::view::visible;

/// Whether there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) colour: bool,
}

impl Ink {
    fn dye(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(super) fn mark(self, text: &str) -> String {
        self.dye("1;36", text)
    }

    pub(super) fn error(self, text: &str) -> String {
        self.dye("1;31", text)
    }

    pub(super) fn warning(self, text: &str) -> String {
        self.dye("1;33", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.dye("1;32", text)
    }

    pub(super) fn label(self, text: &str) -> String {
        self.dye("1", text)
    }

    /// The name of a branch: each of a few has a colour of its own, and none that means an error.
    pub(super) fn branch(self, index: usize, text: &str) -> String {
        const COLOURS: [&str; 6] = ["36", "33", "35", "32", "34", "1;36"];
        self.dye(COLOURS[index % COLOURS.len()], text)
    }

    /// Of a step.
    pub(super) fn path(self, path: &str) -> String {
        self.faint(&visible::line(path))
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.dye("2", text)
    }
}
