//! What the targets of a fleet reported, with equal outputs once.
//!
//! What a target reported is cut into sections, one for each step; a pipeline is one section. Two sections of
//! the same step are equal if the step was shown with the same text, printed the same bytes to each
//! stream, and ended in the same way. Only the first of equal sections keeps its output. So what is stored
//! grows with the number of different outputs, not with the number of targets.

mod digest;
mod log;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::Shown;
use crate::event::{Alike, Event, Kind};
use crate::hold::{CUT, Hold, Item};
use digest::Digests;
use log::Log;
use opal_core::stream::Stream;

/// What waits to be shown of a fleet.
#[derive(Debug)]
pub struct Fold<'p> {
    /// The place of each step in the plan; all steps of a pipeline have one place.
    places: BTreeMap<&'p str, usize>,
    /// By the target's place in the plan.
    members: BTreeMap<usize, VecDeque<Section<'p>>>,
    kept: Vec<Kept<'p>>,
    /// By place and digest: which of `kept`.
    known: BTreeMap<(usize, [u8; 32]), usize>,
    log: Log,
}

/// What a target reported about one step.
#[derive(Debug)]
struct Section<'p> {
    place: usize,
    kept: usize,
    target: Option<Arc<str>>,
    /// Empty where it is the one that was kept.
    events: Vec<Event<'p>>,
}

/// The first of equal sections.
#[derive(Debug)]
struct Kept<'p> {
    events: VecDeque<(u64, Event<'p>)>,
    from: u64,
    to: u64,
    /// The step that printed last, where some of its output could not be stored.
    cut: Option<u64>,
}

/// A section while it is read.
#[derive(Debug)]
struct Open<'p> {
    place: usize,
    target: Option<Arc<str>>,
    kept: Kept<'p>,
    digests: Digests<'p>,
}

impl<'p> Fold<'p> {
    #[must_use]
    pub fn new(places: BTreeMap<&'p str, usize>) -> Self {
        Self {
            places,
            members: BTreeMap::new(),
            kept: Vec::new(),
            known: BTreeMap::new(),
            log: Log::default(),
        }
    }

    /// Takes what a target reported. `index` is its place in the plan.
    pub fn add(&mut self, index: usize, hold: Hold<'p>) {
        let mut open: Option<Open<'p>> = None;
        hold.replay(|item| match item {
            Item::Event(event) => {
                if self.begins(open.as_ref(), &event) {
                    self.close(index, open.take());
                }
                let log = &self.log;
                let place = place(&self.places, &event.kind);
                let open = open.get_or_insert_with(|| Open::new(place, &event, log.end()));
                open.digests.event(&event.kind);
                open.kept.events.push_back((log.end(), event));
            }
            Item::Output(number, stream, bytes) => {
                let Some(open) = &mut open else { return };
                open.digests.output(number, stream, bytes.bytes());
                if open.kept.cut.is_none() && !self.log.push(number, stream, bytes.bytes()) {
                    open.kept.cut = Some(number);
                }
            }
        });
        self.close(index, open);
    }

    /// Whether a section begins with an event.
    fn begins(&self, open: Option<&Open<'p>>, event: &Event<'p>) -> bool {
        let Some(open) = open else { return true };
        match &event.kind {
            Kind::Started(started) => {
                open.place != place(&self.places, &event.kind) || open.digests.has(started.path)
            }
            Kind::Skipped { .. } => true,
            _ => false,
        }
    }

    fn close(&mut self, index: usize, open: Option<Open<'p>>) {
        let Some(Open { place, target, mut kept, digests }) = open else { return };
        kept.to = self.log.end();
        let key = (place, digests.finish());
        let section = match self.known.get(&key) {
            Some(&known) => {
                self.log.forget_from(kept.from);
                let events = kept.events.into_iter().map(|(_, event)| event).collect();
                Section { place, kept: known, target, events }
            }
            None => {
                self.known.insert(key, self.kept.len());
                self.kept.push(kept);
                Section { place, kept: self.kept.len() - 1, target, events: Vec::new() }
            }
        };
        self.members.entry(index).or_default().push_back(section);
    }

    /// Tells all of it, step by step in the order of the plan. Of equal sections, the events of all are
    /// reported, and the output once.
    pub fn replay(mut self, mut tell: impl FnMut(Item<'_, 'p>)) {
        while let Some(place) = self.next_place() {
            // The targets of each group, in the order of the plan.
            let mut groups: Vec<(usize, Vec<Section<'p>>)> = Vec::new();
            for sections in self.members.values_mut() {
                let Some(section) = sections.pop_front_if(|section| section.place == place) else {
                    continue;
                };
                match groups.iter_mut().find(|(kept, _)| *kept == section.kept) {
                    Some((_, group)) => group.push(section),
                    None => groups.push((section.kept, vec![section])),
                }
            }
            for (kept, group) in groups {
                let names: Arc<[Arc<str>]> =
                    group.iter().filter_map(|section| section.target.clone()).collect();
                self.tell_kept(kept, &names, &mut tell);
                let folded = group.into_iter().flat_map(|section| section.events);
                for event in folded {
                    let alike = Some(Alike { names: Arc::clone(&names), is_shown: false });
                    tell(Item::Event(Event { alike, ..event }));
                }
            }
        }
    }

    /// The first place in the plan that a target has something to tell about.
    fn next_place(&self) -> Option<usize> {
        self.members.values().filter_map(|it| it.front()).map(|section| section.place).min()
    }

    fn tell_kept(
        &mut self,
        kept: usize,
        names: &Arc<[Arc<str>]>,
        tell: &mut impl FnMut(Item<'_, 'p>),
    ) {
        let Some(kept) = self.kept.get_mut(kept) else { return };
        let alike = Some(Alike { names: Arc::clone(names), is_shown: true });
        let mut events = kept.events.clone();
        let mut printed = kept.cut;
        let mut reported = |item: Item<'_, 'p>| match item {
            Item::Event(event) => {
                // Said while the step is still at work in the eyes of those who watch.
                let ends = matches!(event.kind, Kind::Finished(_));
                if let Some(number) = printed.take_if(|_| ends) {
                    tell(Item::Output(number, Stream::Stderr, Shown::vouch(CUT)));
                }
                tell(Item::Event(Event { alike: alike.clone(), ..event }));
            }
            output @ Item::Output(..) => tell(output),
        };
        self.log.replay(kept.from, kept.to, &mut events, &mut reported);
        events.into_iter().for_each(|(_, event)| reported(Item::Event(event)));
    }
}

impl<'p> Open<'p> {
    fn new(place: usize, event: &Event<'p>, from: u64) -> Self {
        Self {
            place,
            target: event.target.clone(),
            kept: Kept { events: VecDeque::new(), from, to: from, cut: None },
            digests: Digests::default(),
        }
    }
}

/// Where the step of an event is in the plan.
fn place(places: &BTreeMap<&str, usize>, kind: &Kind<'_>) -> usize {
    kind.path().and_then(|path| places.get(path)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
