//! Patterns of one kind in one view of a stretch, and whether what they lead to follows.

use std::sync::Arc;

use super::keep::{Hash, Pattern, SURE, next_rung};
use super::net::{Net, Sink};
use super::search::{Findings, Followed, Kind, Layer, Region, Stretch, Trail};
use super::sequence;
use super::view::Track;

/// A value of one letter begins at each place of output of that letter. To follow all of them
/// would not be linear: where so many are followed, those that begin in what is hidden are not,
/// and others wait until it is known which go on.
const MOST_TRAILS: usize = 16;

/// One track of a stretch, while patterns of one kind are looked for in it.
pub(super) struct Looking<'a, T> {
    nets: Vec<(&'a Layer, &'a Net)>,
    kind: Kind,
    stretch: &'a Stretch<'a>,
    track: &'a T,
    findings: &'a mut Findings,
    /// Where trails from before it stop, and how much of it they hide.
    carried: Vec<usize>,
    hidden: usize,
}

/// How far along a form the bytes have come.
#[derive(Clone, Copy)]
struct Reached {
    /// The next byte.
    at: usize,
    /// So much of the form is there, with this hash.
    length: usize,
    hash: Hash,
}

/// How far a long form was found to go on.
#[derive(Default)]
struct Walk {
    /// It is hidden up to here, if at all.
    covered: Option<usize>,
    label: Option<Arc<str>>,
    /// What was printed is enough to be no accident.
    is_sure: bool,
    /// Here it was known not to go on.
    stop: usize,
    /// The last rung of it, with its length and hash, if it may go on after the end.
    open: Option<Reached>,
}

impl Walk {
    fn cover(&mut self, end: usize, label: &Arc<str>) {
        self.covered = Some(end);
        if !self.is_sure {
            self.label = Some(Arc::clone(label));
        }
    }
}

struct Hit {
    start: usize,
    end: usize,
    owner: u32,
    whole: bool,
    leads_to: Option<usize>,
}

struct Hits<'a, T> {
    track: &'a T,
    stretch: &'a Stretch<'a>,
    hits: Vec<Hit>,
    /// Where a pattern begins that must appear alone, and nobody knows yet if it does.
    undecided: Option<usize>,
}

impl<T: Track> Sink for Hits<'_, T> {
    fn found(&mut self, pattern: &Pattern, end: usize) {
        let start = end - pattern.length();
        let covers = |hit: &Hit| hit.whole && hit.start == start;
        let whole = pattern.whole
            && !self.hits.last().is_some_and(covers)
            && (!pattern.alone || self.is_alone(start, end));
        let leads_to = usize::try_from(pattern.leads_to).ok().filter(|length| *length > 0);
        if whole || leads_to.is_some() {
            self.hits.push(Hit { start, end, owner: pattern.owner, whole, leads_to });
        }
    }
}

impl<T: Track> Hits<'_, T> {
    fn is_alone(&mut self, start: usize, end: usize) -> bool {
        let bytes = self.track.bytes();
        let before = match start.checked_sub(1) {
            // A control character that the view is without is between.
            _ if self.is_cut(self.track.origin(start).checked_sub(1)) => None,
            Some(at) => Some(bytes[at]),
            None => self.stretch.before,
        };
        let last = end.checked_sub(1).map(|last| self.track.origin(last));
        if self.is_cut(last.map(|last| last + 1)) {
            return !before.is_some_and(is_word);
        }
        let after = bytes.get(end).copied();
        if [before, after].into_iter().flatten().any(is_word) {
            return false;
        }
        if after.is_none() && !self.stretch.is_last {
            self.undecided = Some(self.undecided.map_or(start, |first| first.min(start)));
            return false;
        }
        true
    }

    fn is_cut(&self, at: Option<usize>) -> bool {
        at.and_then(|at| self.stretch.raw.get(at)).is_some_and(|byte| is_cut(*byte))
    }
}

