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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The step itself.
    Step,
    /// The body of a heredoc.
    Heredoc,
    /// `( … )`, also `name=( … )`.
    Paren,
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
    /// `" … "`.
    Quote,
    /// `case … esac`.
    Case,
    /// `for`, `while`, `until`, `select` … `done`.
    Loop,
    /// `if … fi`.
    If,
}

impl FrameKind {
    /// Whether commands stand inside, so that words, operators and comments mean something.
    pub(super) fn holds_commands(self) -> bool {
        matches!(
            self,
            Self::Step
                | Self::Paren
                | Self::Substitution
                | Self::Backtick
                | Self::Group
                | Self::Case
                | Self::Loop
                | Self::If
        )
    }

    /// What would close it, for messages.
    pub(super) fn closer(self) -> &'static str {
        match self {
            Self::Paren | Self::Substitution => ")",
            Self::Arithmetic => "))",
            Self::Backtick => "`",
            Self::Group | Self::Brace | Self::Expansion => "}",
            Self::Quote => "\"",
            Self::Case => "esac",
            Self::Loop => "done",
            Self::If => "fi",
            Self::Step | Self::Heredoc => "",
        }
    }
}

impl Frame {
    /// A frame of `kind` inside `frames`. What surrounds it is kept in it, so that looking up the
    /// place of a reference does not depend on how deep it stands.
    pub(super) fn inside(frames: &[Self], kind: FrameKind, open: usize) -> Self {
        let outer = frames.last();
        let own = kind.holds_commands();
        Self {
            kind,
            open: open as u32,
            command: Command::NEW,
            commands: if own { frames.len() as u32 } else { outer.map_or(0, |o| o.commands) },
            substitution: matches!(kind, FrameKind::Substitution | FrameKind::Backtick)
                || outer.is_some_and(|o| o.substitution),
            arithmetic: kind == FrameKind::Arithmetic
                || (!own && outer.is_some_and(|o| o.arithmetic)),
            heredoc: kind == FrameKind::Heredoc || (!own && outer.is_some_and(|o| o.heredoc)),
        }
    }
}
