//! What looks like a secret though it was never declared: the second stage of a scrubber.
//!
//! | what | where |
//! |---|---|
//! | names that say secret | [`opal_core::class::name`] |
//! | how far a value goes | `values` |
//! | values that are not secret | `plain` |
//! | tokens that say what they are | [`opal_core::class::tokens`] |
//! | private keys | `pem` |
//! | a line, word by word | `scan`, `assign`, `unjoined` |
//! | values apart from their names | `named`, `margin`, `items` |
//! | options of programs | `programs` |
//! | a line among others | `line` |
//!
//! A line is decided when it is whole, so no way of cutting the stream changes what is shown. One
//! that is very long is decided in parts, always the same ones.
//!
//! Not here: regular expressions. They could not say of half a line what may still become a
//! secret.

mod assign;
mod items;
mod line;
mod margin;
mod named;
mod pem;
mod plain;
mod programs;
mod scan;
mod unjoined;
mod values;

use std::ops::Range;

use opal_core::wiped::Wiped;

use line::{Line, MOST, Region, State};

/// What takes the place of a secret.
pub const HIDDEN: &str = "<redacted>";

/// One stream, on its way from the first stage.
#[derive(Default)]
pub(super) struct Patterns {
    /// A line whose end has not come.
    held: Wiped<Vec<u8>>,
    /// So many of the held bytes were shown while the stream was idle.
    shown: usize,
    /// The held bytes are the rest of a line.
    is_rest: bool,
    state: State,
}

impl Patterns {
    /// What is hidden in a whole text, in order.
    pub(super) fn hidden_in(text: &[u8]) -> Vec<Range<usize>> {
        let (mut patterns, mut parts) = (Self::default(), Parts::default());
        patterns.push_to(text, &mut parts);
        patterns.finish_to(&mut parts);
        parts.found
    }

    /// What can be shown now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        self.push_to(bytes, &mut out);
        out
    }

    fn push_to(&mut self, mut bytes: &[u8], out: &mut impl Sink) {
        while !bytes.is_empty() {
            let room = bytes.len().min(MOST - self.held.len());
            let end = memchr::memchr2(b'\n', b'\r', &bytes[..room]).map(|end| end + 1);
            let (now, later) = bytes.split_at(end.unwrap_or(room));
            bytes = later;
            if self.held.is_empty() && end.is_some() {
                self.line(now, out);
                continue;
            }
            self.held.extend_from_slice(now);
            if end.is_some() {
                let line = std::mem::take(&mut self.held);
                self.line(&line, out);
            } else if self.held.len() == MOST {
                self.part(out);
            }
        }
    }

    /// The stream rests: shows what is held up to where a secret may be.
    pub(super) fn idle(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.shown < self.held.len() {
            let decision = self.held_line(false).decide(&self.state);
            self.render(&self.held, &decision.regions, decision.visible, &mut out);
            self.shown = self.shown.max(decision.visible);
        }
        out
    }

    /// The end of the stream.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.finish_to(&mut out);
        out
    }

    fn finish_to(&mut self, out: &mut impl Sink) {
        let decision = self.held_line(true).decide(&self.state);
        self.render(&self.held, &decision.regions, self.held.len(), out);
        *self = Self::default();
    }

    /// How many bytes are held back.
    pub(super) fn held(&self) -> usize {
        self.held.len() - self.shown
    }

    fn held_line(&self, is_whole: bool) -> Line<'_> {
        Line { bytes: &self.held, is_start: !self.is_rest, is_whole }
    }

    /// A line with its end.
    fn line(&mut self, line: &[u8], out: &mut impl Sink) {
        let bytes = &line[..line.len() - 1];
        let decision = Line { bytes, is_start: !self.is_rest, is_whole: true }.decide(&self.state);
        self.render(line, &decision.regions, line.len(), out);
        (self.shown, self.is_rest, self.state) = (0, false, decision.after);
    }

    /// As much of a very long line as can be decided.
    fn part(&mut self, out: &mut impl Sink) {
        let decision = self.held_line(false).decide(&self.state);
        // Otherwise it would be read again and again.
        let is_enough = decision.settled >= MOST / 2;
        let to = if is_enough { decision.settled } else { self.held.len() };
        self.render(&self.held, &decision.regions, to, out);
        self.state = if is_enough { State::Plain } else { decision.after };
        self.shown = self.shown.saturating_sub(to);
        self.held = Wiped::new(self.held[to..].to_vec());
        self.is_rest = true;
    }

    /// What is shown of `line` up to `to`, beyond what already was.
    fn render(&self, line: &[u8], regions: &[Region], to: usize, out: &mut impl Sink) {
        let mut at = self.shown;
        let mut hidden = None;
        for region in regions.iter().filter(|region| region.start < to) {
            if region.end > at {
                out.show(line.get(at..region.start).unwrap_or_default());
                let touches = hidden.is_some_and(|hidden| region.start <= hidden);
                let length = region.end.min(to).saturating_sub(at.max(region.start));
                out.hide(length, region.is_new && !touches);
                at = region.end;
            }
            hidden = hidden.max(Some(region.end));
        }
        out.show(line.get(at..to).unwrap_or_default());
    }
}

/// What takes what is shown and what is hidden, in order.
trait Sink {
    fn show(&mut self, bytes: &[u8]);

    /// So many bytes, which are one with those hidden before unless they are new.
    fn hide(&mut self, length: usize, is_new: bool);
}

impl Sink for Vec<u8> {
    fn show(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn hide(&mut self, _: usize, is_new: bool) {
        if is_new {
            self.extend_from_slice(HIDDEN.as_bytes());
        }
    }
}

/// Only what is hidden.
#[derive(Default)]
struct Parts {
    at: usize,
    found: Vec<Range<usize>>,
}

impl Sink for Parts {
    fn show(&mut self, bytes: &[u8]) {
        self.at += bytes.len();
    }

    fn hide(&mut self, length: usize, is_new: bool) {
        let end = self.at + length;
        match self.found.last_mut().filter(|last| !is_new && last.end == self.at) {
            Some(last) => last.end = end,
            None if length > 0 => self.found.push(self.at..end),
            None => {}
        }
        self.at = end;
    }
}