/// Whether words end at this byte, although a view is without it. An escape begins a sequence,
/// across which they go on.
pub(super) fn is_cut(byte: u8) -> bool {
    byte == b'\r' || sequence::is_control(byte) && byte != 0x1b
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a, T: Track> Looking<'a, T> {
    pub(super) fn new(
        nets: Vec<(&'a Layer, &'a Net)>,
        kind: Kind,
        stretch: &'a Stretch<'a>,
        track: &'a T,
        findings: &'a mut Findings,
    ) -> Self {
        Self { nets, kind, stretch, track, findings, carried: Vec::new(), hidden: 0 }
    }

    pub(super) fn look(mut self) {
        let kind = self.kind;
        for trail in self.stretch.trails.iter().filter(|trail| trail.kind == kind) {
            self.go_on(trail);
        }
        for (layer, net) in self.nets.clone() {
            let bytes = self.track.bytes();
            let mut sink = Hits {
                track: self.track,
                stretch: self.stretch,
                hits: Vec::new(),
                undecided: None,
            };
            let open = net.scan(bytes, &mut sink);
            let open = open.filter(|_| !self.stretch.is_last);
            self.findings.is_telling |= open.as_ref().is_some_and(|open| open.is_half);
            for from in [open.map(|open| open.from), sink.undecided].into_iter().flatten() {
                self.findings.wait(self.track.origin(from), bytes.len() - from);
            }
            self.take(&sink.hits, layer);
        }
    }

    fn take(&mut self, hits: &[Hit], layer: &Layer) {
        let mut followed = self.carried.clone();
        let mut hidden = self.hidden;
        for hit in hits {
            let own = layer.label(hit.owner);
            let start = self.track.origin(hit.start);
            let mut found = hit.whole.then(|| (hit.end, Arc::clone(own)));
            if let Some(longest) = hit.leads_to {
                followed.retain(|stop| *stop > hit.end);
                let are_many = followed.len() >= MOST_TRAILS;
                if are_many && hidden >= hit.start + SURE {
                    continue;
                }
                let bytes = self.track.bytes();
                if are_many && !self.stretch.is_last && followed.contains(&usize::MAX) {
                    self.findings.wait(start, bytes.len() - hit.start);
                    continue;
                }
                let lead = &bytes[hit.start..hit.end];
                let (at, length, hash) = (hit.end, lead.len(), Hash::EMPTY.over(lead));
                let from = Reached { at, length, hash };
                let walk = self.follow(from, Some(longest));
                if walk.is_sure {
                    followed.push(walk.stop);
                    hidden = hidden.max(walk.covered.unwrap_or(0));
                }
                found = walk.covered.zip(walk.label).or(found);
                let label = found.as_ref().map_or(own, |(_, label)| label);
                self.leave_open(walk.open, hit.start, label);
            }
            if let Some((end, label)) = found {
                let end = self.track.origin(end - 1) + 1;
                self.findings.regions.push(Region { start, end, label, goes_on: false });
            }
        }
    }

    /// What began at `start` may go on after the end.
    fn leave_open(&mut self, open: Option<Reached>, start: usize, label: &Arc<str>) {
        let origin = self.track.origin(start);
        match open {
            None => {}
            Some(open) if open.length >= SURE => {
                let new = Some(self.trail(open, label));
                self.findings.followed.push(Followed { start: origin, old: None, new });
            }
            Some(_) => self.findings.wait(origin, self.track.bytes().len() - start),
        }
    }

    fn go_on(&mut self, trail: &Trail) {
        let from = self.track.index(trail.at);
        let longest = self.rung(trail.hash).map(|(longest, _)| longest);
        let walk =
            self.follow(Reached { at: from, length: trail.length, hash: trail.hash }, longest);
        self.carried.push(walk.stop);
        if let Some(covered) = walk.covered.filter(|covered| *covered > from) {
            self.hidden = self.hidden.max(covered);
            let end = self.track.origin(covered - 1) + 1;
            let label = Arc::clone(&trail.label);
            self.findings.regions.push(Region { start: trail.at, end, label, goes_on: true });
        }
        let new = walk.open.map(|open| match open.at == from {
            true => {
                self.findings.wait(trail.at, self.track.bytes().len() - from);
                trail.clone()
            }
            false => self.trail(open, &trail.label),
        });
        self.findings.followed.push(Followed { start: trail.at, old: Some(trail.clone()), new });
    }

    fn trail(&mut self, reached: Reached, label: &Arc<str>) -> Trail {
        let Reached { at, length, hash } = reached;
        let place = self.track.origin(at - 1) + 1;
        self.findings.wait(place, self.track.bytes().len() - at);
        Trail { kind: self.kind, at: place, length, hash, label: Arc::clone(label) }
    }

    /// Goes along the bytes from `at` on while they may be those of a form that has the hash at
    /// this length, up to the longest such form.
    ///
    /// The first sure rung gives the label, as nothing is shown before it; else the last end.
    fn follow(&self, from: Reached, mut longest: Option<usize>) -> Walk {
        let Reached { mut at, mut length, mut hash } = from;
        let bytes = self.track.bytes();
        let mut walk = Walk::default();
        while let Some(longer) = longest {
            let rung = next_rung(length);
            let end = at + (rung.min(longer) - length);
            let mut here = hash;
            for (index, byte) in bytes.iter().enumerate().take(end).skip(at) {
                here = here.with(*byte);
                if self.nets.iter().any(|(_, net)| net.may_end(here))
                    && let Some(label) = self.end(here)
                {
                    walk.cover(index + 1, label);
                }
            }
            if end > bytes.len() {
                walk.open = (!self.stretch.is_last).then_some(Reached { at, length, hash });
                walk.stop = usize::MAX;
                return walk;
            }
            (at, hash) = (end, here);
            if rung > longer {
                break;
            }
            length = rung;
            let found = self.rung(hash);
            longest = found.map(|(longest, _)| longest);
            if let Some((_, label)) = found.filter(|_| length >= SURE) {
                walk.cover(at, label);
                walk.is_sure = true;
            }
        }
        walk.stop = at;
        walk
    }

    /// The length of the longest form that has this hash at a rung, and its label.
    fn rung(&self, hash: Hash) -> Option<(usize, &Arc<str>)> {
        let found = self.nets.iter().filter_map(|(layer, net)| Some((layer, net.rung(hash)?)));
        let (layer, rung) = found
            .reduce(|first, other| if other.1.longest > first.1.longest { other } else { first })?;
        Some((rung.longest as usize, layer.label(rung.owner)))
    }

    /// The label of the whole form that has this hash.
    fn end(&self, hash: Hash) -> Option<&Arc<str>> {
        self.nets.iter().find_map(|(layer, net)| Some(layer.label(net.end(hash)?.owner)))
    }
}
