//! The place of a reference in shell text.
//!
//! Execution passes values to the shell as data, quoted for their place; for that it must know the
//! place, and only the lexer sees it. A context is one small number and travels in the events.

use crate::script::{Case, Construct, ReadBy, Role};

/// Paths that bash takes for connections.
const DEVICES: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

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

/// A [`Place`] and what surrounds it. What the lexer knows has 24 bits: an event has room for no more.
/// The others say where the value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context(u32);

impl Context {
    const PLACE: u32 = 0b111;
    const STARTS_WORD: u32 = 1 << 3;
    const WHOLE_WORD: u32 = 1 << 4;
    const AFTER_DASHES: u32 = 1 << 5;
    const COMMAND: u32 = 1 << 6;
    const PROGRAM: u32 = 1 << 7;
    /// The number of a row of [`crate::script::CASES`], from one on.
    const CASE_SHIFT: u32 = 8;
    const CASE: u32 = 0xff << Self::CASE_SHIFT;
    /// One of: nothing, [`Self::DECLARED`], how much of `/dev/tcp/` the word of a redirection begins
    /// with, [`Self::SINGLE`], the program that reads the word.
    const DETAIL_SHIFT: u32 = 16;
    const DETAIL: u32 = 0xff << Self::DETAIL_SHIFT;
    const DECLARED: u32 = 1;
    const DEVICE: u32 = 2;
    const SINGLE: u32 = Self::DEVICE + DEVICES[0].len() as u32 + 1;
    const READER: u32 = Self::SINGLE + 1;
    /// The source allows the value to begin a word with `-`.
    const DASH: u32 = 1 << 24;
    /// The value was given on the command line.
    const GIVEN: u32 = 1 << 25;
    /// The value is written in the source.
    const CONSTANT: u32 = 1 << 26;
    /// No value that could be code is allowed: opal does not follow the text.
    const HIDDEN: u32 = 1 << 27;
    /// What it does not follow.
    const CONSTRUCT_SHIFT: u32 = 28;

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

    /// The place is in no row of the table.
    #[must_use]
    pub(crate) fn without_case(self) -> Self {
        Self(self.0 & !Self::CASE)
    }

    /// The value is written in the source, so it may begin a word with `-` and name any command.
    #[must_use]
    pub fn constant(self) -> Self {
        self.with(Self::CONSTANT, true)
    }

    /// The value was given on the command line: it may begin a word with `-` where that is not code.
    #[must_use]
    pub fn given(self) -> Self {
        self.with(Self::GIVEN, true)
    }

    /// The strict reading of the text does not follow this, so the value must be harmless in every
    /// place.
    #[must_use]
    pub(crate) fn followed(self, construct: Construct) -> Self {
        match self.construct() {
            Some(_) => self,
            None => Self(self.0 | construct.number() << Self::CONSTRUCT_SHIFT),
        }
    }

    /// The same where no text is harmless.
    #[must_use]
    pub(crate) fn hidden(self, construct: Construct) -> Self {
        self.followed(construct).with(Self::HIDDEN, true)
    }

    /// The same where only harmless texts are allowed, and nobody will see whether it is one.
    #[must_use]
    pub fn strictest(self) -> Self {
        self.construct().map_or(self, |construct| self.hidden(construct))
    }

    /// What the strict reading of the text does not follow.
    #[must_use]
    pub fn construct(self) -> Option<Construct> {
        Construct::of_number(self.0 >> Self::CONSTRUCT_SHIFT)
    }

