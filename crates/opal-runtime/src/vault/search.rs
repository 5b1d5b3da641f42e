//! What there is to hide in a stretch of output, and what of its end must wait for more.

use std::sync::Arc;

use super::forms::Forms;
use super::keep::{Hash, Kept, Pattern, SURE, next_rung};
use super::net::{Net, Sink};
use super::view::{Loose, Track, View, Views};

/// Values that are looked for together.
pub(super) struct Layer {
    labels: Vec<Arc<str>>,
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

/// A long form that was found to begin, up to a rung of it that is sure.
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
/// at once beyond what is sure, so that following stays linear.
const MOST_TRAILS: usize = 16;

impl Layer {
    /// Of all values of `older` layers, and newer ones.
    pub(super) fn new(older: &[Arc<Self>], newest: &[Forms]) -> Self {
        let mut labels: Vec<Arc<str>> = Vec::new();
        let (mut text, mut loose) = (Kept::default(), Kept::default());
        let owners = |labels: &[_]| u32::try_from(labels.len()).unwrap_or(u32::MAX);
        for layer in older {
            let nets = [(&mut text, &layer.text), (&mut loose, &layer.loose)];
            for (all, net) in nets {
                net.iter().for_each(|net| all.append(net.kept(), owners(&labels)));
            }
            labels.extend_from_slice(&layer.labels);
        }
        for forms in newest {
            text.append(&forms.text, owners(&labels));
            loose.append(&forms.loose, owners(&labels));
            labels.push(Arc::clone(&forms.label));
        }
        Self { labels, text: Net::new(text), loose: Net::new(loose) }
    }

    /// How many values it has.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    fn label(&self, owner: u32) -> &Arc<str> {
        &self.labels[owner as usize]
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
    let nets = |kind| -> Vec<(&Layer, &Net)> {
        layers.iter().filter_map(|layer| Some((&**layer, layer.net(kind)?))).collect()
    };
    Looking::new(nets(Kind::Text), Kind::Text, stretch, view, findings).look();
    let loose = nets(Kind::Loose);
    if !loose.is_empty() {
        Looking::new(loose, Kind::Loose, stretch, &Loose::of(view), findings).look();
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
    nets: Vec<(&'a Layer, &'a Net)>,
    kind: Kind,
    stretch: &'a Stretch<'a>,
    track: &'a T,
    findings: &'a mut Findings,
    /// Where trails from before the stretch stopped, and what of it they hide.
    carried: Vec<usize>,
    hidden: usize,
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
    open: Option<(usize, usize, Hash)>,
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
    /// Where a pattern begins that must stand alone, and nobody knows yet if it does.
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
            // A return that the view is without stands between.
            _ if self.is_after_return(start) => None,
            Some(at) => Some(bytes[at]),
            None => self.stretch.before,
        };
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

    fn is_after_return(&self, start: usize) -> bool {
        let before = self.track.origin(start).checked_sub(1);
        before.is_some_and(|before| self.stretch.raw[before] == b'\r')
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a, T: Track> Looking<'a, T> {
    fn new(
        nets: Vec<(&'a Layer, &'a Net)>,
        kind: Kind,
        stretch: &'a Stretch<'a>,
        track: &'a T,
        findings: &'a mut Findings,
    ) -> Self {
        Self { nets, kind, stretch, track, findings, carried: Vec::new(), hidden: 0 }
    }

    fn look(mut self) {
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
            for from in [open, sink.undecided].into_iter().flatten() {
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
                if followed.len() == MOST_TRAILS && hidden >= hit.start + SURE {
                    continue;
                }
                let bytes = &self.track.bytes()[hit.start..hit.end];
                let most = if followed.len() < MOST_TRAILS { usize::MAX } else { SURE };
                let from = (hit.end, bytes.len(), Hash::EMPTY.over(bytes));
                let walk = self.follow(from, Some(longest), most);
                if walk.is_sure && most > SURE {
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
    fn leave_open(
        &mut self,
        open: Option<(usize, usize, Hash)>,
        start: usize,
        label: &Arc<str>,
    ) {
        let origin = self.track.origin(start);
        match open {
            None => {}
            Some(open) if open.1 >= SURE => {
                let new = Some(self.trail(open, label));
                self.findings.followed.push(Followed { start: origin, old: None, new });
            }
            Some(_) => self.findings.wait(origin, self.track.bytes().len() - start),
        }
    }

    fn go_on(&mut self, trail: &Trail) {
        let from = self.track.index(trail.at);
        let longest = self.rung(trail.hash).map(|(longest, _)| longest);
        let walk = self.follow((from, trail.length, trail.hash), longest, usize::MAX);
        self.carried.push(walk.stop);
        if let Some(covered) = walk.covered.filter(|covered| *covered > from) {
            self.hidden = self.hidden.max(covered);
            let end = self.track.origin(covered - 1) + 1;
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

    /// Goes along the bytes from `at` on while they may be those of a form that has the hash at
    /// this length, up to the longest such form, and not beyond `most` if that is sure.
    ///
    /// The first sure rung gives the label, as nothing is shown before it; else the last end.
    fn follow(
        &self,
        (mut at, mut length, mut hash): (usize, usize, Hash),
        mut longest: Option<usize>,
        most: usize,
    ) -> Walk {
        let bytes = self.track.bytes();
        let mut walk = Walk::default();
        while let Some(longer) = longest.filter(|_| length < most) {
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
                walk.open = (!self.stretch.is_last).then_some((at, length, hash));
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
        let (layer, rung) = found.reduce(|first, other| {
            if other.1.longest > first.1.longest { other } else { first }
        })?;
        Some((rung.longest as usize, layer.label(rung.owner)))
    }

    /// The label of the whole form that has this hash.
    fn end(&self, hash: Hash) -> Option<&Arc<str>> {
        self.nets.iter().find_map(|(layer, net)| Some(layer.label(net.end(hash)?.owner)))
    }
}
