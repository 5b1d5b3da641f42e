//! A step as the strict reader sees it: commands, their words, and what is inside of words.

use std::ops::Range;

use super::super::cases::Case;

/// Values of a step, a bit for each; the last bit stands for all that have no bit of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    known: u64,
    /// Those that a program may print, or not.
    doubtful: u64,
}

impl Values {
    pub(super) const NONE: Self = Self { known: 0, doubtful: 0 };
    pub(super) const ALL: Self = Self { known: u64::MAX, doubtful: 0 };
    pub(super) const BITS: usize = 64;

    /// The bit of a value.
    pub(super) fn bit(index: usize) -> usize {
        index.min(Self::BITS - 1)
    }

    pub(super) fn one(index: usize) -> Self {
        Self { known: 1 << Self::bit(index), doubtful: 0 }
    }

    pub(super) fn range(from: usize, to: usize) -> Self {
        (from..to.max(from).min(from + Self::BITS)).map(Self::one).fold(Self::NONE, Self::and)
    }

    fn bits(self) -> u64 {
        self.known | self.doubtful
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { known: self.known | other.known, doubtful: self.doubtful | other.doubtful }
    }

    pub(super) fn add(&mut self, other: Self) {
        *self = self.and(other);
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self { known: self.known & !other.bits(), doubtful: self.doubtful & !other.bits() }
    }

    pub(super) fn only(self, other: Self) -> Self {
        Self { known: self.known & other.bits(), doubtful: self.doubtful & other.bits() }
    }

    /// The same, as far as a program prints them.
    pub(super) fn doubted(self) -> Self {
        Self { known: 0, doubtful: self.bits() }
    }

    /// Those that are there.
    pub(super) fn known(self) -> Self {
        Self { known: self.known, doubtful: 0 }
    }

    /// Those that are perhaps there.
    pub(super) fn doubtful(self) -> Self {
        Self { known: 0, doubtful: self.doubtful & !self.known }
    }

    /// The first of them.
    pub(super) fn first(self) -> Self {
        Self { known: self.bits() & self.bits().wrapping_neg(), doubtful: 0 }
    }

    pub(super) fn is_empty(self) -> bool {
        self.bits() == 0
    }

    /// The bits of all that are there.
    pub(super) fn indices(self) -> impl Iterator<Item = usize> {
        let mut left = self.bits();
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(bit)
        })
    }

    pub(super) fn has(self, index: usize) -> bool {
        self.bits() & Self::one(index).known != 0
    }
}

/// Commands one after the other.
#[derive(Debug, Default)]
pub(super) struct List(pub(super) Vec<Pipeline>);

/// Commands, each of which reads what the one before it prints.
#[derive(Debug, Default)]
pub(super) struct Pipeline(pub(super) Vec<Command>);

#[derive(Debug)]
pub(super) struct Command {
    pub(super) kind: CommandKind,
    /// Its messages go where its output goes: `|&`.
    pub(super) is_loud: bool,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(super) enum CommandKind {
    Simple(Vec<Word>),
    /// `( … )`, `{ … }`, `if`, `while`, `case`: what runs in it, and words that are only expanded.
    Group {
        lists: Vec<List>,
        words: Vec<Word>,
    },
    /// `for NAME in …`.
    For {
        name: Range<usize>,
        words: Vec<Word>,
        body: List,
    },
    Function {
        name: Range<usize>,
        body: Box<Command>,
    },
    /// `[[ … ]]`.
    Test(Vec<Word>),
    /// `(( … ))`.
    Sum(Box<Word>),
}

#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    /// The descriptor, where one is written.
    pub(super) descriptor: Option<Range<usize>>,
    pub(super) word: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Out,
    In,
    /// `>&`, `<&`.
    Copy,
    /// `<<<`.
    String,
    /// `<<`: the body, by its number.
    Heredoc(usize),
}

/// A variable that a word expands.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) at: Range<usize>,
    pub(super) name: Range<usize>,
    pub(super) is_quoted: bool,
    pub(super) form: Form,
}

/// What an expansion makes of its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `$NAME`, `${NAME}`
    Plain,
    /// `${NAME[1]}`
    Element,
    /// `$@`, `${NAME[@]}`: several words or none.
    All,
    /// `${!NAME[@]}`
    Keys,
    /// `${@:2}`, `${NAME[@]:1}`
    Slice,
    /// `${NAME#…}`, `${NAME:2}`: what is left may begin with any part.
    Cut,
    /// `${NAME:-…}`
    Default,
    /// `${!NAME}`
    Indirect,
}

/// A command inside of a word.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) list: List,
    pub(super) start: usize,
    pub(super) is_quoted: bool,
    /// The row of the table, where the shell computes what it prints.
    pub(super) case: Option<&'static Case>,
}

/// A word, as it is written, and what is in it.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) at: Range<usize>,
    /// The values that are in it and not in a command inside of it.
    pub(super) values: Values,
    /// Those and the ones of commands inside.
    pub(super) all: Values,
    pub(super) variables: Vec<Variable>,
    /// `$( … )`.
    pub(super) commands: Vec<Inner>,
    /// `<( … )`.
    pub(super) processes: Vec<List>,
    /// `>( … )`.
    pub(super) sinks: Vec<List>,
    pub(super) sums: Vec<Sum>,
    /// `${NAME:=…}`.
    pub(super) given: Vec<Range<usize>>,
    /// The name that it assigns to.
    pub(super) assigned: Option<Range<usize>>,
    /// Those of `NAME=( … )`.
    pub(super) elements: Vec<Word>,
    /// No quote and no expansion is in it.
    pub(super) is_literal: bool,
    /// `{a,b}`.
    pub(super) has_braces: bool,
}

/// Text that the shell evaluates once more: what is in it is in this row of the table.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) at: Range<usize>,
    pub(super) values: Values,
    pub(super) case: &'static Case,
}

/// Heredocs whose bodies come at the end of the line, and those that came.
#[derive(Debug, Default)]
pub(super) struct Heredocs {
    pub(super) pending: Vec<Pending>,
    /// What is in the bodies, by their numbers.
    pub(super) bodies: Vec<Word>,
}

#[derive(Debug)]
pub(super) struct Pending {
    pub(super) delimiter: Vec<u8>,
    pub(super) strips_tabs: bool,
    /// Nothing in the body is expanded.
    pub(super) is_quoted: bool,
    pub(super) number: usize,
}

impl Heredocs {
    /// Begins a command inside of a word: its heredocs are its own.
    pub(super) fn begin(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.pending)
    }

    /// Whether all heredocs of that command have had their bodies, and none of the one around it
    /// should have.
    pub(super) fn finish(&mut self, outer: Vec<Pending>, spans_lines: bool) -> bool {
        let is_complete = self.pending.is_empty() && (outer.is_empty() || !spans_lines);
        self.pending = outer;
        is_complete
    }

    pub(super) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// A text in quotes that a command runs, and what it is given.
#[derive(Debug)]
pub(super) struct Quoted {
    pub(super) text: Vec<u8>,
    /// From `$1` on.
    pub(super) given: Vec<Given>,
    pub(super) input: Values,
    /// Variables of the step may be known there.
    pub(super) is_here: bool,
    /// Variables that words before it set: `env NAME=VALUE bash -c …`.
    pub(super) set: Vec<(Vec<u8>, Values)>,
}

#[derive(Debug)]
pub(super) enum Given {
    Text(Vec<u8>),
    Held(Values),
}
