//! Failures while a run goes on: said when something deals with them, or when something else runs.
//!
//! The failure that ends a run is left to the report at its end, which says all there is to know.

use std::sync::Arc;
use std::time::Duration;

use opal_core::view::visible;
use opal_vault::event::Finished;

use super::State;
use crate::view::run::words;

/// A failure that has not been said.
#[derive(Debug)]
pub(super) struct Held {
    /// Of the step that the report names for it.
    pub(super) number: u64,
    path: Box<str>,
    code: i32,
    /// What opal itself has to say about it.
    message: Option<String>,
    /// `deploy.opl:12`.
    place: Option<String>,
    /// Of its branch.
    prefix: String,
    /// The target that it is of. The report at the end may only count such a failure.
    target: Option<Arc<str>>,
}

/// What a line says of a failure: a `catch` has it, or nobody yet.
#[derive(Clone, Copy, Debug)]
enum Label {
    Caught,
    Failed,
}

impl Held {
    pub(super) fn new(
        step: &Finished<'_>,
        place: Option<&str>,
        prefix: String,
        target: Option<Arc<str>>,
    ) -> Self {
        Self {
            number: step.late.as_ref().and_then(|late| late.number).unwrap_or(step.number),
            path: step.path.into(),
            code: step.code,
            message: step.message.as_ref().map(|message| {
                visible::lines(&message.text()).replace('\n', &format!("\n{prefix}    "))
            }),
            place: place.map(visible::line),
            prefix,
            target,
        }
    }

    fn again(path: &str, code: i32, place: Option<&str>, prefix: String) -> Self {
        let place = place.map(visible::line);
        let (path, message) = (path.into(), None);
        Self { number: 0, path, code, message, place, prefix, target: None }
    }

    /// ` (deploy.opl:12)`.
    fn place(&self) -> String {
        self.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default()
    }
}

/// One try of several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// From 1.
    pub(super) number: u32,
    pub(super) of: u32,
}

impl State {
    /// A `catch`, or what comes after `||`, deals with a failure.
    pub(super) fn caught(&mut self, path: &str, code: i32, place: Option<&str>) {
        match self.held.take_if(|held| held.target == self.at && &*held.path == path) {
            Some(held) => self.say_failure(&held, Label::Caught),
            // It has been said that it failed, or was caught before and thrown again.
            None => {
                self.release();
                let prefix = self.branch_prefix(path);
                let held = Held::again(path, code, place, prefix);
                self.say_failure(&held, Label::Caught);
            }
        }
    }

    /// Something goes on after a failure, whatever becomes of it.
    pub(super) fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.say_failure(&held, Label::Failed);
        }
    }

    fn say_failure(&mut self, held: &Held, label: Label) {
        self.in_sight = None;
        let (code, place, prefix) = (held.code, held.place(), &held.prefix);
        self.usual(|ink| {
            let (label, said) = match label {
                Label::Caught => (ink.warning("caught"), held.message.clone()),
                Label::Failed if held.target.is_some() => {
                    (ink.error("failed"), held.message.clone())
                }
                // The report at the end says more.
                Label::Failed => (ink.error("failed"), None),
            };
            let said = said.unwrap_or_else(|| words::short_ending(code));
            format!("{prefix}{label}: {said}{place}")
        });
    }

    pub(super) fn retrying(&mut self, path: &str, attempt: Attempt, code: i32, pause: Duration) {
        let again = match pause {
            Duration::ZERO => "; retrying at once".to_owned(),
            pause => format!("; retrying in {}", words::pause(pause)),
        };
        self.attempts.insert(self.spot(path), attempt);
        let held = self.held.take_if(|held| held.target == self.at && is_inside(path, &held.path));
        let prefix = self.prefix(path);
        self.say_attempt(&prefix, attempt, code, held.as_ref(), &again);
    }

    /// The last attempt of a `@retry` has failed too.
    pub(super) fn last_attempt(&mut self, step: &Finished<'_>, prefix: &str) {
        if let Some(Attempt { number: before, of }) = self.attempts.remove(&self.spot(step.path))
            && !step.end.is_good()
            && before + 1 == of
        {
            let held = self
                .held
                .take_if(|held| held.target == self.at && is_inside(step.path, &held.path));
            self.say_attempt(prefix, Attempt { number: of, of }, step.code, held.as_ref(), "");
            // The report at the end, or a `catch`, has more to say about it.
            self.held = held.or(self.held.take());
        }
    }

    fn say_attempt(
        &mut self,
        prefix: &str,
        Attempt { number, of }: Attempt,
        code: i32,
        held: Option<&Held>,
        again: &str,
    ) {
        self.in_sight = None;
        let place = held.map(Held::place).unwrap_or_default();
        let said = held.and_then(|held| held.message.as_ref());
        let said = said.map_or_else(|| format!(" {}", words::ending(code)), |it| format!(": {it}"));
        self.usual(|_| format!("{prefix}attempt {number} of {of}{said}{place}{again}"));
    }
}

/// Whether a step is in the block at `around`.
fn is_inside(around: &str, path: &str) -> bool {
    path.strip_prefix(around).is_some_and(|rest| rest.starts_with('.'))
}
