//! Steps: what runs.

use std::ops::Range;

use opal_core::Span;
use opal_core::plan::{ChainOperator, RedirectOperator};
use opal_core::script::Part;
use opal_syntax::context::Context;

use super::{Argument, Block, Name, Rare, Reference};

/// Operands and the operators that opal runs between them; mostly one operand and no operator.
#[derive(Debug)]
pub struct Step {
    pub first: Operand,
    pub rest: Rare<(ChainOperator, Operand)>,
}

impl Step {
    /// The call, where the step is nothing but `@needs.NAME(…)`.
    #[must_use]
    pub fn dependency(&self) -> Option<&Call> {
        let Work::Call(call) = &self.first.work else { return None };
        let is_alone = self.rest.is_empty() && self.first.redirects.is_empty();
        call.function().filter(|(kind, _)| is_alone && *kind == CallKind::First).map(|_| &**call)
    }
}

#[derive(Debug)]
pub struct Operand {
    pub work: Work,
    pub redirects: Rare<Redirect>,
}

#[derive(Debug)]
pub enum Work {
    Shell(ShellText),
    Call(Box<Call>),
}

#[derive(Debug)]
pub struct Redirect {
    /// `>`, `>>`, `<`, also with a descriptor in front.
    pub operator: RedirectOperator,
    pub target: Target,
    pub span: Span,
}

#[derive(Debug)]
pub enum Target {
    Decorator(Call),
    /// Redirections as the shell writes them, after a decorator: `> log 2>&1`.
    Text(ShellText),
}

/// Verbatim text with references in it.
#[derive(Debug)]
pub struct ShellText {
    pub pieces: Vec<Piece>,
    pub span: Span,
}

#[derive(Debug)]
pub enum Piece {
    Text(String),
    /// `@name.ext`: text, unless it is a typo.
    AtWord(Name),
    Reference(Box<Reference>, Context),
}

impl Piece {
    pub(crate) fn part(&self) -> Part<'_> {
        match self {
            Self::Text(text) => Part::Text(text),
            Self::AtWord(name) => Part::AtWord(&name.text),
            Self::Reference(reference, _) if reference.path.text == "raw" => Part::Pasted,
            Self::Reference(_, context) => Part::Value(*context),
        }
    }
}

impl ShellText {
    /// The text up to the first reference.
    #[must_use]
    pub fn leading(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The text, where no reference is in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A decorator where a command is.
#[derive(Debug)]
pub struct Call {
    /// All that follows the `@`: `retry`, `cmd.build-all`.
    pub path: Name,
    pub args: Vec<Argument>,
    pub block: Option<Block>,
    /// Of a decorator whose block is text.
    pub text: Option<BlockText>,
    pub span: Span,
}

/// The text of a block, without the indentation that its lines share; each ends in a line feed.
#[derive(Debug)]
pub struct BlockText {
    pub text: String,
    /// Its opening brace.
    pub span: Span,
    /// The text as it is in the file.
    pub raw: Span,
}

impl BlockText {
    /// Where bytes of the text are in the source.
    #[must_use]
    pub fn place(&self, range: Range<usize>, source: &str) -> Span {
        let (Some(raw), Some(before)) =
            (source.get(self.raw.range()), self.text.get(..range.start))
        else {
            return self.span;
        };
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let Some(written) = raw.split_inclusive('\n').nth(line) else { return self.span };
        let start: usize = raw.split_inclusive('\n').take(line).map(str::len).sum();
        let own = self.text.lines().nth(line).map_or(0, str::len);
        let cut = written.trim_end_matches(['\r', '\n']).len().saturating_sub(own);
        let start = self.raw.start + (start + cut + column) as u32;
        Span::new(start, start + range.len() as u32)
    }
}

impl Call {
    /// The function of the file, where this is `@cmd.NAME` or `@needs.NAME`.
    #[must_use]
    pub fn function(&self) -> Option<(CallKind, &str)> {
        CallKind::of(&self.path.text)
    }
}

/// How a function of the file gets to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `@cmd`: where the call is, every time.
    Here,
    /// `@needs`: before the target's first step, once.
    First,
}

impl CallKind {
    const ALL: [Self; 2] = [Self::Here, Self::First];

    /// The decorator that says so.
    #[must_use]
    pub const fn decorator(self) -> &'static str {
        match self {
            Self::Here => "cmd",
            Self::First => "needs",
        }
    }

    /// What a path calls, and the name of the function.
    #[must_use]
    pub fn of(path: &str) -> Option<(Self, &str)> {
        let (space, name) = path.split_once('.')?;
        Self::ALL.into_iter().find(|kind| kind.decorator() == space).map(|kind| (kind, name))
    }
}
