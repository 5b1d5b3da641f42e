//! The open brackets of a shell step.

use opal_core::script::Case;

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
    pub(super) evaluated: Option<&'static Case>,
    /// The first reference inside.
    pub(super) references: u32,
    /// What `${ … }` does with the text inside.
    pub(super) operator: Operator,
    /// Open brackets in the index of an array.
    pub(super) brackets: u32,
    /// What is inside could be the beginning of a word: nothing before it that cannot be empty.
    pub(super) begins: bool,
    /// The text inside up to `seen` cannot be empty.
    pub(super) solid: bool,
    pub(super) seen: u32,
    /// The head of a `for` or a `select` is being read.
    pub(super) is_head: bool,
    /// A command inside evaluates its input.
    pub(super) runs_input: Option<&'static Case>,
    /// The first reference and the first heredoc of the pipeline being read.
    pub(super) pipeline: (u32, u32),
    /// A command of that pipeline precedes this one.
    pub(super) is_piped: bool,
}

/// What `${NAME…}` does with the text after the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// Nothing that a reference could be in.
    None,
    /// `[`: the index of an array.
    Index,
    /// `:-`, `:+`, `:?`.
    Default,
    /// `:=`.
    Assign,
    /// `:`.
    Substring,
    /// `/`: the pattern.
    Pattern,
    /// The text after the pattern.
    Replacement,
    /// `#`, `%`, `^`, `,`.
    Trim,
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
    /// `$[ … ]`, which bash still computes.
    OldSum,
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
    /// Whether commands are inside, so that words, operators and comments mean something.
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
            Self::OldSum => "]",
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
    /// place of a reference does not depend on how deep it is.
    pub(super) fn inside(frames: &[Self], kind: FrameKind, open: usize) -> Self {
        let own = kind.holds_commands();
        let mut frame = Self {
            kind,
            open: open as u32,
            command: Command::NEW,
            commands: frames.len() as u32,
            substitution: matches!(kind, FrameKind::Substitution | FrameKind::Backtick),
            arithmetic: matches!(kind, FrameKind::Arithmetic | FrameKind::OldSum),
            heredoc: kind == FrameKind::Heredoc,
            evaluated: None,
            references: 0,
            operator: Operator::None,
            brackets: 0,
            begins: false,
            solid: false,
            seen: open as u32 + 1,
            is_head: false,
            runs_input: None,
            pipeline: (0, 0),
            is_piped: false,
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
