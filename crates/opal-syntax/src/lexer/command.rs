//! The simple command being read: is the next word a command, a target, an assignment?
//!
//! Only what the place of a reference needs is kept, a few bytes that are updated at the end of each
//! word. What the whole command makes of the references in it is in `judging`.

use opal_core::script::Case;

use super::frames::FrameKind;
use crate::context::Place;

/// "No word is being read."
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// Where the word being read began, or [`NONE`].
    pub(super) word: u32,
    /// Where `if`, `for`, `while`, `when` or `try` is whose head is being read, or [`NONE`].
    pub(super) construct: u32,
    /// The next word is the command's name.
    pub(super) at_command: bool,
    /// The last thing was `&&`, `||` or `|`: the next line belongs to this one.
    pub(super) continues: bool,
    /// The next word is the target of a redirection.
    pub(super) redirect: bool,
    /// The word being read is `NAME=…`.
    pub(super) assigns: bool,
    /// What kind of redirection that is.
    pub(super) target: Target,
    /// A word `--` has been read.
    pub(super) dashes: bool,
    /// The words are the patterns of a `case`.
    pub(super) patterns: bool,
    /// `NAME=…` is an assignment among the words, too.
    pub(super) declares: bool,
    /// The words are to be read even if no reference is among them.
    pub(super) is_judged: bool,
    /// `coproc` precedes it, and perhaps its name.
    pub(super) is_coprocess: bool,
    /// What precedes the command: `time`, `function`, `coproc`.
    pub(super) before: Before,
    /// The text of the word up to `seen` cannot be empty.
    pub(super) solid: bool,
    pub(super) seen: u32,
    /// Its number in the step, its first word and the first reference in it.
    pub(super) id: u32,
    pub(super) first: u32,
    pub(super) references: u32,
    /// Where the word's references begin.
    pub(super) word_references: u32,
    /// `>( … )` among its words evaluates what it prints.
    pub(super) feeds: Option<&'static Case>,
    /// A compound command in it evaluates its input.
    pub(super) inner: Option<&'static Case>,
}

/// What a redirection does with its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File,
    /// `>&`, `<&`.
    Descriptor,
    /// `<<<`.
    Here,
}

/// A word before a command that is none itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Time,
    Function,
    Coprocess,
}

/// What the end of a word means for the brackets around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Plain,
    /// `then`, `!`, `time`: a command follows.
    Keyword,
    Assignment,
    Target(Target),
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
        target: Target::File,
        dashes: false,
        patterns: false,
        declares: false,
        is_judged: false,
        is_coprocess: false,
        before: Before::Nothing,
        solid: false,
        seen: 0,
        id: 0,
        first: 0,
        references: 0,
        word_references: 0,
        feeds: None,
        inner: None,
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
    pub(super) fn begin_word(&mut self, at: usize, first: u8, references: usize) {
        self.word = at as u32;
        self.continues = false;
        self.word_references = references as u32;
        self.seen = at as u32;
        self.solid = !matches!(first, b'"' | b'\'' | b'\\' | b'$' | b'`' | b'@' | b'{');
    }

    /// Whether `NAME=` at the start of this word is an assignment.
    pub(super) fn may_assign(&self) -> bool {
        self.at_command || self.declares
    }

    /// The place of a bare reference in this command's words.
    pub(super) fn place(&self) -> Place {
        if self.redirect {
            Place::Redirection
        } else if self.assigns {
            Place::Assignment
        } else {
            Place::Word
        }
    }

    /// Takes the word that has just ended.
    #[inline]
    pub(super) fn end_word(&mut self, word: &[u8]) -> Word {
        let start = std::mem::replace(&mut self.word, NONE);
        let assigns = std::mem::take(&mut self.assigns);
        if std::mem::take(&mut self.redirect) {
            return Word::Target(self.target);
        }
        if assigns && self.may_assign() {
            return Word::Assignment;
        }
        if self.patterns {
            let closes = word == b"esac";
            return if closes { Word::Closes(FrameKind::Case) } else { Word::Keyword };
        }
        if self.at_command {
            return self.command_word(word, start);
        }
        if std::mem::replace(&mut self.before, Before::Nothing) == Before::Function {
            self.at_command = true;
            return Word::Keyword;
        }
        if word == b"--" {
            self.dashes = true;
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
            b"then" | b"else" | b"elif" | b"do" | b"!" | b"{" => return Word::Keyword,
            b"-p" | b"--" if self.before == Before::Time => return Word::Keyword,
            b"time" => {
                self.before = Before::Time;
                return Word::Keyword;
            }
            b"coproc" => {
                self.before = Before::Coprocess;
                self.is_coprocess = true;
                return Word::Keyword;
            }
            b"function" => {
                self.before = Before::Function;
                self.at_command = false;
                return Word::Keyword;
            }
            b"when" | b"try" => self.construct = start,
            _ => {}
        }
        self.at_command = false;
        self.declares =
            matches!(word, b"export" | b"declare" | b"local" | b"readonly" | b"typeset");
        self.is_judged = self.declares
            || matches!(word, b"builtin" | b"command" | b"eval")
            || word.first() != Some(&b'(')
                && word.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'\\'));
        Word::Plain
    }
}
