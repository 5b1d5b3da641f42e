//! What there is to hide in a stretch of output, and what of its end must wait for more.

use std::sync::Arc;

use super::forms::{Forms, Hash, Rungs, next_rung};
use super::net::{Net, Pattern, Sink};
use super::view::{Loose, Track, View, Views};

/// Values that were made into automata together.
pub(super) struct Layer {
    values: Vec<Arc<Forms>>,
    text: Option<Net>,
    loose: Option<Net>,
}

/// Bytes to hide: they may overlap others.
pub(super) struct Region {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) label: Arc<str>,
    /// It belongs to what was hidden before it.
    pub(super) goes_on: bool,
}

/// A long value that was found to begin, up to a rung of it.
#[derive(Clone)]
pub(super) struct Trail {
    kind: Kind,
    /// Where it goes on.
    pub(super) at: usize,
    length: usize,
    hash: Hash,
    label: Arc<str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Loose,
}

/// A stretch of output, and what is known from before it.
pub(super) struct Stretch<'a> {
    pub(super) raw: &'a [u8],
    /// Nothing follows.
    pub(super) is_last: bool,
    /// What was printed last before it.
    pub(super) before: Option<u8>,
    pub(super) trails: &'a [Trail],
}

pub(super) struct Findings {
    pub(super) regions: Vec<Region>,
    /// From here on the bytes may be the beginning of something to hide.
    pub(super) hold: usize,
    /// How many characters of a value may have been printed from there on.
    pub(super) waiting: usize,
    /// To be gone on with after `hold`.
    pub(super) trails: Vec<Trail>,
    /// What is printed last before `hold`.
    pub(super) before: Option<u8>,
    followed: Vec<Followed>,
}

struct Followed {
    /// Where it began in this stretch.
    start: usize,
    /// As it was at the beginning, if that was before this stretch.
    old: Option<Trail>,
    new: Option<Trail>,
}

/// Values within values, and those of one letter, begin at many places. More are never followed
/// at once, so that following stays linear.
const MOST_TRAILS: usize = 16;

impl Layer {
    pub(super) fn new(values: Vec<Arc<Forms>>) -> Self {
        let owned = |forms: fn(&Forms) -> &[super::forms::Form]| {
            let values = values.iter().enumerate();
            values
                .flat_map(move |(owner, value)| forms(value).iter().map(move |form| (owner, form)))
        };
        let text =
            Net::new(owned(|value| &value.text), values.iter().map(|value| &value.text_rungs));
        let loose =
            Net::new(owned(|value| &value.loose), values.iter().map(|value| &value.loose_rungs));
        Self { values, text, loose }
    }

    pub(super) fn values(&self) -> &[Arc<Forms>] {
        &self.values
    }

    pub(super) fn memory(&self) -> usize {
        [Kind::Text, Kind::Loose]
            .into_iter()
            .filter_map(|kind| self.net(kind))
            .map(Net::memory)
            .sum()
    }

    fn net(&self, kind: Kind) -> Option<&Net> {
        match kind {
            Kind::Text => self.text.as_ref(),
            Kind::Loose => self.loose.as_ref(),
        }
    }
}

/// Looks for the values of all layers.
pub(super) fn search(layers: &[Arc<Layer>], stretch: &Stretch<'_>) -> Findings {
    let views = Views::of(stretch.raw, stretch.is_last);
    let length = stretch.raw.len();
    let mut findings = Findings {
        regions: Vec::new(),
        hold: length,
        waiting: 0,
        trails: Vec::new(),
        before: stretch.before,
        followed: Vec::new(),
    };
    if let Some(unfinished) = views.unfinished {
        findings.wait(unfinished, length - unfinished);
    }
    both(layers, stretch, &views.text, &mut findings);
    if !views.bodies.bytes().is_empty() {
        // Each is there from its beginning to its end, so that nothing in it waits.
        let alone = Stretch { is_last: true, before: None, trails: &[], ..*stretch };
        both(layers, &alone, &views.bodies, &mut findings);
    }
    findings.settle(&views.text, stretch);
    findings
}

