//! What a view may use of the stream that it writes to.

use opal_core::view::visible;

/// Of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    pub(crate) colour: bool,
    /// The columns that an excerpt of a source may take.
    pub(crate) width: usize,
}

/// Of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inks {
    pub(crate) out: Ink,
    pub(crate) err: Ink,
}

impl Ink {
    /// Excerpts are short already, and the reader's terminal may be wider than any guess.
    const WIDTH: usize = 10_000;

    pub(crate) const fn new(colour: bool) -> Self {
        Self { colour, width: Self::WIDTH }
    }

    fn dye(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn mark(self, text: &str) -> String {
        self.dye("1;36", text)
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.dye("1;31", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.dye("1;33", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.dye("1;32", text)
    }

    pub(crate) fn label(self, text: &str) -> String {
        self.dye("1", text)
    }

    /// The name of a branch: each of a few has a colour of its own, and none that means an error.
    pub(crate) fn branch(self, index: usize, text: &str) -> String {
        const COLOURS: [&str; 6] = ["36", "33", "35", "32", "34", "1;36"];
        self.dye(COLOURS[index % COLOURS.len()], text)
    }

    /// Of a step.
    pub(crate) fn path(self, path: &str) -> String {
        self.faint(&visible::line(path))
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.dye("2", text)
    }
}
