//! The simple command being read: is the next word a command, a target, an assignment?
//!
//! Only what the place of a reference needs is kept, a few bytes that are updated at the end of each
//! word. What the words so far make of the words to come is in `watch`.

use super::frames::FrameKind;
use super::watch::Watch;
use crate::context::Place;

/// "No word is being read."
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// Where the word being read began, or [`NONE`].
    pub(super) word: u32,
    /// Where `if`, `for`, `while`, `when` or `try` stands whose head is being read, or [`NONE`].
    pub(super) construct: u32,
    /// The next word is the command's name.
    pub(super) at_command: bool,
    /// The last thing was `&&`, `||` or `|`: the next line belongs to this one.
    pub(super) continues: bool,
    /// The next word is the target of a redirection.
    pub(super) redirect: bool,
    /// The word being read is `NAME=…`.
    pub(super) assigns: bool,
    /// The word being read is evaluated once more.
    pub(super) reevaluates: bool,
    /// A word `--` has been read.
    pub(super) dashes: bool,
    /// The words are the patterns of a `case`.
    pub(super) patterns: bool,
    /// The next word belongs to an option.
    pub(super) skip: bool,
    pub(super) watch: Watch,
}

/// What the end of a word means for the brackets around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Plain,
    /// `case`, `for`, `if`, …: something opens.
    Opens(FrameKind),
    /// `esac`, `done`, `fi`: something closes.
    Closes(FrameKind),
}

impl Command {
    pub(super) const NEW: Self = Self {
        word: NONE,
        construct: NONE,
        at_command: true,
        continues: false,
        redirect: false,
        assigns: false,
        reevaluates: false,
        dashes: false,
        patterns: false,
        skip: false,
        watch: Watch::Nothing,
    };

    /// Between two commands: after `;`, `&&`, a line feed.
    pub(super) fn next_command(&mut self, continues: bool) {
        *self = Self { continues, ..Self::NEW };
    }

    /// In a `case`: after `in` and `;;`.
    pub(super) fn next_pattern(&mut self) {
        *self = Self { patterns: true, ..Self::NEW };
    }

    #[inline]
    pub(super) fn begin_word(&mut self, at: usize) {
        self.word = at as u32;
        self.continues = false;
        self.reevaluates = !self.redirect && !self.skip && self.watch.reevaluates();
    }

    /// Whether `NAME=` at the start of this word is an assignment.
    pub(super) fn may_assign(&self) -> bool {
        self.at_command || self.watch.declares()
    }

    /// The place of a bare reference in this command's words; `option` where its word began with `-`.
    pub(super) fn place(&self, option: bool) -> Place {
        if self.redirect {
            return Place::Redirection;
        }
        match self.watch {
            Watch::Sums => Place::Arithmetic,
            Watch::Integers if self.assigns => Place::Arithmetic,
            _ if self.assigns => Place::Assignment,
            Watch::Names | Watch::Declares | Watch::Integers if !option && !self.skip => {
                Place::Subscript
            }
            _ => Place::Word,
        }
    }

    /// Takes the word that has just ended.
    #[inline]
    pub(super) fn end_word(&mut self, word: &[u8]) -> Word {
        let start = std::mem::replace(&mut self.word, NONE);
        self.reevaluates = false;
        let assigns = std::mem::take(&mut self.assigns);
        if std::mem::take(&mut self.redirect) || (assigns && self.may_assign()) {
            return Word::Plain;
        }
        if self.patterns {
            let closes = word == b"esac";
            return if closes { Word::Closes(FrameKind::Case) } else { Word::Plain };
        }
        if self.at_command {
            return self.command_word(word, start);
        }
        if word == b"--" {
            self.dashes = true;
        }
        match self.watch {
            // Nearly all words are no shell, and the last letter tells.
            Watch::Nothing if !matches!(word.last(), Some(b'h' | b'L' | b'}' | b'"' | b'\'')) => {}
            Watch::Everything if !word.starts_with(b":::") => {}
            _ => self.watched_word(word),
        }
        Word::Plain
    }

    fn command_word(&mut self, word: &[u8], start: u32) -> Word {
        match word {
            b"if" => return Word::Opens(FrameKind::If),
            b"case" => return Word::Opens(FrameKind::Case),
            b"for" | b"while" | b"until" | b"select" => return Word::Opens(FrameKind::Loop),
            b"[[" => return Word::Opens(FrameKind::Test),
            b"fi" => return Word::Closes(FrameKind::If),
            b"done" => return Word::Closes(FrameKind::Loop),
            b"esac" => return Word::Closes(FrameKind::Case),
            b"then" | b"else" | b"elif" | b"do" | b"!" | b"{" | b"time" => return Word::Plain,
            b"when" | b"try" => self.construct = start,
            _ => {}
        }
        self.at_command = false;
        self.watch = Watch::of(word);
        Word::Plain
    }
}