fn both(layers: &[Arc<Layer>], stretch: &Stretch<'_>, view: &View<'_>, findings: &mut Findings) {
    let any = |kind| layers.iter().any(|layer| layer.net(kind).is_some());
    if any(Kind::Text) {
        Looking { layers, kind: Kind::Text, stretch, track: view, findings, carried: Vec::new() }
            .look();
    }
    if any(Kind::Loose) {
        let track = &Loose::of(view);
        Looking { layers, kind: Kind::Loose, stretch, track, findings, carried: Vec::new() }.look();
    }
}

impl Findings {
    fn wait(&mut self, from: usize, characters: usize) {
        self.hold = self.hold.min(from);
        self.waiting = self.waiting.max(characters);
    }

    /// What began after `hold` is found again with more output, so only the rest is carried on.
    fn settle(&mut self, text: &View<'_>, stretch: &Stretch<'_>) {
        let hold = self.hold;
        let carried =
            |followed: Followed| if followed.start < hold { followed.new } else { followed.old };
        self.trails = self.followed.drain(..).filter_map(carried).collect();
        let printed = text.index(hold).checked_sub(1).map(|last| text.bytes()[last]);
        self.before = match hold.checked_sub(1).map(|last| stretch.raw[last]) {
            Some(b'\r') => Some(b'\r'),
            _ => printed.or(stretch.before),
        };
    }
}

/// One track of a stretch, while patterns of one kind are looked for in it.
struct Looking<'a, T> {
    layers: &'a [Arc<Layer>],
    kind: Kind,
    stretch: &'a Stretch<'a>,
    track: &'a T,
    findings: &'a mut Findings,
    /// Where trails from before the stretch stopped.
    carried: Vec<usize>,
}

/// How far a long value was found to go on.
struct Walk {
    /// It is hidden up to here.
    covered: usize,
    /// Here it was known not to go on.
    stop: usize,
    /// The last rung of it, with its length and hash, if it may go on after the end.
    open: Option<(usize, usize, Hash)>,
}

struct Hit {
    start: usize,
    end: usize,
    owner: usize,
    rung: Option<Hash>,
}

struct Hits<'a, T> {
    track: &'a T,
    stretch: &'a Stretch<'a>,
    hits: Vec<Hit>,
    /// Where a pattern begins that must stand alone, and nobody knows yet if it does.
    undecided: Option<usize>,
}

impl<T: Track> Sink for Hits<'_, T> {
    fn found(&mut self, pattern: &Pattern, end: usize) {
        let start = end - pattern.length;
        if pattern.alone {
            let bytes = self.track.bytes();
            let before = match start.checked_sub(1) {
                // A return that the view is without stands between.
                _ if self.is_after_return(start) => None,
                Some(at) => Some(bytes[at]),
                None => self.stretch.before,
            };
            let after = bytes.get(end).copied();
            if [before, after].into_iter().flatten().any(is_word) {
                return;
            }
            if after.is_none() && !self.stretch.is_last {
                self.undecided = Some(self.undecided.map_or(start, |first| first.min(start)));
                return;
            }
        }
        let covers = |hit: &Hit| hit.end == end && hit.start <= start;
        if pattern.rung.is_some() || !self.hits.last().is_some_and(covers) {
            self.hits.push(Hit { start, end, owner: pattern.owner, rung: pattern.rung });
        }
    }
}

