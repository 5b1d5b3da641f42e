//! What there is to hide in a stretch of output, and what of its end must wait for more.

use std::sync::Arc;

use super::forms::Forms;
use super::keep::{Hash, Kept};
use super::look::{Looking, is_cut};
use super::net::Net;
use super::view::{Loose, Track as _, View, Views};

/// So many characters of what may be a value are never shown, nor is half of a value.
pub(super) const TELLING: usize = 4;

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
    pub(super) kind: Kind,
    /// Where it goes on.
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) hash: Hash,
    pub(super) label: Arc<str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Loose,
}

/// A stretch of output, and what is known from before it.
pub(super) struct Stretch<'a> {
    pub(super) raw: &'a [u8],
    /// Nothing follows.
    pub(super) is_last: bool,
    /// All of it is inside of an escape sequence.
    pub(super) is_inside: bool,
    /// What was printed last before it.
    pub(super) before: Option<u8>,
    pub(super) trails: &'a [Trail],
}

pub(super) struct Findings {
    pub(super) regions: Vec<Region>,
    /// From here on the bytes may be the beginning of something to hide.
    pub(super) hold: usize,
    /// What may have been printed of a value from there on would tell something of it.
    pub(super) is_telling: bool,
    /// To be gone on with after `hold`.
    pub(super) trails: Vec<Trail>,
    /// What is printed last before `hold`.
    pub(super) before: Option<u8>,
    pub(super) followed: Vec<Followed>,
    /// Where an escape sequence begins whose end is not there yet.
    pub(super) unfinished: Option<usize>,
}

pub(super) struct Followed {
    /// Where it began in this stretch.
    pub(super) start: usize,
    /// As it was at the beginning, if that was before this stretch.
    pub(super) old: Option<Trail>,
    pub(super) new: Option<Trail>,
}

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

    pub(super) fn label(&self, owner: u32) -> &Arc<str> {
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
    let views = match stretch.is_inside {
        true => Views::inside(stretch.raw),
        false => Views::of(stretch.raw, stretch.is_last),
    };
    let length = stretch.raw.len();
    let mut findings = Findings {
        regions: Vec::new(),
        hold: length,
        is_telling: false,
        trails: Vec::new(),
        before: stretch.before,
        followed: Vec::new(),
        unfinished: views.unfinished,
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
    /// Holds back what begins at `from`, where so many characters may be those of a value.
    pub(super) fn wait(&mut self, from: usize, characters: usize) {
        self.hold = self.hold.min(from);
        self.is_telling |= characters >= TELLING;
    }

    /// What began after `hold` is found again with more output, so only the rest is carried on.
    fn settle(&mut self, text: &View<'_>, stretch: &Stretch<'_>) {
        let hold = self.hold;
        let carried =
            |followed: Followed| if followed.start < hold { followed.new } else { followed.old };
        self.trails = self.followed.drain(..).filter_map(carried).collect();
        let printed = text.index(hold).checked_sub(1).map(|last| text.bytes()[last]);
        self.before = match hold.checked_sub(1).map(|last| stretch.raw[last]) {
            Some(byte) if is_cut(byte) => Some(byte),
            _ => printed.or(stretch.before),
        };
    }
}
