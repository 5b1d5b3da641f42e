//! The place of a reference in shell text.
//!
//! Execution passes values to the shell as data, quoted for their place; for that it must know the
//! place, and only the lexer sees it. A context is one small number and travels in the events.

use crate::script::{Case, Role};

/// What is directly around a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Place {
    /// A bare word: `rm @var.F`.
    Word,
    /// Double quotes: `echo "@var.X"`.
    Quoted,
    /// The right side of a shell assignment: `X=@var.Y`.
    Assignment,
    /// After `<`, `>` or `>>`.
    Redirection,
    /// The body of a heredoc.
    Heredoc,
    /// `$(( … ))` or `(( … ))`.
    Arithmetic,
    /// `${ … }`.
    Expansion,
    /// The index of a shell array.
    Subscript,
}

/// A [`Place`] and what surrounds it, in 24 bits: an event has room for no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context(u32);

impl Context {
    const PLACE: u32 = 0b111;
    const SUBSTITUTION: u32 = 1 << 3;
    const DECLARED: u32 = 1 << 4;
    const STARTS_WORD: u32 = 1 << 5;
    const WHOLE_WORD: u32 = 1 << 6;
    const AFTER_DASHES: u32 = 1 << 7;
    const COMMAND: u32 = 1 << 8;
    const PROGRAM: u32 = 1 << 9;
    /// The number of a row of [`crate::script::CASES`], from one on.
    const CASE_SHIFT: u32 = 10;
    const CASE: u32 = 0xff << Self::CASE_SHIFT;
    /// How much of `/dev/tcp/` the word of a redirection begins with, plus one.
    const DEVICE_SHIFT: u32 = 18;
    const DEVICE: u32 = 0b1111 << Self::DEVICE_SHIFT;

    #[must_use]
    pub fn new(place: Place) -> Self {
        Self(place as u32)
    }

    /// The same at another place.
    pub fn at(self, place: Place) -> Self {
        Self(self.0 & !Self::PLACE | place as u32)
    }

    pub fn with(self, flag: u32, on: bool) -> Self {
        Self(if on { self.0 | flag } else { self.0 })
    }

    pub fn substitution(self, on: bool) -> Self {
        self.with(Self::SUBSTITUTION, on)
    }

    /// The shell reads the place a second time: this row of the table says how.
    #[must_use]
    pub fn case(self, case: &'static Case) -> Self {
        let bits = (case.number() << Self::CASE_SHIFT) & Self::CASE;
        // A refusal is never replaced by a warning.
        if self.refused().is_some() && case.role == Role::Warn {
            return self;
        }
        Self(self.0 & !Self::CASE | bits)
    }

    /// The value is a constant of the source, so it may begin a word with `-` and name any command.
    #[must_use]
    pub fn constant(self) -> Self {
        Self(self.0 & !Self::COMMAND).after_dashes(true)
    }

    /// The value is assigned by `declare` or `local`, and is all that is assigned.
    pub fn declared(self, on: bool) -> Self {
        self.with(Self::DECLARED, on)
    }

    /// The value names the program, and other values are among its words.
    pub fn program(self, on: bool) -> Self {
        self.with(Self::PROGRAM, on)
    }

    /// The text before the value in a redirection's word, where it can lead to a network device.
    #[must_use]
    pub fn device(self, prefix: &[u8]) -> Self {
        let leads = [&b"/dev/tcp/"[..], b"/dev/udp/"].into_iter();
        let known = leads.filter(|device| device.starts_with(prefix)).count();
        // `/dev/t`: what is missing differs between the two, and its length identifies it all the
        // same.
        let length = if known == 0 { 0 } else { prefix.len() as u32 + 1 };
        Self(self.0 & !Self::DEVICE | length << Self::DEVICE_SHIFT)
    }

    pub fn starts_word(self, on: bool) -> Self {
        self.with(Self::STARTS_WORD, on)
    }

    pub fn whole_word(self, on: bool) -> Self {
        self.with(Self::WHOLE_WORD, on)
    }

    pub fn after_dashes(self, on: bool) -> Self {
        self.with(Self::AFTER_DASHES, on)
    }

    pub fn command(self, on: bool) -> Self {
        self.with(Self::COMMAND, on)
    }

    #[must_use]
    pub fn place(self) -> Place {
        match self.0 & Self::PLACE {
            0 => Place::Word,
            1 => Place::Quoted,
            2 => Place::Assignment,
            3 => Place::Redirection,
            4 => Place::Heredoc,
            5 => Place::Arithmetic,
            6 => Place::Expansion,
            _ => Place::Subscript,
        }
    }

    /// Inside `$( … )`, backticks or `<( … )`.
    #[must_use]
    pub fn in_substitution(self) -> bool {
        self.0 & Self::SUBSTITUTION != 0
    }

    /// The row of the table that this place is in, refused or warned about.
    #[must_use]
    pub fn found(self) -> Option<&'static Case> {
        Case::of_number((self.0 & Self::CASE) >> Self::CASE_SHIFT)
    }

    /// The row of the table by which no value, or only an Int, is allowed here.
    #[must_use]
    pub fn refused(self) -> Option<&'static Case> {
        self.found().filter(|case| case.role != Role::Warn)
    }

    #[must_use]
    pub fn is_declared(self) -> bool {
        self.0 & Self::DECLARED != 0
    }

    #[must_use]
    pub fn is_program(self) -> bool {
        self.0 & Self::PROGRAM != 0
    }

    /// Whether a value with this beginning makes the word of a redirection a network connection.
    #[must_use]
    pub(crate) fn is_network(self, value: &str) -> bool {
        let length = (self.0 & Self::DEVICE) >> Self::DEVICE_SHIFT;
        let rest =
            |device: &'static str| length.checked_sub(1).and_then(|at| device.get(at as usize..));
        let leads = ["/dev/tcp/", "/dev/udp/"].into_iter().filter_map(rest);
        leads.filter(|rest| !rest.is_empty()).any(|rest| value.starts_with(rest))
    }

    /// The value would be the first thing of a shell word.
    #[must_use]
    pub fn is_word_start(self) -> bool {
        self.0 & Self::STARTS_WORD != 0
    }

    /// The reference is a whole bare word: an array may appear here.
    #[must_use]
    pub fn is_whole_word(self) -> bool {
        self.0 & Self::WHOLE_WORD != 0
    }

    /// A word `--` precedes it in its command.
    #[must_use]
    pub fn is_after_dashes(self) -> bool {
        self.0 & Self::AFTER_DASHES != 0
    }

    /// The word is the command itself.
    #[must_use]
    pub fn is_command(self) -> bool {
        self.0 & Self::COMMAND != 0
    }

    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}
