//! Kinds of tokens and nodes: one small number each.

macro_rules! kinds {
    ($($name:ident,)*) => {
        /// Tokens first, then nodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SyntaxKind { $($name),* }

        impl SyntaxKind {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

kinds! {
    // Trivia: never in events, always in the tree.
    Blank, Newline, Comment, Bom, Shebang,
    // Language lane.
    Ident, Int, Float, Duration, RawString, Regex,
    StringOpen, StringText, Escape, StringClose,
    LParen, RParen, LBracket, RBracket, LBrace, RBrace,
    Comma, Colon, Dot, DotStar, DotDot, Ellipsis, Arrow, Semicolon,
    Eq, PlusEq, MinusEq, StarEq, SlashEq, PercentEq, PlusPlus, MinusMinus,
    EqEq, Ne, Lt, Le, Gt, Ge, Plus, Minus, Star, Slash, Percent, AndAnd, OrOr, Pipe, Bang,
    // `@` and the path after it, in both lanes.
    RefPath,
    // Shell lane.
    ShellText, ShellEscape, ShellOp, RedirOp, AtWord,
    // The text of a text block.
    BlockText,
    // A character that means nothing, and text passed over after an error.
    Unknown, ErrorText,
    Eof,

    // Nodes.
    File, Import, Fun, Label, ParamList, Param, TypeExpr,
    VarDecl, VarGroup, VarBinding, Assign,
    If, ElseClause, When, Arm, For, While, Try, CatchClause, FinallyClause, Block,
    Let, ShellStep, Call, TextBlock, Chain, Redirect, Heredoc, Requirement,
    Ref, TextRef, ArgList, Arg, Field, Index,
    Literal, Str, Array, Map, MapEntry, Paren, Unary, Binary, Name, FnCall, Access,
    Error,
}

impl SyntaxKind {
    #[must_use]
    pub const fn is_trivia(self) -> bool {
        (self as u8) <= (Self::Shebang as u8)
    }

    /// How messages call a token.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Ident => "a name",
            Self::Int => "an integer",
            Self::Float => "a number",
            Self::Duration => "a duration",
            Self::StringOpen | Self::RawString => "a string",
            Self::Regex => "a regex",
            Self::LParen => "`(`",
            Self::RParen => "`)`",
            Self::LBracket => "`[`",
            Self::RBracket => "`]`",
            Self::LBrace => "`{`",
            Self::RBrace => "`}`",
            Self::Comma => "`,`",
            Self::Colon => "`:`",
            Self::Arrow => "`->`",
            Self::Eq => "`=`",
            Self::Newline => "the end of the line",
            Self::Eof => "the end of the file",
            Self::RefPath => "a reference",
            _ => "this",
        }
    }
}

const _: () = assert!(SyntaxKind::Error as usize + 1 == SyntaxKind::ALL.len());
const _: () = assert!((SyntaxKind::Error as u8) < 0x7d, "events keep three values for themselves");
