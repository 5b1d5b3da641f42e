//! Targets: where steps run, how far a fleet has come, and how each target ended.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use opal_core::view::visible;
use opal_vault::event::{Event, Started};
use opal_vault::targets::TargetRow;
use opal_vault::witness::Progress;

use super::State;
use super::alike::heading;
use crate::view::targets;

impl State {
    /// Says where the steps that follow run, where it is another machine than before. Lines of branches
    /// have the name themselves.
    pub(super) fn name_site(&mut self, step: &Started<'_>, event: &Event<'_>) {
        let site = match &event.alike {
            Some(alike) => Some(heading(&alike.names).into()),
            None => event.target.clone(),
        };
        let is_named = step.branch.is_some() && event.alike.is_none();
        if step.is_block || is_named || self.site == site {
            return;
        }
        self.site = site;
        self.release();
        self.in_sight = None;
        if let Some(news) = self.news.take() {
            self.usual(|_| visible::line(&news));
        }
        let prefix = step.branch.as_ref().map(|branch| self.prefix_of(branch)).unwrap_or_default();
        let place = self.site.as_deref().map_or_else(|| "this machine".to_owned(), visible::line);
        self.usual(|ink| format!("{prefix}{}", ink.mark(&format!("{place}:"))));
    }

    pub(super) fn targets(&mut self, rows: &[TargetRow]) {
        self.release();
        // The table says it all.
        self.news = None;
        let table = targets::table(rows, self.ink);
        self.say(&table);
        if let Some(reasons) = targets::reasons(rows, self.ink) {
            self.say(&reasons);
        }
    }

    /// A step sends files.
    pub(in crate::view::run) fn sends(&mut self, path: &str, sent: &Arc<AtomicU64>) {
        self.waits.sends(path, sent, Instant::now());
    }

    /// How far branches have come, where nobody sees it being drawn.
    pub(in crate::view::run) fn progress(&mut self, progress: &Progress<'_>) {
        let news = self.waits.progress(progress);
        // Side by side, one sees how far they are.
        let is_told = self.style.counts_branches
            && !self.screen.is_terminal()
            && !self.is_prefixed
            && !self.screen.is_unread();
        match news.filter(|_| is_told) {
            // What a target prints stays together.
            Some(news) if progress.is_fleet && self.site.is_some() => self.news = Some(news),
            Some(news) => self.usual(|_| visible::line(&news)),
            None => {}
        }
    }
}
