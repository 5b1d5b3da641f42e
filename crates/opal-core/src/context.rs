//! The place of a reference in shell text.
//!
//! Execution passes values to the shell as data, quoted for their place; for that it must know the
//! place, and only the lexer sees it. A context is one small number and travels in the events.

/// What stands directly around a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Place {
    /// A bare word: `rm @var.F`.
    Word,
    /// Double quotes: `echo "@var.X"`.
    Quoted,
    /// The right side of a shell assignment: `X=@var.Y`.
    Assignment,
    /// Behind `<`, `>` or `>>`.
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

/// A [`Place`] and what surrounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context(u16);

impl Context {
    const PLACE: u16 = 0b111;
    const SUBSTITUTION: u16 = 1 << 3;
    const REEVALUATED: u16 = 1 << 4;
    const STARTS_WORD: u16 = 1 << 5;
    const WHOLE_WORD: u16 = 1 << 6;
    const AFTER_DASHES: u16 = 1 << 7;
    const COMMAND: u16 = 1 << 8;
    const SPLIT: u16 = 1 << 9;

    #[must_use]
    pub fn new(place: Place) -> Self {
        Self(place as u16)
    }

    /// The same at another place.
    pub fn at(self, place: Place) -> Self {
        Self(self.0 & !Self::PLACE | place as u16)
    }

    pub fn with(self, flag: u16, on: bool) -> Self {
        Self(if on { self.0 | flag } else { self.0 })
    }

    pub fn substitution(self, on: bool) -> Self {
        self.with(Self::SUBSTITUTION, on)
    }

    pub fn reevaluated(self, on: bool) -> Self {
        self.with(Self::REEVALUATED, on)
    }

    /// To be split is to be read again.
    pub fn split(self, on: bool) -> Self {
        self.with(Self::SPLIT | Self::REEVALUATED, on)
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

    /// The text around it is evaluated once more: `eval`, `bash -c`, `ssh HOST`.
    #[must_use]
    pub fn is_reevaluated(self) -> bool {
        self.0 & Self::REEVALUATED != 0
    }

    /// What is read again is what comes of an expansion: as words, and names of files.
    #[must_use]
    pub fn is_split(self) -> bool {
        self.0 & Self::SPLIT != 0
    }

    /// The value would be the first thing of a shell word.
    #[must_use]
    pub fn is_word_start(self) -> bool {
        self.0 & Self::STARTS_WORD != 0
    }

    /// The reference is a whole bare word: an array may stand here.
    #[must_use]
    pub fn is_whole_word(self) -> bool {
        self.0 & Self::WHOLE_WORD != 0
    }

    /// A word `--` stands before it in its command.
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
        Self(bits as u16)
    }

    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }
}
