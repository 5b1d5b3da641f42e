//! The text of a block that is not steps.

use super::Words;
use crate::hash::Algorithm;
use crate::view::ink::{Ink, Style};

/// Lines of a text that the tree shows, unless it shows all.
const MOST_LINES: usize = 10;

/// Digits of the digest that tells two texts apart.
const DIGITS: usize = 16;

impl Words<'_> {
    /// Its first lines where there is room for lines; else how many there are, and in texts that are
    /// compared which ones.
    pub(super) fn block_text(&self, text: &str, ink: &mut Ink) {
        let count = text.lines().count();
        let lines = if count == 1 { "line" } else { "lines" };
        if !self.has_lines {
            let digest = Algorithm::Sha256.digest(&[text.as_bytes()]).hex();
            return ink.write(&match self.for_reader {
                true => format!(" {{ {count} {lines} }}"),
                false => format!(" {{ {count} {lines}, sha256:{} }}", &digest[..DIGITS]),
            });
        }
        ink.write(" {");
        let most = if self.is_whole { usize::MAX } else { MOST_LINES };
        for line in text.lines().take(most) {
            let blanks = if line.is_empty() { "" } else { "  " };
            ink.write(&format!("\n{blanks}{line}"));
        }
        if let Some(more @ 1..) = count.checked_sub(most) {
            let lines = if more == 1 { "line" } else { "lines" };
            ink.write("\n  ");
            ink.styled(Style::Dim, &format!("… {more} more {lines} (`--format json` has all)"));
        }
        ink.write("\n}");
    }
}