impl<T: Track> Hits<'_, T> {
    fn is_after_return(&self, start: usize) -> bool {
        let before = self.track.origin(start).checked_sub(1);
        before.is_some_and(|before| self.stretch.raw[before] == b'\r')
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<T: Track> Looking<'_, T> {
    fn look(mut self) {
        let kind = self.kind;
        for trail in self.stretch.trails.iter().filter(|trail| trail.kind == kind) {
            self.go_on(trail);
        }
        for layer in self.layers {
            let Some(net) = layer.net(self.kind) else { continue };
            let bytes = self.track.bytes();
            let mut sink = Hits {
                track: self.track,
                stretch: self.stretch,
                hits: Vec::new(),
                undecided: None,
            };
            let open = net.scan(bytes, &mut sink);
            let open = open.filter(|_| !self.stretch.is_last);
            for from in [open, sink.undecided].into_iter().flatten() {
                self.findings.wait(self.track.origin(from), bytes.len() - from);
            }
            self.take(&sink.hits, layer);
        }
    }

    fn take(&mut self, hits: &[Hit], layer: &Layer) {
        let mut followed = self.carried.clone();
        for hit in hits {
            let label = &layer.values[hit.owner].label;
            let start = self.track.origin(hit.start);
            let mut end = hit.end;
            if let Some(hash) = hit.rung {
                followed.retain(|stop| *stop > hit.end);
                if followed.len() < MOST_TRAILS {
                    let walk = self.follow(hit.end, hit.end - hit.start, hash);
                    followed.push(walk.stop);
                    end = walk.covered;
                    let new = walk.open.map(|open| self.trail(open, label));
                    self.findings.followed.push(Followed { start, old: None, new });
                }
            }
            let end = self.track.origin(end - 1) + 1;
            self.findings.regions.push(Region {
                start,
                end,
                label: Arc::clone(label),
                goes_on: false,
            });
        }
    }

    fn go_on(&mut self, trail: &Trail) {
        let from = self.track.index(trail.at);
        let walk = self.follow(from, trail.length, trail.hash);
        self.carried.push(walk.stop);
        if walk.covered > from {
            let end = self.track.origin(walk.covered - 1) + 1;
            let label = Arc::clone(&trail.label);
            self.findings.regions.push(Region { start: trail.at, end, label, goes_on: true });
        }
        let new = walk.open.map(|open| match open.0 == from {
            true => {
                self.findings.wait(trail.at, self.track.bytes().len() - from);
                trail.clone()
            }
            false => self.trail(open, &trail.label),
        });
        self.findings.followed.push(Followed { start: trail.at, old: Some(trail.clone()), new });
    }

    fn trail(&mut self, (at, length, hash): (usize, usize, Hash), label: &Arc<str>) -> Trail {
        let place = self.track.origin(at - 1) + 1;
        self.findings.wait(place, self.track.bytes().len() - at);
        Trail { kind: self.kind, at: place, length, hash, label: Arc::clone(label) }
    }

    /// Goes along the bytes from `at` on while they may be those of a value that has the hash at
    /// this length.
    fn follow(&self, mut at: usize, mut length: usize, mut hash: Hash) -> Walk {
        let bytes = self.track.bytes();
        let mut covered = at;
        while let Some(longest) = self.rungs().filter_map(|rungs| rungs.longest(hash)).max() {
            let rung = next_rung(length);
            let end = at + (rung.min(longest) - length);
            let mut here = hash;
            for (index, byte) in bytes.iter().enumerate().take(end).skip(at) {
                here = here.with(*byte);
                if self.rungs().any(|rungs| rungs.is_end(here)) {
                    covered = index + 1;
                }
            }
            if end > bytes.len() {
                let open = (!self.stretch.is_last).then_some((at, length, hash));
                return Walk { covered, stop: usize::MAX, open };
            }
            if end - at < rung - length {
                return Walk { covered, stop: end, open: None };
            }
            (at, length, hash) = (end, rung, here);
            if self.rungs().any(|rungs| rungs.longest(hash).is_some()) {
                covered = at;
            }
        }
        Walk { covered, stop: at, open: None }
    }

    fn rungs(&self) -> impl Iterator<Item = &Rungs> {
        self.layers.iter().filter_map(|layer| layer.net(self.kind)).map(Net::rungs)
    }
}
