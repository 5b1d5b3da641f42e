//! The open brackets of a shell step.

use super::command::Command;

/// What is open, and where it was opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) open: u32,
    /// The simple command being read, where this frame holds commands.
    pub(super) command: Command,
    /// The nearest frame, this one included, that holds commands.
    pub(super) commands: u32,
    /// Inside `$( … )` or backticks.
    pub(super) substitution: bool,
    /// Inside `$(( … ))`, with no commands in between.
    pub(super) arithmetic: bool,
    /// Inside the body of a heredoc, with no commands in between.
    pub(super) heredoc: bool,
    /// That heredoc is the input of a shell, which evaluates it.
    pub(super) evaluated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The step itself.
    Step,
    /// The body of a heredoc.
    Heredoc,
    /// `( … )`.
    Paren,
    /// `name=( … )`: words, and no commands.
    List,
    /// `$( … )`, `<( … )`.
    Substitution,
    /// `` ` … ` ``.
    Backtick,
    /// `{ …; }` as a command.
    Group,
    /// `{a,b}` as a word.
    Brace,
    /// `${ … }`.
    Expansion,
    /// `$(( … ))`: two frames, one for each closing parenthesis.
    Arithmetic,
    /// `[[ … ]]`.
    Test,
    /// `" … "`.
    Quote,
    /// `' … '`: never a frame, only what a step may break on.
    RawQuote,
    /// `@path( … )`: likewise.
    Arguments,
    /// A construct of the language as an operand: likewise.
    Construct,
    /// `case … esac`.
    Case,
    /// `for`, `while`, `until`, `select` … `done`.
    Loop,
    /// `if … fi`.
    If,
}

impl FrameKind {
    /// Whether commands stand inside, so that words, operators and comments mean something.
    #[inline]
    pub(super) fn holds_commands(self) -> bool {
        matches!(
            self,
            Self::Step
                | Self::Paren
                | Self::List
                | Self::Substitution
                | Self::Backtick
                | Self::Group
                | Self::Case
                | Self::Loop
                | Self::If
        )
    }

    /// Whether a word opened it.
    pub(super) fn is_compound(self) -> bool {
        matches!(self, Self::Case | Self::Loop | Self::If | Self::Test)
    }

    pub(super) fn is_quote(self) -> bool {
        matches!(self, Self::Quote | Self::RawQuote)
    }

    /// What would close it, for messages.
    pub(super) fn closer(self) -> &'static str {
        match self {
            Self::Paren | Self::List | Self::Substitution | Self::Arguments => ")",
            Self::Arithmetic => "))",
            Self::Backtick => "`",
            Self::Group | Self::Brace | Self::Expansion => "}",
            Self::Quote => "\"",
            Self::RawQuote => "'",
            Self::Test => "]]",
            Self::Case => "esac",
            Self::Loop => "done",
            Self::If => "fi",
            Self::Step | Self::Heredoc | Self::Construct => "",
        }
    }
}

impl Frame {
    /// A frame of `kind` inside `frames`. What surrounds it is kept in it, so that looking up the
    /// place of a reference does not depend on how deep it stands.
    pub(super) fn inside(frames: &[Self], kind: FrameKind, open: usize) -> Self {
        let own = kind.holds_commands();
        let mut frame = Self {
            kind,
            open: open as u32,
            command: Command::NEW,
            commands: frames.len() as u32,
            substitution: matches!(kind, FrameKind::Substitution | FrameKind::Backtick),
            arithmetic: kind == FrameKind::Arithmetic,
            heredoc: kind == FrameKind::Heredoc,
            evaluated: false,
        };
        if let Some(outer) = frames.last() {
            frame.substitution |= outer.substitution;
            if !own {
                frame.commands = outer.commands;
                frame.arithmetic |= outer.arithmetic;
                frame.heredoc |= outer.heredoc;
                frame.evaluated = outer.evaluated;
            }
        }
        frame
    }
}
