//! YAML to nodes: one document, without tags, within limits.
//!
//! An alias shares the node it names. What all of them together stand for is counted as if it were
//! written out, so that a few lines cannot become a mountain; nesting is counted the same way.

use std::collections::BTreeMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError};
use opal_core::{Code, Diagnostic, Span};

const MOST_LEVELS: usize = 64;
const MOST_NODES: usize = 1_000_000;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What is at a place of the document.
#[derive(Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
    size: Size,
}

#[derive(Debug)]
pub enum NodeKind {
    Scalar {
        text: String,
        /// Without quotes and not as a block: the text may mean a number, a truth or nothing.
        plain: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<(Rc<Node>, Rc<Node>)>),
}

impl Node {
    /// Where a message about the whole of it points: a block can go on for pages.
    pub fn head(&self) -> Span {
        match &self.kind {
            NodeKind::Map(entries) => entries.first().map_or(self.span, |(key, _)| key.span),
            NodeKind::List(items) => items.first().map_or(self.span, |item| item.head()),
            NodeKind::Scalar { .. } => self.span,
        }
    }
}

impl Node {
    /// The text of a single value.
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// With every alias written out.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    levels: usize,
}

impl Size {
    fn grow(&mut self, part: Self) {
        self.nodes = self.nodes.saturating_add(part.nodes);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.levels = self.levels.max(part.levels + 1);
    }
}

type Fault = Box<Diagnostic>;

/// Reads the document of a text; none where there is nothing in it.
pub fn read(text: &str) -> Result<Option<Rc<Node>>, Fault> {
    let limit = MOST_LEVELS;
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: limit,
        block_nesting_limit: limit,
    };
    let mut builder = Builder::default();
    let end = end_of(text);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, place) = next.map_err(|error| unreadable(text, &error))?;
        let place = place.byte_range().unwrap_or(end..end);
        builder.event(event, span(text, place))?;
    }
    Ok(builder.root)
}

/// The fault of a text without a document; `help` says how such a file begins.
pub fn empty(text: &str, help: &str) -> Diagnostic {
    fault(Span::at(end_of(text) as u32), "this file is empty").help(help)
}

/// A container whose end has not come yet.
#[derive(Debug)]
struct Open {
    items: Vec<Rc<Node>>,
    is_map: bool,
    anchor: usize,
    span: Span,
    size: Size,
}

#[derive(Debug, Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    total: Size,
    root: Option<Rc<Node>>,
    documents: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        if event.tag().is_some() {
            return Err(fault(span, "tags are not supported")
                .help("remove it; quotes turn any value into text")
                .into());
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(fault(span, "a second document begins here")
                        .help("a file has one document: move the other to its own file")
                        .into());
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                if text.contains('\0') {
                    return Err(fault(span, "this text contains a NUL character")
                        .help("remove it: paths and commands cannot contain one")
                        .into());
                }
                let size = Size { nodes: 1, bytes: text.len(), levels: 0 };
                let plain = style == ScalarStyle::Plain;
                let kind = NodeKind::Scalar { text: text.into_owned(), plain };
                self.add(Rc::new(Node { kind, span, size }), anchor)?;
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).map(Rc::clone) else {
                    return Err(fault(span, "this alias is inside the value that it names")
                        .help("write the value out")
                        .into());
                };
                self.add(node, 0)?;
            }
            Event::SequenceStart(_, anchor, _) => self.begin(false, anchor, span)?,
            Event::MappingStart(_, anchor, _) => self.begin(true, anchor, span)?,
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, is_map: bool, anchor: usize, span: Span) -> Result<(), Fault> {
        if self.open.len() >= MOST_LEVELS {
            return Err(too_deep(span));
        }
        self.total.nodes += 1;
        let size = Size { nodes: 1, ..Size::default() };
        self.open.push(Open { items: Vec::new(), is_map, anchor, span, size });
        Ok(())
    }

    fn end(&mut self, end: Span) {
        let Some(open) = self.open.pop() else { return };
        let kind = if open.is_map {
            let mut items = open.items.into_iter();
            let entries = std::iter::from_fn(|| Some((items.next()?, items.next()?)));
            NodeKind::Map(entries.collect())
        } else {
            NodeKind::List(open.items)
        };
        let span = Span::new(open.span.start, end.end.max(open.span.end));
        self.place(Rc::new(Node { kind, span, size: open.size }), open.anchor);
    }

    /// Adds a node that is complete at once, and counts it.
    fn add(&mut self, node: Rc<Node>, anchor: usize) -> Result<(), Fault> {
        if self.open.len() + node.size.levels > MOST_LEVELS {
            return Err(too_deep(node.span));
        }
        self.total.grow(node.size);
        if self.total.nodes > MOST_NODES || self.total.bytes > MOST_BYTES {
            return Err(fault(node.span, "the file is too large with its aliases expanded")
                .help("use fewer aliases, or split the file")
                .into());
        }
        self.place(node, anchor);
        Ok(())
    }

    fn place(&mut self, node: Rc<Node>, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        match self.open.last_mut() {
            Some(open) => {
                open.size.grow(node.size);
                open.items.push(node);
            }
            None => self.root = Some(node),
        }
    }
}

fn fault(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::ConfigSyntax, span, message)
}

fn too_deep(span: Span) -> Fault {
    fault(span, "nesting deeper than 64 levels").help("three or four levels are usual").into()
}

fn unreadable(text: &str, error: &ScanError) -> Fault {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(end_of(text));
    let span = span(text, at..at + 1);
    fault(span, "invalid YAML")
        .label(error.kind().to_string())
        .help("indent with spaces, never tabs; a text that contains `: ` or ` #` needs quotes")
        .into()
}

/// Just after the last thing that can be seen.
fn end_of(text: &str) -> usize {
    text.trim_end().len()
}

/// The place without the blanks and line ends after it, on the boundaries of characters.
fn span(text: &str, place: std::ops::Range<usize>) -> Span {
    let start = text.floor_char_boundary(place.start.min(text.len()));
    let end = text.floor_char_boundary(place.end.min(text.len())).max(start);
    let shown = text[start..end].trim_end().len();
    Span::new(start as u32, (start + shown) as u32)
}
