//! How long each stage of the way from a source to its end took: for `--telemetry=timing`.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A stopwatch that is read at the end of every stage. Reading a clock is all it costs.
#[derive(Debug)]
pub(crate) struct Stages {
    last: RefCell<Instant>,
    took: RefCell<Vec<(&'static str, Duration)>>,
}

impl Stages {
    pub(crate) fn begin() -> Self {
        Self { last: RefCell::new(Instant::now()), took: RefCell::default() }
    }

    /// The stage called `name` ends here.
    pub(crate) fn end(&self, name: &'static str) {
        let now = Instant::now();
        let before = self.last.replace(now);
        self.took.borrow_mut().push((name, now.saturating_duration_since(before)));
    }

    /// The stages so far; one that came twice counts once.
    pub(crate) fn took(&self) -> Vec<(&'static str, Duration)> {
        let mut summed: Vec<(&'static str, Duration)> = Vec::new();
        for (name, took) in self.took.borrow().iter() {
            match summed.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += *took,
                None => summed.push((name, *took)),
            }
        }
        summed
    }
}
