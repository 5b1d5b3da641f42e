//! Events in, pieces out.
//!
//! Three things are put right on the way, because here they cost nothing: a comma directly follows
//! its element, so what was between them goes after the comma; the last element of a list has a
//! comma exactly where the list closes on a line of its own; and an opening bracket records whether
//! lines break inside it.

use super::Style;
use super::piece::{Brackets, Comment, Layout, Piece, Pieces, Role, Space};
use super::spacing;
use crate::cursor::Item;
use crate::kind::SyntaxKind::{self, *};
use crate::parse::Parse;

pub(super) fn collect<'t>(text: &'t str, parse: &'t Parse, style: Style) -> Pieces<'t> {
    let mut collector = Collector {
        text,
        parse,
        style,
        out: Pieces::default(),
        nodes: Vec::new(),
        open: Vec::new(),
        verbatim: None,
        next: 0,
        pending: None,
        following: Space::Blank,
        newlines: 0,
        broken: false,
        has_parameters: true,
        lines: Lines { text, upto: 0, count: 0 },
    };
    for item in parse.cursor() {
        match item {
            Item::Start { kind, .. } => collector.enter(kind),
            Item::Token { kind, index, .. } => collector.token(kind, index),
            Item::Finish => collector.leave(),
        }
    }
    collector.trivia(parse.tokens().len());
    collector.push("", Space::Line, Role::Close);
    collector.out
}

struct Collector<'t> {
    text: &'t str,
    parse: &'t Parse,
    style: Style,
    out: Pieces<'t>,
    /// The nodes around the next event, outermost first.
    nodes: Vec<SyntaxKind>,
    open: Vec<Open>,
    verbatim: Option<Verbatim>,
    /// The next token that has not been read.
    next: usize,
    /// What the nodes that have begun since the last token want before the next one.
    pending: Option<Space>,
    /// What the last token requires after it.
    following: Space,
    /// Line feeds since the last piece or comment, at most two.
    newlines: u8,
    /// A line feed is somewhere between the last piece and here.
    broken: bool,
    /// Whether the function that has begun last shows its parameter list.
    has_parameters: bool,
    lines: Lines<'t>,
}

/// A bracket whose partner has not come yet.
struct Open {
    piece: usize,
    node: SyntaxKind,
    /// The line it is on.
    line: usize,
    /// A line breaks between two of its elements.
    broken: bool,
}

/// A node that becomes one piece.
struct Verbatim {
    /// How many nodes are open inside it, itself included.
    depth: usize,
    space: Space,
    start: usize,
}

/// Counts lines from the start of the text to places that only move forward.
struct Lines<'t> {
    text: &'t str,
    upto: usize,
    count: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> usize {
        self.count += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.upto..offset]).count();
        self.upto = offset;
        self.count
    }
}

impl<'t> Collector<'t> {
    fn parent(&self) -> SyntaxKind {
        self.nodes.last().copied().unwrap_or(File)
    }

    fn enter(&mut self, kind: SyntaxKind) {
        if let Some(verbatim) = &mut self.verbatim {
            verbatim.depth += 1;
            return;
        }
        if let Some(parent) = self.nodes.last().copied() {
            if parent == Label && kind != Block && self.style.migrate {
                self.push("=", Space::Blank, Role::Plain);
            }
            if parent == Fun && kind == Block {
                self.parameters();
            }
            self.pending = self.pending.or_else(|| spacing::before_node(parent, kind));
        }
        match kind {
            Fun => self.has_parameters = false,
            ParamList => self.has_parameters = true,
            _ => {}
        }
        if matches!(kind, Str | ShellStep | Requirement | TextRef | Heredoc) {
            let space = self.pending.take().unwrap_or(self.following);
            let start = self.start_of(self.next_token(), space);
            self.verbatim = Some(Verbatim { depth: 1, space, start });
        } else {
            self.nodes.push(kind);
        }
    }

    /// An empty parameter list may be left out; it is written all the same.
    fn parameters(&mut self) {
        if !std::mem::replace(&mut self.has_parameters, true) {
            self.push("()", Space::Tight, Role::Plain);
        }
    }

    fn leave(&mut self) {
        let Some(verbatim) = &mut self.verbatim else {
            self.nodes.pop();
            return;
        };
        verbatim.depth -= 1;
        if verbatim.depth > 0 {
            return;
        }
        let (start, space) = (verbatim.start, verbatim.space);
        self.verbatim = None;
        let end = self.parse.tokens().start(self.next) as usize;
        self.push(&self.text[start..end], space, Role::Plain);
        self.following = Space::Blank;
    }

    fn token(&mut self, kind: SyntaxKind, index: usize) {
        if self.verbatim.is_some() {
            self.next = index + 1;
            return;
        }
        let parent = self.parent();
        if parent == Fun && kind == Eq {
            self.parameters();
        }
        let space = self
            .pending
            .take()
            .or_else(|| spacing::before_token(parent, kind))
            .unwrap_or_else(|| self.between(kind));
        let start = self.start_of(index, space);
        let end = self.parse.tokens().span(index).end as usize;
        self.next = index + 1;
        let text = &self.text[start..end];
        match kind {
            Ident if parent == Label && self.style.migrate => {
                self.push("fun", space, Role::Plain);
                self.push(text, Space::Blank, Role::Plain);
            }
            Colon if parent == Label && self.style.migrate => {
                self.push("()", Space::Tight, Role::Plain);
            }
            Comma => self.push(text, space, Role::Comma),
            BlockText => self.push(text, space, Role::Text),
            LParen | LBracket | LBrace => self.open(text, space, start),
            RParen | RBracket | RBrace => self.close(text, space, start),
            _ => self.push(text, space, Role::Plain),
        }
        self.following = spacing::after_token(parent, kind);
    }

