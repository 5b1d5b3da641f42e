//! What the audience sees.
//!
//! Each branch of a `@parallel` has a screen of its own. Grouped, the first branch in plan order that
//! has not ended is live: what it reports goes on to the screen around it, and from there to the
//! audience. What the others report is held until it is their turn. Prefixed, every branch is live,
//! and its steps carry its name. Folded, what every target reports is held until the fleet has ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use opal_core::plan::Step;
use opal_core::stream::{Closed, Stream};
use opal_vault::Shown;
use opal_vault::event::{Branch, Event};
use opal_vault::fold::Fold;
use opal_vault::hold::{Hold, Item};

use super::order;
use crate::threads::lock;
use opal_vault::witness::{Audience, Progress, Running};

/// The one audience, which gets one event at a time.
pub(super) struct Stalls<'p> {
    audience: &'p dyn Audience,
    turn: Mutex<()>,
}

pub(super) struct Screen<'p> {
    stalls: Arc<Stalls<'p>>,
    above: Option<Arc<Screen<'p>>>,
    /// The branch that it is of, and those beside it.
    branch: Option<(Arc<Watch<'p>>, usize)>,
    /// The prefix of its lines.
    label: Option<Branch>,
    /// None where it is live.
    held: Mutex<Option<Hold<'p>>>,
    /// It is of a target, or inside of one, whose fleet is shown folded.
    is_folded: bool,
    /// An event that arrived while others were shown could not be held.
    is_cut: AtomicBool,
}

impl<'p> Screen<'p> {
    pub(super) fn new(audience: &'p dyn Audience) -> Arc<Self> {
        let stalls = Arc::new(Stalls { audience, turn: Mutex::new(()) });
        Arc::new(Self {
            stalls,
            above: None,
            branch: None,
            label: None,
            held: Mutex::new(None),
            is_folded: false,
            is_cut: AtomicBool::new(false),
        })
    }

    pub(super) fn of_branch(
        self: &Arc<Self>,
        watch: Arc<Watch<'p>>,
        index: usize,
        is_live: bool,
        is_folded: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            label: watch.label(index).or_else(|| self.label.clone()),
            stalls: Arc::clone(&self.stalls),
            above: Some(Arc::clone(self)),
            branch: Some((watch, index)),
            held: Mutex::new((!is_live).then(Hold::default)),
            is_folded: is_folded || self.is_folded,
            is_cut: AtomicBool::new(false),
        })
    }

    /// What the lines of its steps begin with, where branches are shown in parallel.
    pub(super) fn label(&self) -> Option<Branch> {
        self.label.clone()
    }

    pub(super) fn is_folded(&self) -> bool {
        self.is_folded
    }

    pub(super) fn event(&self, event: &Event<'p>) {
        match &mut *lock(&self.held) {
            Some(hold) => hold.event(event.clone()),
            None => self.pass_event(event),
        }
    }

    /// Tells it at once, whichever branch is shown.
    pub(super) fn announce(&self, event: &Event<'p>) {
        let _turn = lock(&self.stalls.turn);
        self.stalls.audience.event(event);
    }

    pub(super) fn output(
        &self,
        number: u64,
        stream: Stream,
        bytes: &Shown<'_>,
    ) -> Result<(), Closed> {
        match &mut *lock(&self.held) {
            Some(hold) => hold.output(number, stream, bytes).inspect_err(|_| {
                self.is_cut.store(true, Ordering::SeqCst);
            }),
            None => self.pass_output(number, stream, bytes),
        }
    }

    /// A step on a target has opal's terminal. Of what is held none has: branches have no input.
    pub(super) fn has_terminal(&self, number: u64) {
        match &self.above {
            Some(above) => above.has_terminal(number),
            None => {
                let _turn = lock(&self.stalls.turn);
                self.stalls.audience.has_terminal(number);
            }
        }
    }

    /// Whether an event of this branch is lost.
    pub(super) fn is_cut(&self) -> bool {
        let is_cut = |above: &Arc<Self>| above.is_cut();
        self.is_cut.load(Ordering::SeqCst) || self.above.as_ref().is_some_and(is_cut)
    }

    /// A step that runs a command has started: every `@parallel` around it shows it.
    pub(super) fn at(&self, text: &Shown<'_>) {
        if let Some((watch, index)) = &self.branch {
            watch.at(*index, text);
        }
        if let Some(above) = &self.above {
            above.at(text);
        }
    }

    /// Only the outermost `@parallel` is watched: it tells of those inside by their steps.
    pub(super) fn progress(&self, progress: &Progress<'_>) {
        if self.branch.is_none() {
            let _turn = lock(&self.stalls.turn);
            self.stalls.audience.progress(progress);
        }
    }

    /// Its turn has come: what was held is passed on, and everything that follows goes on at once.
    pub(super) fn go_live(&self) {
        let mut held = lock(&self.held);
        let Some(hold) = held.take() else { return };
        // Whether anybody still reads, each step learns from its own writes.
        hold.replay(|item| match item {
            Item::Event(event) => self.pass_event(&event),
            Item::Output(number, stream, bytes) => {
                let _ = self.pass_output(number, stream, &bytes);
            }
        });
    }

    /// What it has held, where it was never live.
    fn take_held(&self) -> Option<Hold<'p>> {
        lock(&self.held).take()
    }

    fn pass_event(&self, event: &Event<'p>) {
        match &self.above {
            Some(above) => above.event(event),
            None => self.announce(event),
        }
    }

    fn pass_output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        match &self.above {
            Some(above) => above.output(number, stream, bytes),
            None => {
                let _turn = lock(&self.stalls.turn);
                self.stalls.audience.output(number, stream, bytes)
            }
        }
    }
}

