//! Steps that describe a state: what is said about one waits for the look at it.

use opal_core::resource::Status;
use opal_core::view::visible;
use opal_vault::Shown;
use opal_vault::event::Started;
use opal_vault::verification::ShownDetails;

use super::{Head, State};
use crate::view::run::{Talk, words};
use crate::view::verify::bounded;

/// Lines of a difference that are shown where nobody asked for more.
const SHOWN_LINES: usize = 40;

/// A step that has started, and of which nothing has been said.
#[derive(Debug)]
pub(super) struct Unsaid {
    number: u64,
    head: Head,
}

impl State {
    /// Whether nothing is said before a look has found something.
    pub(super) fn holds_back(&mut self, step: &Started<'_>, head: &Head) -> bool {
        let is_resource = self.resources.contains(step.path);
        if is_resource {
            let unsaid = Unsaid { number: step.number, head: head.clone() };
            self.unsaid.insert(self.spot(step.path), unsaid);
        }
        is_resource
    }

    /// It ended before anybody could look.
    pub(super) fn say_unsaid(&mut self, path: &str) {
        if let Some(Unsaid { number, head }) = self.unsaid.remove(&self.spot(path)) {
            self.in_sight = None;
            self.start_line(number, path, &head);
        }
    }

    /// What is as described is one quiet line; of the rest it is said what is not.
    pub(super) fn verified(
        &mut self,
        path: &str,
        status: Status,
        message: &Shown<'_>,
        details: Option<&ShownDetails>,
    ) {
        let message = visible::line(&message.text());
        let found = |state: &Self| {
            let label = state.ink.warning(status.name());
            format!("{}  {label}: {message}", state.prefix(path))
        };
        let Some(Unsaid { number, head }) = self.unsaid.remove(&self.spot(path)) else {
            // Behind the action or at the end of the run: what is not as described is a failure, which
            // says so.
            let line = found(self);
            return self.verbose(|ink| format!("{line} {}", ink.path(path)));
        };
        self.in_sight = None;
        if status == Status::Satisfied {
            return self.quiet_line(path, &head, &message);
        }
        self.start_line(number, path, &head);
        let line = found(self);
        match status {
            Status::Missing | Status::Drifted => self.usual(|_| line),
            Status::Unknown => self.verbose(|_| line),
            // The failure that follows says it.
            Status::Blocked | Status::Satisfied => {}
        }
        if let Some(details) = details.filter(|_| self.style.talk > Talk::Quiet) {
            let most = if self.style.talk == Talk::Verbose { usize::MAX } else { SHOWN_LINES };
            let margin = format!("{}  ", self.prefix(path));
            let text = bounded(details, self.ink.colour, most, &margin);
            self.say(text.trim_end_matches('\n'));
        }
    }

    fn quiet_line(&mut self, path: &str, head: &Head, message: &str) {
        let (head, prefix) = (&head.whole(), self.prefix(path));
        const END: &str = ": satisfied";
        let columns = self
            .screen
            .columns()
            .map_or(usize::MAX, |it| it.saturating_sub(2 + END.len() + words::columns(&prefix)));
        let line = match self.style.talk {
            Talk::Verbose => format!("= {head}{END}, {message} {path}"),
            _ => format!("= {}{END}", words::cut(head, columns)),
        };
        self.usual(|ink| format!("{prefix}{}", ink.faint(&line)));
    }
}
