//! The line of a step that starts, and of a task whose steps follow.

use opal_core::view::visible;
use opal_vault::Shown;
use opal_vault::event::{NOT_SELECTED, Started, UNCHANGED};

use super::{Running, State, Tail};
use crate::view::ink::Ink;
use crate::view::run::{Talk, github, words};

/// A step's text for its line.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The first line that is a command.
    first: String,
    /// How many other lines there are.
    more: usize,
}

impl Head {
    pub(super) fn of(step: &Started<'_>) -> Self {
        let (first, more) = words::first_line(&step.text.text());
        Self { first, more }
    }

    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.first, words::lines_more(self.more))
    }
}

impl State {
    /// A step that does not run. Who selected others need not be told of each.
    pub(super) fn skipped(
        &mut self,
        path: &str,
        decorator: &str,
        why: Option<&Shown<'_>>,
        label: Option<&str>,
    ) {
        let why = why.map(|why| why.text().into_owned());
        let line = |ink: Ink| {
            let what = match label {
                Some(label) => visible::line(label),
                None => format!("{} {}", visible::line(decorator), ink.path(path)),
            };
            let why = why.as_deref().map(|why| format!(": {}", visible::line(why)));
            format!("{}: {what}{}", ink.label("skipped"), why.unwrap_or_default())
        };
        match why.as_deref() {
            None | Some(NOT_SELECTED | UNCHANGED) => self.verbose(line),
            Some(_) => self.usual(line),
        }
    }

    pub(super) fn started(&mut self, step: &Started<'_>, task: Option<&str>) {
        self.waits.goes_on(step.path);
        let lane = self.enter_branch(step);
        self.is_prefixed |= lane.is_some();
        let head = Head::of(step);
        if step.is_block && self.holds_back(step, &head) {
            self.release();
            if lane.is_none() {
                self.name_task(task);
            }
            return;
        }
        if step.is_block {
            let prefix = self.prefix(step.path);
            self.verbose(|ink| {
                format!("{prefix}{} {} {}", ink.mark("▾"), head.whole(), ink.path(step.path))
            });
            return;
        }
        self.release();
        if lane.is_none() {
            self.name_task(task);
        }
        let text = if self.style.timings { head.whole() } else { String::new() };
        if !self.holds_back(step, &head) && (!step.speaks || self.style.talk == Talk::Verbose) {
            self.in_sight = None;
            self.start_line(step.number, step.path, &head);
        }
        self.running.insert(step.number, Running { text, tail: Tail::default(), lane });
    }

    /// Says whose steps follow, where it is another task than before.
    fn name_task(&mut self, task: Option<&str>) {
        let Some(task) = task else { return };
        let is_other = self.task.as_deref().is_some_and(|before| before != task);
        self.task = Some(task.to_owned());
        if is_other && self.style.talk == Talk::Usual {
            self.in_sight = None;
            self.usual(|ink| ink.mark(&format!("{}:", visible::line(task))));
        }
    }

    pub(super) fn start_line(&mut self, number: u64, path: &str, head: &Head) {
        if self.style.talk == Talk::Quiet {
            return;
        }
        let with_path = self.style.talk == Talk::Verbose;
        let prefix = self.prefix(path);
        if self.style.github && self.group.is_none() && prefix.is_empty() {
            self.group = Some(number);
            let path = if with_path { format!(" ({path})") } else { String::new() };
            return self.say(&github::group(&format!("{}{path}", head.whole())));
        }
        let path = if with_path { format!(" {}", self.ink.path(path)) } else { String::new() };
        let more = words::lines_more(head.more);
        let columns = self.screen.columns().filter(|_| !with_path).map_or(usize::MAX, |columns| {
            columns.saturating_sub(2 + words::columns(&prefix) + words::columns(&more))
        });
        let first = self.ink.label(&words::cut(&head.first, columns));
        let more = if more.is_empty() { more } else { self.ink.faint(&more) };
        let line = format!("{prefix}{} {first}{more}{path}", self.ink.mark("▸"));
        self.say(&line);
    }
}