/// The branches of one block, for those who watch.
pub(super) struct Watch<'p> {
    path: &'p str,
    total: usize,
    around: Arc<Screen<'p>>,
    /// Of each branch; empty where their output is grouped.
    labels: Vec<Branch>,
    is_fleet: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    done: usize,
    failed: usize,
    running: BTreeMap<usize, (Shown<'static>, Instant)>,
}

impl<'p> Watch<'p> {
    /// `labels` is empty where the output of branches is grouped.
    pub(super) fn new(
        path: &'p str,
        total: usize,
        around: &Arc<Screen<'p>>,
        labels: Vec<Branch>,
        is_fleet: bool,
    ) -> Arc<Self> {
        let around = Arc::clone(around);
        Arc::new(Self { path, total, around, labels, is_fleet, seen: Mutex::default() })
    }

    /// What the lines of a branch begin with.
    pub(super) fn label(&self, index: usize) -> Option<Branch> {
        self.labels.get(index).cloned()
    }

    /// The branch has come to a step.
    pub(super) fn at(&self, index: usize, text: &Shown<'_>) {
        let text = text.clone().into_owned();
        let mut seen = lock(&self.seen);
        seen.running.insert(index, (text, Instant::now()));
        self.tell(&seen);
    }

    pub(super) fn ended(&self, index: usize, is_failed: bool) {
        let mut seen = lock(&self.seen);
        seen.running.remove(&index);
        seen.done += 1;
        seen.failed += usize::from(is_failed);
        self.tell(&seen);
    }

    fn tell(&self, seen: &Seen) {
        let running = seen.running.values();
        let running = running.map(|(text, since)| Running { text: text.borrowed(), since: *since });
        let running: Vec<Running<'_>> = running.collect();
        let (done, failed) = (seen.done, seen.failed);
        let &Self { path, total, is_fleet, .. } = self;
        self.around.progress(&Progress { path, total, done, failed, is_fleet, running: &running });
    }
}

/// Which branch is shown, and what waits for its turn.
#[derive(Default)]
pub(super) struct Queue<'p> {
    front: usize,
    /// Of branches that have begun, until they have been shown.
    screens: BTreeMap<usize, (Arc<Screen<'p>>, bool)>,
    /// What targets have reported, where equal outputs are shown once.
    fold: Option<Fold<'p>>,
}

impl<'p> Queue<'p> {
    /// Of a fleet with this block, whose equal outputs are shown once.
    pub(super) fn folded(block: &'p [Step]) -> Self {
        Self { fold: Some(Fold::new(order::places(block))), ..Self::default() }
    }

    pub(super) fn begin(
        &mut self,
        index: usize,
        around: &Arc<Screen<'p>>,
        watch: &Arc<Watch<'p>>,
    ) -> Arc<Screen<'p>> {
        let is_folded = self.fold.is_some();
        let is_live = !is_folded && (index == self.front || !watch.labels.is_empty());
        let screen = around.of_branch(Arc::clone(watch), index, is_live, is_folded);
        self.screens.insert(index, (Arc::clone(&screen), false));
        screen
    }

    /// Shows what has waited for this branch, where it was the one in front.
    pub(super) fn end(&mut self, index: usize) {
        if let Some(fold) = &mut self.fold {
            let screen = self.screens.remove(&index).map(|(screen, _)| screen);
            if let Some(hold) = screen.and_then(|screen| screen.take_held()) {
                fold.add(index, hold);
            }
            return;
        }
        if let Some((_, has_ended)) = self.screens.get_mut(&index) {
            *has_ended = true;
        }
        while let Some((_, true)) = self.screens.get(&self.front) {
            self.screens.remove(&self.front);
            self.front += 1;
            if let Some((next, _)) = self.screens.get(&self.front) {
                next.go_live();
            }
        }
    }

    /// The fleet has ended: shows what was folded.
    pub(super) fn show(self, around: &Screen<'p>) {
        if let Some(fold) = self.fold {
            fold.replay(|item| match item {
                Item::Event(event) => around.event(&event),
                Item::Output(number, stream, bytes) => {
                    // The targets have ended: nobody is left who could be reported.
                    let _ = around.output(number, stream, &bytes);
                }
            });
        }
    }
}

impl fmt::Debug for Screen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("is_branch", &self.branch.is_some()).finish_non_exhaustive()
    }
}
