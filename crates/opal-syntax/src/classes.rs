//! What each character of a source is, for editors that have grammars of their own: `opal self syntax`.
//!
//! ```text
//! fun deploy(env: String) {         keyword function punctuation parameter punctuation type …
//!     kubectl apply @var.FILE       shell reference
//! }
//! ```
//!
//! The grammars for editors are compared with this, character by character, so it says nothing that
//! only a name resolution knows. Text of the shell has one class: what the shell makes of it is for a
//! grammar of the shell.

use opal_core::Span;

use crate::cursor::Item;
use crate::kind::SyntaxKind::{self, *};
use crate::parse::Parse;

/// Words that begin a construct or belong to one, and the three values that are words.
pub const KEYWORDS: [&str; 18] = [
    "as", "catch", "else", "false", "finally", "for", "fun", "if", "import", "import?", "in",
    "let", "null", "true", "try", "var", "when", "while",
];

/// What a character is. The names are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Blanks and line feeds of the language, and what has no meaning.
    None,
    Comment,
    Keyword,
    Type,
    /// A string with its quotes, a regex.
    String,
    /// An integer, a float, a duration.
    Number,
    /// `\n` in a string, `\@` in a step.
    Escape,
    /// The path of a value: `@var.NAME`.
    Reference,
    /// The path of a decorator that does something: `@retry`.
    Decorator,
    /// The name of a function, where it is defined or called.
    Function,
    /// The name of a function in the form `name: step`.
    Label,
    /// A parameter, and the name of an argument.
    Parameter,
    Variable,
    /// What is read from a value, and the key of a map.
    Field,
    Operator,
    Punctuation,
    /// Text of a step, its operators and redirections included.
    Shell,
    /// Text of a block for another program.
    Text,
}

impl Class {
    pub const ALL: [Self; 18] = [
        Self::None,
        Self::Comment,
        Self::Keyword,
        Self::Type,
        Self::String,
        Self::Number,
        Self::Escape,
        Self::Reference,
        Self::Decorator,
        Self::Function,
        Self::Label,
        Self::Parameter,
        Self::Variable,
        Self::Field,
        Self::Operator,
        Self::Punctuation,
        Self::Shell,
        Self::Text,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Comment => "comment",
            Self::Keyword => "keyword",
            Self::Type => "type",
            Self::String => "string",
            Self::Number => "number",
            Self::Escape => "escape",
            Self::Reference => "reference",
            Self::Decorator => "decorator",
            Self::Function => "function",
            Self::Label => "label",
            Self::Parameter => "parameter",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Operator => "operator",
            Self::Punctuation => "punctuation",
            Self::Shell => "shell",
            Self::Text => "text",
        }
    }

    /// What a token is, whatever it is in.
    fn of(kind: SyntaxKind) -> Self {
        match kind {
            Comment | Shebang => Self::Comment,
            Ident => Self::Variable,
            Int | Float | Duration => Self::Number,
            RawString | Regex | StringOpen | StringText | StringClose => Self::String,
            Escape | ShellEscape => Self::Escape,
            LParen | RParen | LBracket | RBracket | LBrace | RBrace | Comma | Colon | Dot
            | DotStar | Semicolon => Self::Punctuation,
            DotDot | Ellipsis | Arrow | Eq | PlusEq | MinusEq | StarEq | SlashEq | PercentEq
            | PlusPlus | MinusMinus | EqEq | Ne | Lt | Le | Gt | Ge | Plus | Minus | Star
            | Slash | Percent | AndAnd | OrOr | Pipe | Bang => Self::Operator,
            RefPath => Self::Reference,
            ShellText | ShellOp | RedirOp | AtWord => Self::Shell,
            BlockText => Self::Text,
            _ => Self::None,
        }
    }

    /// What a token in a node of this kind is; `names` are before it in the node.
    fn within(node: SyntaxKind, names: usize, token: SyntaxKind, word: &str) -> Self {
        match (token, node) {
            (RefPath, Call) => Self::Decorator,
            (AtWord, Str) => Self::String,
            (
                Ident,
                If | ElseClause | When | While | Try | CatchClause | FinallyClause | Literal,
            ) => Self::Keyword,
            (Ident, Name) if word == "else" => Self::Keyword,
            (Ident, Import) if names < 2 => Self::Keyword,
            (Ident, For) if names == 0 || word == "in" => Self::Keyword,
            (Ident, Fun | VarDecl | VarGroup | Let) if names == 0 => Self::Keyword,
            (Ident, Fun | FnCall) => Self::Function,
            (Ident, Label) => Self::Label,
            (Ident, Param | Arg) => Self::Parameter,
            (Ident, TypeExpr) => Self::Type,
            (Ident, Field | MapEntry) => Self::Field,
            _ => Self::of(token),
        }
    }
}

