//! The text of a block that is not steps.

use super::Words;
use crate::hash::Algorithm;
use crate::plan::Plan;
use crate::view::Visible;
use crate::view::ink::{Ink, Style};

/// Lines of a text that the tree shows, unless it shows all.
const MOST_LINES: usize = 10;

/// Digits of the digest that tells two texts apart.
const DIGITS: usize = 16;

impl<'a> Words<'a> {
    /// Texts to be compared, with every line of a block.
    pub(in crate::view) fn whole(plan: &'a Plan) -> Self {
        Self { has_lines: true, is_whole: true, ..Self::compared(plan) }
    }

    /// On one line, without numbers, with public values in clear, and others as far as a run shows them.
    pub(in crate::view) fn running(plan: &'a Plan, visible: &'a Visible<'a>) -> Self {
        Self { for_reader: true, visible: Some(visible), ..Self::compared(plan) }
    }

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
