//! A stream on its way to be seen.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use crate::Shown;
use opal_core::wiped::Wiped;

use super::long_sequences::{self, Aside};
use super::patterns::Patterns;
use super::search::{Findings, Layer, Region, Stretch, Trail, search};
use super::sequence::Open;
use super::{Hidden, Vault};

/// One stream of bytes on its way to be seen.
///
/// Each stretch is read together with what was held back of the one before, so that nothing depends
/// on how the stream was cut: all cuts give the same bytes.
pub struct Scrubber {
    vault: Vault,
    layers: Arc<[Arc<Layer>]>,
    generation: u64,
    /// What may be the beginning of something to hide.
    held: Wiped<Vec<u8>>,
    /// So many of the held bytes were shown while the stream was idle.
    shown: usize,
    /// What is held would tell something of a value.
    is_telling: bool,
    carry: Carry,
    /// Where in the held bytes an escape sequence begins whose end has not come.
    waiting: Option<usize>,
    /// A sequence that was too long to wait for.
    aside: Option<Box<Aside>>,
    /// All of the stream is inside of a sequence.
    is_inside: bool,
    /// The second stage: it sees only what the values have left.
    patterns: Option<Patterns>,
}

/// What is known of the stream before the held bytes.
#[derive(Default)]
struct Carry {
    before: Option<u8>,
    trails: Vec<Trail>,
    /// The label that was shown last, if what it stands for goes on to the held bytes, and how
    /// many of them belong to it.
    open: Option<(Arc<str>, usize)>,
}

impl Scrubber {
    pub(super) fn new(vault: &Vault) -> Self {
        let patterns = vault.shared.has_patterns.then(Patterns::default);
        Self {
            vault: vault.clone(),
            layers: Arc::default(),
            generation: 0,
            held: Wiped::default(),
            shown: 0,
            is_telling: false,
            carry: Carry::default(),
            waiting: None,
            aside: None,
            is_inside: false,
            patterns,
        }
    }

    /// What can be shown now; what may be the beginning of a value is held back, and with
    /// patterns a line whose end has not come.
    pub fn push<'b>(&'b mut self, bytes: &'b [u8]) -> Shown<'b> {
        let now = self.push_values(bytes);
        match &mut self.patterns {
            Some(patterns) => Shown::vouch(patterns.push(&now)),
            None => Shown::vouch(now),
        }
    }

