//! `[[ … ]]`: words in which operators and parentheses are text.
//!
//! Bash computes both sides of `-eq` and its like, whole words: `x@env.N -eq 3` runs what is in the
//! variable. Whether a word is such a side is known only at the word after it, so the places of its
//! references are set then.

use opal_core::script::Case;

use super::Lexer;
use super::frames::FrameKind;
use super::index;
use super::shell::Scan;
use crate::kind::SyntaxKind::Comment;

/// The word being read, and the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Which of the open brackets they are in.
    frame: usize,
    /// Where the word began.
    start: u32,
    /// How many references were before it, and before the last one.
    references: u32,
    references_before_last: u32,
    /// The last word compares numbers.
    compared: bool,
    /// The last word asks for a variable: `-v`.
    named: bool,
}

impl Lexer<'_> {
    /// Begins the words after the `[[` that ends at the position, before its frame is opened.
    pub(super) fn begin_test(&mut self) {
        let references = self.contexts.len() as u32;
        self.tests.push(Words {
            frame: self.frames.len(),
            start: self.pos as u32,
            references,
            references_before_last: references,
            compared: false,
            named: false,
        });
    }

    /// The words of the test on top.
    fn words(&mut self) -> &mut Words {
        let frame = self.frames.len() - 1;
        // What a heredoc left open is gone without having been closed.
        while self.tests.last().is_some_and(|words| words.frame > frame) {
            self.tests.pop();
        }
        let last = self.tests.len() - 1;
        &mut self.tests[last]
    }

    pub(super) fn scan_test(&mut self) -> Scan {
        while let Some(&byte) = self.src.get(self.pos) {
            match byte {
                b']' if self.ends_test() => {
                    self.end_test_word(0);
                    self.tests.pop();
                    self.pos += 2;
                    self.close_frame();
                    return Scan::Frame;
                }
                b' ' | b'\t' | b'\r' | b'\n' => self.end_test_word(1),
                b'&' | b'|' if self.byte(1) == byte => self.end_test_word(2),
                b'\\' if self.continuation() => self.backslash(),
                b'\'' => self.raw_quote(),
                b'"' => {
                    self.open(FrameKind::Quote, 1);
                    return Scan::Frame;
                }
                b'#' if matches!(self.src[self.pos - 1], b' ' | b'\t' | b'\n' | b'\r') => {
                    self.flush_text();
                    self.pos = self.line_end(self.pos);
                    self.emit(Comment);
                    self.words().start = self.pos as u32;
                }
                _ => {
                    if self.expands(byte) {
                        return Scan::Frame;
                    }
                }
            }
        }
        Scan::Limit
    }

    /// Ends the word before the position, if there is one; the next begins `width` after it.
    fn end_test_word(&mut self, width: usize) {
        let end = self.pos;
        self.pos += width;
        let words = *self.words();
        // Blanks after the `[[` are passed over before its words begin.
        let word = &self.src[words.start as usize..end];
        let joined = index::joined(word);
        let word = joined.as_deref().unwrap_or(word).trim_ascii_start();
        self.words().start = self.pos as u32;
        if word.is_empty() && width < 2 {
            return;
        }
        let compares = matches!(word, b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge");
        let references = self.contexts.len() as u32;
        if compares {
            self.compute(words.references_before_last, words.references, Case::TEST_SUM);
        } else if words.compared {
            self.compute(words.references, references, Case::TEST_SUM);
        } else if words.named {
            self.compute(words.references, references, Case::TEST_NAME);
        }
        // After `&&` and `||` nothing is compared with what precedes them.
        let before_last = if width < 2 { words.references } else { references };
        let test = self.words();
        test.references_before_last = before_last;
        test.references = references;
        test.compared = compares && width < 2;
        test.named = matches!(after_brackets(word), b"-v" | b"-R") && width < 2;
    }

    /// Says that the shell evaluates the references from `from` up to `to`: not those in a command
    /// inside of the word, where the shell evaluates only what the command prints.
    fn compute(&mut self, from: u32, to: u32, case: &'static Case) {
        let owner = self.frames.last().map_or(0, |top| top.commands);
        self.set((from, to), owner, case);
    }

    fn ends_test(&self) -> bool {
        self.byte(1) == b']'
            && matches!(self.src[self.pos - 1], b' ' | b'\t' | b'\n' | b'\r')
            && matches!(
                self.byte(2),
                0 | b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b')' | b'}' | b'`'
            )
    }
}

/// `(-v` and `!-v` begin with what groups and negates.
fn after_brackets(word: &[u8]) -> &[u8] {
    let brackets = word.iter().take_while(|byte| matches!(byte, b'(' | b'!')).count();
    &word[brackets..]
}
