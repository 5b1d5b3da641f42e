//! Pieces in, text out: indentation, line feeds, blank lines, comments.

use crate::lexer::block_lines;

use super::piece::{Brackets, Comment, Layout, Piece, Pieces, Role, Space};

const INDENT: usize = 4;

/// The pieces as text; `size` is about how much there will be.
pub(super) fn print(pieces: &Pieces<'_>, size: usize) -> String {
    let file = Frame { base: 0, content: 0, layout: Layout::Block, wide: true, continued: false };
    let mut printer = Printer {
        out: String::with_capacity(size + size / 8),
        file,
        frames: Vec::new(),
        before: Role::Plain,
        breaks: Vec::new(),
    };
    let mut seen = 0;
    for piece in &pieces.row {
        printer.piece(piece, &pieces.comments[seen..piece.comments]);
        seen = piece.comments;
    }
    printer.out
}

struct Printer {
    out: String,
    file: Frame,
    /// What is open, the innermost last; around all of it is the file.
    frames: Vec<Frame>,
    /// The role of the last piece.
    before: Role,
    /// Line feeds before each comment of a gap, and before the piece after them.
    breaks: Vec<u8>,
}

/// Open brackets, and how far lines inside are indented.
#[derive(Clone, Copy)]
struct Frame {
    /// The indentation of the line that closes it.
    base: usize,
    /// The indentation of its elements.
    content: usize,
    layout: Layout,
    wide: bool,
    /// A line broke inside the current element.
    continued: bool,
}

/// What is between two pieces, as far as the printer cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Between statements that are on lines of their own.
    Statements,
    /// Between the elements of a bracket.
    Elements,
    /// Before `else`, `catch` and `finally`.
    Clause,
    /// Inside a statement or an element.
    Inside,
}

