//! The shape of a text: what can be folded, and what is selected when a selection grows.
//!
//! Folding is asked for after each edit, so it reads the events of the parser. Selections are read from the
//! tree, which is built for each request.

use gen_lsp_types::{FoldingRange, FoldingRangeKind, Position, SelectionRange};
use opal_core::Span;
use opal_plan::Words;
use opal_syntax::cursor::Item;
use opal_syntax::tree::{self, Node};
use opal_syntax::{Parse, SyntaxKind};

use crate::files::View;

fn tree(view: &View) -> Node {
    let text = &view.text.text;
    tree::build(text, &opal_syntax::parse(text, &Words(view.registry)))
}

fn span(node: &Node) -> Span {
    let range = node.text_range();
    Span::new(range.start().into(), range.end().into())
}

/// The nodes of a text, each after those in it, from their first token to their last.
fn nodes(parse: &Parse) -> Vec<(SyntaxKind, Span)> {
    let mut nodes = Vec::new();
    let mut open: Vec<(SyntaxKind, Option<u32>)> = Vec::new();
    let mut end = 0;
    for item in parse.cursor() {
        match item {
            Item::Start { kind, .. } => open.push((kind, None)),
            Item::Token { span, .. } => {
                let begun = open.iter_mut().rev().take_while(|(_, start)| start.is_none());
                begun.for_each(|(_, start)| *start = Some(span.start));
                end = span.end;
            }
            Item::Finish => {
                if let Some((kind, Some(start))) = open.pop() {
                    nodes.push((kind, Span::new(start, end)));
                }
            }
        }
    }
    nodes
}

pub(crate) fn folding(view: &View) -> Vec<FoldingRange> {
    let parse = opal_syntax::parse(&view.text.text, &Words(view.registry));
    let nodes = nodes(&parse);
    let mut all = Vec::new();
    for (kind, span) in &nodes {
        let is_block = matches!(
            kind,
            SyntaxKind::Block
                | SyntaxKind::TextBlock
                | SyntaxKind::Array
                | SyntaxKind::Map
                | SyntaxKind::ArgList
                | SyntaxKind::ParamList
        );
        if is_block {
            // The line of the closing bracket stays.
            all.extend(lines(view, trimmed(view, *span), None).and_then(|mut it| {
                it.end_line = it.end_line.saturating_sub(1);
                (it.end_line > it.start_line).then_some(it)
            }));
        }
    }
    all.extend(comments(view, &parse));
    all.extend(imports(view, &nodes));
    all.extend(groups(view));
    all.sort_by_key(|it| (it.start_line, it.end_line));
    all.dedup_by_key(|it| (it.start_line, it.end_line));
    all
}

/// Without blanks at its ends.
fn trimmed(view: &View, span: Span) -> Span {
    let text = view.text.slice(span);
    let start = span.start + (text.len() - text.trim_start().len()) as u32;
    Span::new(start, start.max(span.start + text.trim_end().len() as u32))
}

fn lines(view: &View, span: Span, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    let (start_line, end_line) = (view.text.line_of(span.start), view.text.line_of(span.end));
    let range = FoldingRange { start_line, end_line, kind, ..FoldingRange::default() };
    (end_line > start_line).then_some(range)
}

/// Comments of several lines, and several comments below each other.
fn comments(view: &View, parse: &Parse) -> Vec<FoldingRange> {
    let mut runs: Vec<Span> = Vec::new();
    let tokens = parse.tokens();
    let comments = (0..tokens.len()).filter(|at| tokens.kind(*at) == SyntaxKind::Comment);
    for here in comments.map(|at| tokens.span(at)) {
        match runs.last_mut() {
            Some(last) if view.text.line_of(last.end) + 1 >= view.text.line_of(here.start) => {
                *last = last.to(here);
            }
            _ => runs.push(here),
        }
    }
    runs.iter().filter_map(|run| lines(view, *run, Some(FoldingRangeKind::Comment))).collect()
}

fn imports(view: &View, nodes: &[(SyntaxKind, Span)]) -> Option<FoldingRange> {
    let all = nodes.iter().filter(|(kind, _)| *kind == SyntaxKind::Import);
    let whole = all.map(|(_, span)| trimmed(view, *span)).reduce(Span::to)?;
    lines(view, whole, Some(FoldingRangeKind::Imports))
}

/// From a heading to the one after it.
fn groups(view: &View) -> Vec<FoldingRange> {
    let count = view.text.line_of(view.text.text.len() as u32) + 1;
    let is_heading = |line: &u32| {
        let line = view.text.line(*line);
        line.starts_with("// # ") || line.starts_with("# # ")
    };
    let headings: Vec<u32> = (0..count).filter(is_heading).collect();
    let ends = headings.iter().skip(1).copied().chain([count]);
    let group = |(start_line, next): (&u32, u32)| {
        let is_filled = |line: &u32| !view.text.line(*line).trim().is_empty();
        let end_line = (*start_line..next).rev().find(is_filled)?;
        let kind = Some(FoldingRangeKind::Region);
        let range =
            FoldingRange { start_line: *start_line, end_line, kind, ..FoldingRange::default() };
        (end_line > *start_line).then_some(range)
    };
    headings.iter().zip(ends).filter_map(group).collect()
}

pub(crate) fn selections(view: &View, positions: &[Position]) -> Vec<SelectionRange> {
    let root = tree(view);
    positions.iter().map(|position| selection(view, &root, view.text.offset(*position))).collect()
}

fn selection(view: &View, root: &Node, at: u32) -> SelectionRange {
    let at = at.min(root.text_range().end().into());
    let token = root.token_at_offset(at.into()).right_biased();
    let mut spans: Vec<Span> = Vec::new();
    if let Some(token) = token {
        let range = token.text_range();
        let own = Span::new(range.start().into(), range.end().into());
        spans.extend(word(view, own, at));
        spans.push(own);
        spans.extend(token.parent_ancestors().map(|node| trimmed(view, span(&node))));
    }
    spans.push(Span::new(0, view.text.text.len() as u32));
    // Each contains the one before it.
    let mut nested: Vec<Span> = Vec::new();
    for span in spans {
        let is_wider =
            |last: &Span| span.start <= last.start && last.end <= span.end && span != *last;
        if nested.last().is_none_or(is_wider) {
            nested.push(span);
        }
    }
    let chain = nested.into_iter().rev().fold(None, |parent: Option<Box<SelectionRange>>, span| {
        Some(Box::new(SelectionRange { range: view.text.range(span), parent }))
    });
    chain.map_or_else(SelectionRange::default, |it| *it)
}

/// The word of a long text that the cursor is in.
fn word(view: &View, token: Span, at: u32) -> Option<Span> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let before = view.text.slice(Span::new(token.start, at.max(token.start)));
    let after = view.text.slice(Span::new(at.max(token.start), token.end));
    let start = at
        - before.chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum::<usize>()
            as u32;
    let end =
        at + after.chars().take_while(|c| is_part(*c)).map(char::len_utf8).sum::<usize>() as u32;
    (start < end).then(|| Span::new(start, end))
}