    /// No text is allowed here, because nobody knows what the shell makes of it.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        self.0 & Self::HIDDEN != 0
    }

    /// No `--` is before it, wherever else it is used.
    #[must_use]
    pub(crate) fn before_dashes(self) -> Self {
        Self(self.0 & !Self::AFTER_DASHES)
    }

    /// The source allows it to begin a word with `-`, or that was judged before.
    pub fn dash(self, on: bool) -> Self {
        self.with(Self::DASH, on)
    }

    /// The value names the program, and other values are among its words.
    pub fn program(self, on: bool) -> Self {
        self.with(Self::PROGRAM, on)
    }

    fn detail(self) -> u32 {
        (self.0 & Self::DETAIL) >> Self::DETAIL_SHIFT
    }

    fn with_detail(self, detail: u32) -> Self {
        Self(self.0 & !Self::DETAIL | detail << Self::DETAIL_SHIFT)
    }

    /// The value is assigned by `declare` or `local`, and is all that is assigned.
    pub fn declared(self, on: bool) -> Self {
        if on { self.with_detail(Self::DECLARED) } else { self }
    }

    /// The text before the value in a redirection's word, where it can lead to a network device.
    #[must_use]
    pub fn device(self, prefix: &[u8]) -> Self {
        let known = DEVICES.iter().any(|device| device.as_bytes().starts_with(prefix));
        // `/dev/t`: what is missing differs between the two, and its length identifies it all the
        // same.
        if known { self.with_detail(Self::DEVICE + prefix.len() as u32) } else { self }
    }

    /// The value is the beginning of a word in which this program may see an option, a setting or a
    /// command. Of an unlisted program less is known than of another.
    #[must_use]
    pub fn read_by(self, reader: ReadBy) -> Self {
        let is_known = self.reader().is_some() || self.detail() == Self::SINGLE;
        if reader == ReadBy::UNLISTED && is_known {
            return self;
        }
        self.with_detail(Self::READER + u32::from(reader.number()))
    }

    /// The value is what an option is given, so it is one word.
    #[must_use]
    pub fn single(self) -> Self {
        self.with_detail(Self::SINGLE)
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
        self.detail() == Self::DECLARED
    }

    #[must_use]
    pub fn is_program(self) -> bool {
        self.0 & Self::PROGRAM != 0
    }

    /// Whether a value with this beginning makes the word of a redirection a network connection.
    #[must_use]
    pub(crate) fn is_network(self, value: &str) -> bool {
        let Some(length) = self.detail().checked_sub(Self::DEVICE) else { return false };
        let rests = DEVICES.into_iter().filter_map(|device| device.get(length as usize..));
        rests.filter(|rest| !rest.is_empty()).any(|rest| value.starts_with(rest))
    }

    /// The program that may see more in the word than data.
    #[must_use]
    pub fn reader(self) -> Option<ReadBy> {
        ReadBy::of_number(self.detail().checked_sub(Self::READER)?)
    }

    /// The value would be the first thing of a shell word.
    #[must_use]
    pub fn is_word_start(self) -> bool {
        self.0 & Self::STARTS_WORD != 0
    }

    /// The reference is a whole bare word, and not what an option is given: an array may appear here.
    #[must_use]
    pub fn takes_array(self) -> bool {
        self.place() == Place::Word && self.is_whole_word() && self.detail() != Self::SINGLE
    }

    /// The reference is a whole bare word.
    #[must_use]
    pub fn is_whole_word(self) -> bool {
        self.0 & Self::WHOLE_WORD != 0
    }

    /// A word `--` precedes it in its command.
    #[must_use]
    pub fn is_after_dashes(self) -> bool {
        self.0 & Self::AFTER_DASHES != 0
    }

    /// The value may begin a word with `-`.
    #[must_use]
    pub fn allows_dash(self) -> bool {
        const ALL: u32 = Context::AFTER_DASHES | Context::DASH | Context::GIVEN | Context::CONSTANT;
        self.0 & ALL != 0
    }

    /// The source says that the value may begin a word with `-`.
    #[must_use]
    pub fn is_dash(self) -> bool {
        self.0 & Self::DASH != 0
    }

    /// The value is written in the source.
    #[must_use]
    pub fn is_constant(self) -> bool {
        self.0 & Self::CONSTANT != 0
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