impl Printer {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().unwrap_or(&mut self.file)
    }

    fn piece(&mut self, piece: &Piece<'_>, comments: &[Comment<'_>]) {
        if piece.space != Space::Exact {
            self.gap(piece, comments);
        }
        match piece.role {
            Role::Text => self.text(piece.text),
            _ => self.out.push_str(piece.text),
        }
        match piece.role {
            Role::Open(brackets) => self.open(brackets),
            Role::Close => {
                self.frames.pop();
            }
            Role::Plain | Role::Text | Role::Comma => {}
        }
        self.before = piece.role;
    }

    /// The lines of a text, none of which gets blanks at its end.
    fn text(&mut self, text: &str) {
        let indent = self.frame().content;
        for (index, line) in block_lines(text).enumerate() {
            if index > 0 {
                self.break_line(1, if line.is_empty() { 0 } else { indent });
            } else if line.is_empty() {
                let kept = self.out.trim_end_matches(' ').len();
                self.out.truncate(kept);
            }
            self.out.push_str(line);
        }
    }

    fn open(&mut self, brackets: Brackets) {
        let outer = *self.frame();
        // The head of a construct may go over several lines; its block is not indented for it.
        let continued = brackets.layout == Layout::Expression && outer.continued;
        let base = outer.content + if continued { INDENT } else { 0 };
        self.frames.push(Frame {
            base,
            content: base + if brackets.wide { INDENT } else { 0 },
            layout: brackets.layout,
            wide: brackets.wide,
            continued: false,
        });
    }

    fn gap(&mut self, piece: &Piece<'_>, comments: &[Comment<'_>]) {
        let frame = *self.frame();
        let close = piece.role == Role::Close;
        let gap = match piece.space {
            Space::Line | Space::Function if frame.wide => Gap::Statements,
            Space::Clause => Gap::Clause,
            _ if close || matches!(self.before, Role::Open(_) | Role::Comma) => Gap::Elements,
            _ => Gap::Inside,
        };
        self.plan(piece, comments, gap);
        let any = self.breaks.iter().any(|breaks| *breaks > 0);
        match gap {
            Gap::Statements | Gap::Elements => self.frame().continued = false,
            Gap::Inside => self.frame().continued |= any,
            Gap::Clause => {}
        }
        let content = frame.content + if gap == Gap::Inside { INDENT } else { 0 };
        let mut fresh = matches!(self.before, Role::Open(_));
        for (index, comment) in comments.iter().enumerate() {
            match self.breaks[index] {
                0 if index == 0 && self.is_tight(frame, comment) => {}
                0 => self.blank(),
                breaks => self.break_line(if fresh { 1 } else { breaks }, content),
            }
            fresh &= self.breaks[index] == 0;
            self.out.push_str(comment.text);
        }
        let indent = if close { frame.base } else { content };
        match self.breaks[comments.len()] {
            0 if comments.is_empty() => self.space(piece, frame),
            0 if close && frame.layout != Layout::Block => {}
            0 => self.blank(),
            _ if self.ends_by_itself(piece, comments) => {}
            breaks => self.break_line(if fresh { 1 } else { breaks }, indent),
        }
    }

    /// Decides on the line feeds of a gap.
    fn plan(&mut self, piece: &Piece<'_>, comments: &[Comment<'_>], gap: Gap) {
        let breaks = &mut self.breaks;
        breaks.clear();
        breaks.extend(comments.iter().map(|comment| comment.newlines));
        breaks.push(piece.newlines);
        if self.out.is_empty() {
            // Whatever begins the file begins a line.
            breaks[0] = breaks[0].max(1);
        }
        let close = piece.role == Role::Close;
        let last = comments.len();
        match gap {
            Gap::Clause if comments.is_empty() => breaks[0] = 0,
            Gap::Clause | Gap::Inside => breaks.iter_mut().for_each(|count| *count = 1.min(*count)),
            Gap::Elements if close => breaks[last] = 1.min(breaks[last]),
            Gap::Elements => {}
            Gap::Statements if close => breaks[last] = 1,
            Gap::Statements => {
                if breaks.iter().all(|count| *count == 0) {
                    // Comments on the line of a statement, before it, stay there.
                    breaks[0] = 1;
                }
                if piece.space == Space::Function {
                    let first = documentation(breaks, comments);
                    breaks[first] = 2;
                }
            }
        }
    }

    /// Whether a comment directly after the last piece has no blank before it: `[/* c */ 1]`.
    fn is_tight(&self, frame: Frame, comment: &Comment<'_>) -> bool {
        matches!(self.before, Role::Open(_))
            && frame.layout != Layout::Block
            && comment.text.starts_with("/*")
            && self.breaks[1] == 0
    }

    /// What precedes `piece` where no line breaks and no comment is.
    fn space(&mut self, piece: &Piece<'_>, frame: Frame) {
        let one_line_group = frame.layout == Layout::Group;
        match piece.space {
            Space::Tight | Space::Exact => {}
            Space::Line | Space::Function if one_line_group => {}
            Space::Line | Space::Function | Space::Blank | Space::Clause => self.blank(),
        }
    }

    fn blank(&mut self) {
        if !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    fn break_line(&mut self, count: u8, indent: usize) {
        if self.out.is_empty() {
            return;
        }
        for _ in 0..count {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Whether the file ends here in a step that a line feed would change: `\` at the very end is a
    /// character, and with a line feed after it joins lines.
    fn ends_by_itself(&self, piece: &Piece<'_>, comments: &[Comment<'_>]) -> bool {
        self.frames.is_empty()
            && piece.role == Role::Close
            && comments.is_empty()
            && (self.out.ends_with('\n') || ends_in_backslash(&self.out))
    }
}

/// The first of the comments directly above a function, or the function itself: what an empty line
/// goes before.
fn documentation(breaks: &[u8], comments: &[Comment<'_>]) -> usize {
    let mut first = comments.len();
    for (index, comment) in comments.iter().enumerate().rev() {
        if breaks[index + 1] > 1 || comment.shebang {
            break;
        }
        if breaks[index] > 0 {
            first = index;
        }
    }
    first
}

/// Whether a backslash that no other one protects ends `text`.
fn ends_in_backslash(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