    /// What precedes a token that leaves it to the one before it.
    fn between(&self, kind: SyntaxKind) -> Space {
        // `- -1`: without the blank it would read `--`.
        let minus = self.out.row.last().is_some_and(|piece| piece.text == "-");
        if minus && kind == Minus { Space::Blank } else { self.following }
    }

    // Between pieces.

    /// The first token from `next` on that is not trivia.
    fn next_token(&self) -> usize {
        let tokens = self.parse.tokens();
        (self.next..tokens.len())
            .find(|index| !tokens.kind(*index).is_trivia())
            .unwrap_or(tokens.len())
    }

    /// Where the piece that begins with the token at `index` begins. Where blanks must stay as they
    /// are, what precedes it becomes part of the piece; otherwise it is read.
    fn start_of(&mut self, index: usize, space: Space) -> usize {
        let from = if space == Space::Exact { self.next } else { index };
        if space != Space::Exact {
            self.trivia(index);
        }
        self.parse.tokens().start(from) as usize
    }

    /// Takes the comments and line feeds up to the token at `end`.
    fn trivia(&mut self, end: usize) {
        let tokens = self.parse.tokens();
        for index in self.next..end {
            let text = &self.text[tokens.span(index).range()];
            match tokens.kind(index) {
                SyntaxKind::Comment | Shebang => self.comment(text),
                Blank | Newline => {
                    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).take(2).count() as u8;
                    self.newlines = (self.newlines + lines).min(2);
                    self.broken |= lines > 0;
                }
                _ => {}
            }
        }
        self.next = end;
    }

    fn comment(&mut self, text: &'t str) {
        // With nothing before it a comment `#!` is, once formatted, the first line of the file.
        let first = self.out.row.is_empty() && self.out.comments.is_empty();
        let text = if text.starts_with("/*") { text } else { text.trim_end_matches([' ', '\t']) };
        let shebang = first && text.starts_with("#!");
        self.out.comments.push(Comment { text, newlines: self.newlines, shebang });
        self.newlines = 0;
    }

    // Pieces.

    fn push(&mut self, text: &'t str, space: Space, role: Role) {
        let last = self.out.row.last();
        if role == Role::Comma {
            let comments = last.map_or(0, |piece| piece.comments);
            self.out.row.push(Piece { text, space, role, comments, newlines: 0 });
            return;
        }
        let boundary = role == Role::Close
            || last.is_some_and(|piece| matches!(piece.role, Role::Open(_) | Role::Comma));
        if let Some(open) = self.open.last_mut() {
            open.broken |= boundary && self.broken;
        }
        let comments = self.out.comments.len();
        self.out.row.push(Piece { text, space, role, comments, newlines: self.newlines });
        self.newlines = 0;
        self.broken = false;
    }

    fn open(&mut self, text: &'t str, space: Space, start: usize) {
        let node = self.parent();
        let layout = match node {
            Block | TextBlock | When => Layout::Block,
            VarGroup => Layout::Group,
            _ => Layout::Expression,
        };
        self.push(text, space, Role::Open(Brackets { layout, wide: false }));
        let piece = self.out.row.len() - 1;
        self.open.push(Open { piece, node, line: self.lines.at(start), broken: false });
    }

    fn close(&mut self, text: &'t str, space: Space, start: usize) {
        let last = self.out.row.last().copied();
        if let Some(Piece { role: Role::Open(_), comments, .. }) = last
            && comments == self.out.comments.len()
        {
            // Nothing between the brackets: they touch.
            self.newlines = 0;
            self.broken = false;
            self.push(text, Space::Tight, Role::Close);
            self.open.pop();
            return;
        }
        self.last_comma(last.map_or(Role::Plain, |piece| piece.role));
        let touching = !self.broken && last.is_some_and(|piece| ends_in_slashes(piece.text));
        self.push(text, if touching { Space::Exact } else { space }, Role::Close);
        let Some(open) = self.open.pop() else { return };
        let several_lines = self.lines.at(start) > open.line;
        if let Role::Open(brackets) = &mut self.out.row[open.piece].role {
            brackets.wide = match brackets.layout {
                Layout::Block | Layout::Group => several_lines,
                Layout::Expression => open.broken,
            };
        }
    }

    /// A comma after the last element, exactly where the bracket closes on a line of its own.
    fn last_comma(&mut self, last: Role) {
        let list = self
            .open
            .last()
            .is_some_and(|open| matches!(open.node, ArgList | ParamList | Array | Map));
        match last {
            Role::Comma if list && !self.broken => {
                self.out.row.pop();
            }
            Role::Plain | Role::Close if list && self.broken => {
                self.push(",", Space::Tight, Role::Comma);
            }
            _ => {}
        }
    }
}

/// Whether `text` is a step that ends in ` //`: only a `}` directly after it keeps that from being
/// a comment.
fn ends_in_slashes(text: &str) -> bool {
    text.strip_suffix("//").is_some_and(|rest| rest.ends_with([' ', '\t', '\n']))
}