    fn push_values<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.refresh();
        if bytes.is_empty() {
            return Cow::Borrowed(bytes);
        }
        if let Some(aside) = self.aside.take() {
            return Cow::Owned(self.push_aside(aside, bytes));
        }
        if let Some((from, open)) = self.goes_on(bytes) {
            // Nothing else is read again for each piece of a long sequence.
            self.held.extend_from_slice(bytes);
            let is_long = self.held.len() - from > long_sequences::MOST;
            return if is_long {
                Cow::Owned(self.set_aside(from, open))
            } else {
                Cow::Borrowed(b"")
            };
        }
        if !self.held.is_empty() {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            return Cow::Owned(self.pass(&joined, false));
        }
        if self.layers.is_empty() {
            self.carry = Carry { before: bytes.last().copied(), ..Carry::default() };
            return Cow::Borrowed(bytes);
        }
        let findings = self.find(bytes, false);
        if findings.regions.is_empty() && self.carry.open.is_none() {
            let now = &bytes[..findings.hold];
            self.keep(bytes, findings, None);
            return Cow::Borrowed(now);
        }
        Cow::Owned(self.settle(bytes, findings))
    }

    /// What values there are in a whole text.
    pub(super) fn hidden_values(mut self, text: &[u8]) -> Vec<Hidden> {
        self.refresh();
        let merged = self.merged(self.find(text, true).regions).into_iter();
        let vault = self.vault.clone();
        let hidden =
            |it: Region| Hidden { range: it.start..it.end, label: vault.own_label(&it.label) };
        merged.map(hidden).collect()
    }

    /// The sequence that is waited for, if all of `bytes` belong to it and more does.
    fn goes_on(&self, bytes: &[u8]) -> Option<(usize, Open)> {
        let from = self.waiting?;
        let open = Open::of(&self.held[from..])?;
        let before = self.held[from + 2..].last().copied();
        let is_ending = before == Some(0x1b) || open.stops(before, bytes).is_some();
        (!is_ending).then_some((from, open))
    }

    fn set_aside(&mut self, from: usize, open: Open) -> Vec<u8> {
        let sequence = Wiped::new(self.held.split_off(from));
        let mut out = sequence[..2].to_vec();
        let scrubber = Self { is_inside: true, patterns: None, ..Self::new(&self.vault) };
        let mut aside = Box::new(Aside::new(open, scrubber));
        let ended = aside.push(&sequence[2..], &mut out);
        debug_assert!(ended.is_none(), "its end was found");
        // What was shown of it while the stream was idle.
        out.drain(..self.shown.saturating_sub(from).min(out.len()));
        self.shown = self.shown.min(from);
        self.carry.trails.iter_mut().for_each(|trail| trail.at = trail.at.min(from));
        (self.waiting, self.aside) = (None, Some(aside));
        out
    }

    fn push_aside(&mut self, mut aside: Box<Aside>, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        match aside.push(bytes, &mut out) {
            None => self.aside = Some(aside),
            Some(rest) => {
                for bytes in [rest.escape, rest.bytes] {
                    out.extend_from_slice(&self.push_values(bytes));
                }
            }
        }
        out
    }

    /// The stream rests, perhaps at a prompt: shows what is held back where it is too short to
    /// tell anything, less than four characters and less than half of a value. Of a value that goes
    /// on later the rest is hidden all the same.
    pub fn idle(&mut self) -> Shown<'_> {
        let mut now = self.idle_values();
        if let Some(patterns) = &mut self.patterns {
            now = patterns.push(&now);
            now.extend(patterns.idle());
        }
        Shown::vouch(now)
    }

    fn idle_values(&mut self) -> Vec<u8> {
        self.refresh();
        if let Some(aside) = &mut self.aside {
            let mut out = Vec::new();
            aside.idle(&mut out);
            return out;
        }
        if self.held.len() == self.shown || self.is_telling {
            return Vec::new();
        }
        let findings = self.find(&self.held, false);
        let merged = self.merged(findings.regions);
        let now = self.render(&self.held, &merged, self.held.len());
        self.shown = self.held.len();
        now
    }

    /// The end of the stream.
    pub fn finish(&mut self) -> Shown<'_> {
        self.refresh();
        let held = std::mem::take(&mut self.held);
        let mut now = Vec::new();
        if let Some(aside) = self.aside.take() {
            aside.finish(&mut now);
        }
        now.extend(self.pass(&held, true));
        self.carry = Carry::default();
        if let Some(patterns) = &mut self.patterns {
            now = patterns.push(&now);
            now.extend(patterns.finish());
        }
        Shown::vouch(now)
    }

    fn refresh(&mut self) {
        if self.vault.generation() != self.generation {
            (self.generation, self.layers) = self.vault.layers();
            self.is_telling = self.find(&self.held, false).is_telling;
        }
    }

    fn find(&self, raw: &[u8], is_last: bool) -> Findings {
        let Carry { before, ref trails, .. } = self.carry;
        let is_inside = self.is_inside;
        search(&self.layers, &Stretch { raw, is_last, is_inside, before, trails })
    }

    fn pass(&mut self, raw: &[u8], is_last: bool) -> Vec<u8> {
        let findings = self.find(raw, is_last);
        self.settle(raw, findings)
    }

    /// What is shown of `raw`, and remembers the rest.
    fn settle(&mut self, raw: &[u8], mut findings: Findings) -> Vec<u8> {
        let hold = findings.hold;
        // What begins later is found again, and then perhaps as part of something longer.
        let regions = findings.regions.drain(..).filter(|region| region.start < hold).collect();
        let merged = self.merged(regions);
        let now = self.render(raw, &merged, hold);
        let announced = usize::from(self.carry.open.is_some());
        let begun = merged.into_iter().enumerate();
        let last = begun.filter(|(index, region)| region.start < hold || *index < announced).last();
        let open = last.map(|(_, region)| region).filter(|region| region.end >= hold);
        self.keep(raw, findings, open.map(|region| (region.label, region.end - hold)));
        now
    }

    fn keep(&mut self, raw: &[u8], findings: Findings, open: Option<(Arc<str>, usize)>) {
        let Findings { hold, is_telling, mut trails, before, unfinished, .. } = findings;
        for trail in &mut trails {
            trail.at -= hold;
        }
        self.carry = Carry { before, trails, open };
        self.is_telling = is_telling;
        self.waiting = unfinished.map(|at| at - hold);
        self.shown = self.shown.saturating_sub(hold);
        self.held = Wiped::new(raw[hold..].to_vec());
    }

    /// Regions that overlap are one, and so are those of one label that touch. The one that
    /// begins first, or is the longest of those, gives its label.
    fn merged(&self, mut regions: Vec<Region>) -> Vec<Region> {
        let place = |region: &Region| (region.start, !region.goes_on, Reverse(region.end));
        regions.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.label.cmp(&b.label)));
        let open = self.carry.open.clone();
        let mut merged: Vec<Region> = Vec::with_capacity(regions.len() + 1);
        merged.extend(open.map(|(label, end)| Region { start: 0, end, label, goes_on: true }));
        for region in regions {
            let joins = |last: &&mut Region| {
                let same = region.goes_on || region.label == last.label;
                region.start < last.end || region.start == last.end && same
            };
            match merged.last_mut().filter(joins) {
                Some(last) => last.end = last.end.max(region.end),
                None => merged.push(region),
            }
        }
        merged
    }

    /// What is shown of `raw` up to `hold`, beyond what already was.
    fn render(&self, raw: &[u8], merged: &[Region], hold: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(hold);
        let mut at = self.shown;
        let announced = usize::from(self.carry.open.is_some());
        for (index, region) in merged.iter().enumerate() {
            if region.start >= hold && index >= announced {
                break;
            }
            out.extend_from_slice(raw.get(at..region.start.min(hold)).unwrap_or_default());
            if index >= announced && region.end > self.shown {
                let label = self.vault.own_label(&region.label);
                out.extend_from_slice(label.as_bytes());
                self.vault.note(&label);
            }
            at = at.max(region.end.min(hold));
        }
        out.extend_from_slice(raw.get(at..hold).unwrap_or_default());
        out
    }
}

/// Counts only.
impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let held = self.held.len() + self.patterns.as_ref().map_or(0, Patterns::held);
        f.debug_struct("Scrubber").field("held", &held).finish_non_exhaustive()
    }
}
