//! Random programs without syntax errors, written as untidily as the grammar allows.
//!
//! A program is drawn from a row of bytes, each of which decides one thing; where the row ends,
//! everything is at its simplest. Proptest shortens the row and makes its bytes smaller, and so the
//! program: what is left of a failing one is the part that fails.

mod expressions;
mod statements;

use proptest::prelude::*;

/// Programs with LF or CRLF, comments in odd places and blanks where none belong.
pub(crate) fn programs() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..240).prop_map(|choices| program(&choices))
}

/// The program that `choices` stand for.
pub(crate) fn program(choices: &[u8]) -> String {
    let mut draw = Draw { choices, at: 0, out: String::new(), depth: 0, names: 0 };
    let crlf = draw.one_in(4);
    draw.pick(&["", "", "", "\n\n", "\u{feff}\n", "#!/bin/opal\n", "\u{feff}#!/bin/opal\n"]);
    while draw.at < choices.len() {
        draw.top_level();
    }
    if draw.one_in(4) {
        draw.out.truncate(draw.out.trim_end_matches([' ', '\n', '\t']).len());
    }
    if crlf { draw.out.replace('\n', "\r\n") } else { draw.out }
}

const DEEPEST: u32 = 4;

const COMMENTS: &[&str] = &["# one", "// two  ", "/* three */", "/* four\n   * five */"];

struct Draw<'c> {
    choices: &'c [u8],
    at: usize,
    out: String,
    depth: u32,
    names: u32,
}

impl Draw<'_> {
    fn below(&mut self, limit: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % limit
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    fn pick(&mut self, from: &[&str]) {
        let index = self.below(from.len());
        self.out.push_str(from[index]);
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn new_name(&mut self) {
        self.names += 1;
        let name = format!("n{}", self.names);
        self.text(&name);
    }

    // What is between.

    /// Blanks, none or several.
    fn blanks(&mut self) {
        self.pick(&["", "", " ", "  ", "\t"]);
    }

    /// At least one blank.
    fn blank(&mut self) {
        self.pick(&[" ", " ", "   ", "\t "]);
    }

    /// Blanks, and a comment that ends on the same line.
    fn gap(&mut self) {
        self.blanks();
        if self.one_in(12) {
            self.text(" /* c */ ");
        }
    }

    /// What may appear inside brackets: also line feeds and comments that go with one.
    fn wide_gap(&mut self) {
        self.gap();
        match self.below(10) {
            7 => self.text("\n"),
            8 => self.text("\n\n\n  "),
            9 => {
                self.text(" ");
                self.pick(&COMMENTS[..2]);
                self.text("\n");
            }
            _ => {}
        }
    }

    /// The end of a line and, perhaps, lines of comments and empty ones.
    fn line_end(&mut self) {
        // No blank before it: a heredoc's last line is its delimiter and nothing else.
        self.text("\n");
        while self.one_in(5) {
            self.blanks();
            if self.one_in(2) {
                self.pick(COMMENTS);
            }
            self.text("\n");
        }
        self.blanks();
        if self.one_in(12) {
            self.text("/* lead */ ");
        }
    }

    /// A comment after a construct of the language.
    fn trailing(&mut self) {
        self.blanks();
        if self.one_in(8) {
            self.pick(COMMENTS);
        }
    }
}
