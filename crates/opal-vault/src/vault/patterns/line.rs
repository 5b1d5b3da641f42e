//! What to hide in a line, given what the lines before it have begun.

use super::items::Items;
use super::margin::Margin;
use super::named::Named;
use super::pem;
use super::scan::Scan;
use super::values::{Until, is_name};
use crate::vault::view::{Track as _, Views};

/// So many bytes of a line are held back, and so many of lines that belong together are hidden.
pub(super) const MOST: usize = 64 << 10;

/// What is known from before a line, or from before the rest of one.
#[derive(Clone, Debug, Default)]
pub(super) enum State {
    #[default]
    Plain,
    /// A value goes on in the same line.
    Value(Until),
    Lines(Lines),
    /// A name whose value may appear in so many bytes of lines.
    Named(Named, usize),
}

/// Lines that are hidden until something ends them.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    kind: Kind,
    /// So many bytes at most.
    left: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A private key, up to its last line.
    Pem,
    /// Lines further in than their key.
    Block(Margin),
    /// Items further in than their key, a line each.
    Items(Items),
    /// Lines up to this word.
    Heredoc(Vec<u8>),
}

/// A line, or what there is of it.
pub(super) struct Line<'a> {
    /// Without its end.
    pub(super) bytes: &'a [u8],
    /// It is not the rest of one.
    pub(super) is_start: bool,
    /// Nothing follows in it.
    pub(super) is_whole: bool,
}

/// Bytes to hide.
pub(super) struct Region {
    pub(super) start: usize,
    pub(super) end: usize,
    /// It does not go on from before.
    pub(super) is_new: bool,
}

pub(super) struct Decision {
    /// In order; they may overlap.
    pub(super) regions: Vec<Region>,
    pub(super) after: State,
    /// From here on the line must be read again when more of it has come.
    pub(super) settled: usize,
    /// From here on more of it may change what is to be hidden.
    pub(super) visible: usize,
}

/// What may begin something, and is cut, is no longer.
const TAIL: usize = 96;

impl Line<'_> {
    pub(super) fn decide(&self, before: &State) -> Decision {
        let views = Views::of(self.bytes, self.is_whole);
        let text = views.text.bytes();
        let mut scan = Scan::new(text, !self.is_whole);
        let mut after = State::Plain;
        match before {
            State::Plain => scan.run(0),
            State::Value(until) => {
                let end = until.end(text, 0, scan.goes_on);
                scan.find(0, 0..end, *until, true);
                scan.run(end);
            }
            State::Named(named, left) => scan.line_below(named, *left),
            State::Lines(lines) => match lines.hide(&mut scan, self.is_start) {
                Some(end) => scan.run(end),
                None => after = lines.less(self.bytes.len() + 1),
            },
        }
        let is_rest = matches!(before, State::Value(_)) || !self.is_start;
        let mut settled = self.tail(text);
        let mut visible = text.len();
        let mut regions = Vec::with_capacity(scan.finds.len());
        for (index, find) in scan.finds.iter().enumerate().rev() {
            if scan.goes_on && find.end == text.len() {
                visible = find.start;
            }
            if scan.goes_on && (find.end == text.len() || find.end > settled) {
                settled = settled.min(find.from);
            }
            if find.is_sure && find.start < find.end {
                let start = views.text.origin(find.start);
                let end = views.text.origin(find.end - 1) + 1;
                let is_new = index > 0 || matches!(before, State::Plain) || !is_rest;
                regions.push(Region { start, end, is_new });
            }
        }
        let open = scan.finds.last().filter(|find| find.is_sure && find.end == text.len());
        after = match (scan.below.take(), scan.holder.take(), open) {
            (Some(kind), ..) => State::Lines(Lines { kind, left: MOST }),
            (None, _, Some(find)) if scan.goes_on && matches!(after, State::Plain) => {
                State::Value(find.until)
            }
            (None, Some(holder), _) if self.is_whole => match holder.left.checked_sub(text.len()) {
                Some(left) => State::Named(holder.named, left),
                None => State::Plain,
            },
            _ => after,
        };
        bodies(&views, &mut regions);
        regions.sort_by_key(|region| (region.start, region.end));
        let place = |at: usize| match at == text.len() {
            true => views.unfinished.unwrap_or(self.bytes.len()),
            false => views.text.origin(at),
        };
        Decision { regions, after, settled: place(settled), visible: place(visible) }
    }

    /// Where that begins which the end of an unfinished line may belong to.
    fn tail(&self, text: &[u8]) -> usize {
        let tail = text.len().saturating_sub(if self.is_whole { 0 } else { TAIL });
        tail - text[..tail].iter().rev().take_while(|byte| is_name(**byte)).count()
    }
}

/// What escape sequences carry: a title, a link.
fn bodies(views: &Views<'_>, regions: &mut Vec<Region>) {
    let bytes = views.bodies.bytes();
    let mut at = 0;
    // Each begins with an escape.
    for body in bytes.split_inclusive(|byte| *byte == ESC) {
        let mut scan = Scan::new(body, false);
        scan.run(0);
        regions.extend(scan.finds.iter().filter(|find| find.start < find.end).map(|find| {
            let start = views.bodies.origin(at + find.start);
            let end = views.bodies.origin(at + find.end - 1) + 1;
            Region { start, end, is_new: true }
        }));
        at += body.len();
    }
}

const ESC: u8 = 0x1b;

impl Lines {
    /// Notes what belongs to them in a line, after its indentation. Gives where in it they have
    /// ended; nothing if they go on.
    fn hide(&self, scan: &mut Scan<'_>, is_start: bool) -> Option<usize> {
        let text = scan.text;
        let inner = text.trim_ascii();
        let first = text.len() - text.trim_ascii_start().len();
        let (start, end) = match &self.kind {
            Kind::Items(items) if is_start => return items.hide_below(scan),
            Kind::Items(_) => (0, None),
            Kind::Pem => (first, pem::end(text, 0)),
            Kind::Block(margin) => {
                let is_over = || !inner.is_empty() && margin.below(text, false).is_none();
                (margin.inside(text), (is_start && is_over()).then_some(0))
            }
            Kind::Heredoc(word) => (first, (is_start && inner == word).then_some(0)),
        };
        scan.find(0, start..end.unwrap_or(text.len()).max(start), Until::Line, true);
        end
    }

    /// The same, after so many bytes of them.
    fn less(&self, length: usize) -> State {
        match self.left.checked_sub(length) {
            Some(left) => State::Lines(Self { left, ..self.clone() }),
            None => State::Plain,
        }
    }
}