/// The classes and the structure of a source.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// All of the text in order, without gaps; neighbours differ in their class.
    pub runs: Vec<(Span, Class)>,
    /// Functions and labels, from their first to their last character.
    pub functions: Vec<Span>,
    /// `{ … }` around statements, arms or text.
    pub blocks: Vec<Span>,
    /// Statements that do something, each as a whole: a line with operators is one step.
    pub steps: Vec<Span>,
}

/// A node that has begun.
struct Open {
    kind: SyntaxKind,
    start: Option<u32>,
    end: u32,
    names: usize,
}

/// Reads the classes off `parse`, which was made from `text`.
#[must_use]
pub fn classes(text: &str, parse: &Parse) -> Classes {
    let tokens = parse.tokens();
    let mut kinds: Vec<Class> = (0..tokens.len()).map(|at| Class::of(tokens.kind(at))).collect();
    let mut found = Classes::default();
    let mut open: Vec<Open> = Vec::new();
    for item in parse.cursor() {
        match item {
            Item::Start { kind, .. } => open.push(Open { kind, start: None, end: 0, names: 0 }),
            Item::Token { kind, index, span } => {
                let Some(node) = open.last_mut() else { continue };
                kinds[index] = Class::within(node.kind, node.names, kind, &text[span.range()]);
                node.names += usize::from(kind == Ident);
                if kind == LBrace && node.kind == When {
                    // Its arms have no node of their own.
                    open.push(Open { kind: Block, start: None, end: 0, names: 0 });
                }
                for node in &mut open {
                    node.start.get_or_insert(span.start);
                    node.end = span.end;
                }
                if kind == RBrace
                    && matches!(open.as_slice(), [.., when, arms] if when.kind == When && arms.kind == Block)
                {
                    found.close(&mut open, text);
                }
            }
            Item::Finish => found.close(&mut open, text),
        }
    }
    for (index, class) in kinds.iter().enumerate() {
        found.add(tokens.span(index), *class);
    }
    for spans in [&mut found.functions, &mut found.blocks, &mut found.steps] {
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    }
    found
}

impl Classes {
    fn add(&mut self, span: Span, class: Class) {
        match self.runs.last_mut() {
            Some((last, same)) if *same == class => last.end = span.end,
            _ => self.runs.push((span, class)),
        }
    }

    fn close(&mut self, open: &mut Vec<Open>, text: &str) {
        let Some(Open { kind, start: Some(start), end, .. }) = open.pop() else { return };
        let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r' | b'\n');
        let bytes = &text.as_bytes()[start as usize..end as usize];
        let before = bytes.iter().take_while(blank).count() as u32;
        let after = bytes.iter().rev().take_while(blank).count() as u32;
        let span = Span::new(start + before, (end - after).max(start + before));
        let outer = open.last().map(|outer| outer.kind);
        match kind {
            Fun | Label => self.functions.push(span),
            Block | TextBlock => self.blocks.push(span),
            ShellStep | Chain | Call | Requirement | Let
                if !matches!(outer, Some(Chain | Redirect | Let)) =>
            {
                self.steps.push(span);
            }
            _ => {}
        }
    }
}
