//! YAML to nodes: one document, within limits, each node with its place.
//!
//! An alias shares the node it names. What all of them together mean is counted as if it were written
//! out, so that a few lines cannot become a mountain; nesting is counted the same way. What a scalar
//! means (a number, a truth, nothing) is for whoever reads the nodes: configurations and Ansible's
//! inventories disagree about it.
//!
//! | what | where |
//! |---|---|
//! | text to nodes | [`read`] |
//! | the keys of a mapping: known, given twice, missing | [`fields`] |
//! | what a scalar without quotes means in YAML 1.2 | [`scalar`] |
//! | what is wrong, as diagnostics | [`problems`] |

pub mod fields;
pub mod problems;
pub mod scalar;

use std::collections::BTreeMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError};
use opal_core::Span;

/// Levels of one document.
pub const MAX_LEVELS: usize = 64;

/// With every alias written out.
const MAX_NODES: usize = 1_000_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// What is at a place of the document.
#[derive(Debug)]
pub struct Node {
    pub kind: NodeKind,
    /// Without what it begins with, `!` or `!!`.
    pub tag: Option<String>,
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
    #[must_use]
    pub fn head(&self) -> Span {
        match &self.kind {
            NodeKind::Map(entries) => entries.first().map_or(self.span, |(key, _)| key.span),
            NodeKind::List(items) => items.first().map_or(self.span, |item| item.head()),
            NodeKind::Scalar { .. } => self.span,
        }
    }

    /// The text of a single value.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// Why a text has no nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub span: Span,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is not YAML: what its parser says.
    Syntax(String),
    /// One that may not be there.
    Tag(String),
    SecondDocument,
    Nul,
    /// An alias inside the value that it names.
    AliasInside,
    /// More than [`MAX_LEVELS`].
    TooDeep,
    /// With its aliases written out.
    TooLarge,
}

/// Reads the document of a text; none where there is nothing in it. `allows` says which tags may be
/// there.
pub fn read(text: &str, allows: fn(&str) -> bool) -> Result<Option<Rc<Node>>, Fault> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_LEVELS,
        block_nesting_limit: MAX_LEVELS,
    };
    let mut builder = Builder::default();
    let end = end_of(text);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, place) = next.map_err(|error| unreadable(text, &error))?;
        let place = place.byte_range().unwrap_or(end..end);
        let span = span(text, place);
        let tag = event.tag().map(|tag| tag.suffix().to_string());
        if let Some(tag) = tag.as_ref().filter(|tag| !allows(tag)) {
            return Err(Fault { span, why: Why::Tag(tag.clone()) });
        }
        builder.event(event, tag, span).map_err(|why| Fault { span, why })?;
    }
    Ok(builder.root)
}

/// Just after the last thing of a text that can be seen.
#[must_use]
pub fn end_of(text: &str) -> usize {
    text.trim_end().len()
}

fn unreadable(text: &str, error: &ScanError) -> Fault {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(end_of(text));
    Fault { span: span(text, at..at + 1), why: Why::Syntax(error.kind().to_string()) }
}

/// The place without the blanks and line ends after it, on the boundaries of characters.
fn span(text: &str, place: std::ops::Range<usize>) -> Span {
    let start = text.floor_char_boundary(place.start.min(text.len()));
    let end = text.floor_char_boundary(place.end.min(text.len())).max(start);
    let shown = text[start..end].trim_end().len();
    Span::new(start as u32, (start + shown) as u32)
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

/// A container whose end has not come yet.
#[derive(Debug)]
struct Open {
    items: Vec<Rc<Node>>,
    is_map: bool,
    tag: Option<String>,
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
    fn event(&mut self, event: Event<'_>, tag: Option<String>, span: Span) -> Result<(), Why> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Why::SecondDocument);
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                if text.contains('\0') {
                    return Err(Why::Nul);
                }
                let size = Size { nodes: 1, bytes: text.len(), levels: 0 };
                let plain = style == ScalarStyle::Plain;
                let kind = NodeKind::Scalar { text: text.into_owned(), plain };
                self.add(Rc::new(Node { kind, tag, span, size }), anchor)?;
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).map(Rc::clone).ok_or(Why::AliasInside)?;
                self.add(node, 0)?;
            }
            Event::SequenceStart(_, anchor, _) => self.begin(false, tag, anchor, span)?,
            Event::MappingStart(_, anchor, _) => self.begin(true, tag, anchor, span)?,
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            _ => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        is_map: bool,
        tag: Option<String>,
        anchor: usize,
        span: Span,
    ) -> Result<(), Why> {
        if self.open.len() >= MAX_LEVELS {
            return Err(Why::TooDeep);
        }
        self.total.nodes += 1;
        let size = Size { nodes: 1, ..Size::default() };
        self.open.push(Open { items: Vec::new(), is_map, tag, anchor, span, size });
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
        self.place(Rc::new(Node { kind, tag: open.tag, span, size: open.size }), open.anchor);
    }

    /// Adds a node that is complete at once, and counts it.
    fn add(&mut self, node: Rc<Node>, anchor: usize) -> Result<(), Why> {
        if self.open.len() + node.size.levels > MAX_LEVELS {
            return Err(Why::TooDeep);
        }
        self.total.grow(node.size);
        if self.total.nodes > MAX_NODES || self.total.bytes > MAX_BYTES {
            return Err(Why::TooLarge);
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
