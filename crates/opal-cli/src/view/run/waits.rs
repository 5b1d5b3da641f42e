//! What is waited for: branches side by side, and pauses between attempts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use opal_vault::witness::Progress;

use super::words;

/// Branches that are named, of those that run.
const MAX_BRANCHES: usize = 4;

/// `@parallel`s that are shown, where some are inside of others.
const MAX_BLOCKS: usize = 2;

/// Steps whose sending is shown.
const MAX_SENDING: usize = 4;

/// What is sent in less time is not worth a line.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

const MEGABYTE: u64 = 1_000_000;

/// Told on a pipe for each `@parallel`, besides failures.
const MAX_TOLD: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Waits {
    /// By the path of the `@parallel`.
    branches: BTreeMap<String, Branches>,
    /// By the path of the `@retry`: when it is over.
    pauses: BTreeMap<String, Instant>,
    /// By the path of the step that sends files.
    sending: BTreeMap<String, Sending>,
}

#[derive(Debug)]
struct Sending {
    sent: Arc<AtomicU64>,
    since: Instant,
}

#[derive(Debug, Default)]
struct Branches {
    total: usize,
    /// Those that failed included.
    done: usize,
    failed: usize,
    running: Vec<(String, Instant)>,
    told: usize,
}

impl Waits {
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.pauses.is_empty() && self.sending.is_empty()
    }

    /// What is worth a line of its own where nothing can be drawn anew.
    pub(super) fn progress(&mut self, progress: &Progress<'_>) -> Option<String> {
        let branches = self.branches.entry(progress.path.to_owned()).or_default();
        let has_failed = progress.failed > branches.failed;
        branches.total = progress.total;
        branches.done = progress.done;
        branches.failed = progress.failed;
        let running = progress.running.iter().take(MAX_BRANCHES);
        branches.running =
            running.map(|branch| (words::head(&branch.text.text()), branch.since)).collect();
        let reached = progress.done * MAX_TOLD.min(progress.total) / progress.total.max(1);
        let is_news = has_failed || reached > branches.told;
        branches.told = reached;
        is_news.then(|| format!("{}: {}", progress.path, branches.counts()))
    }

    /// From now on so many bytes are sent.
    pub(super) fn sends(&mut self, path: &str, sent: &Arc<AtomicU64>, since: Instant) {
        self.sending.insert(path.to_owned(), Sending { sent: Arc::clone(sent), since });
    }

    pub(super) fn pause(&mut self, path: &str, until: Instant) {
        self.pauses.insert(path.to_owned(), until);
    }

    /// Something of `path` goes on, or it is over.
    pub(super) fn goes_on(&mut self, path: &str) {
        let is_in = |around: &str| {
            path.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.pauses.retain(|paused, _| !is_in(paused));
    }

    pub(super) fn finished(&mut self, path: &str) {
        self.branches.remove(path);
        self.sending.remove(path);
        self.goes_on(path);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is waited for at `now`. Branches that print side by side show themselves what they do.
    pub(super) fn lines(&self, now: Instant, is_prefixed: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for (path, branches) in self.branches.iter().take(MAX_BLOCKS) {
            lines.push(format!("{path}: {}", branches.counts()));
            let running = branches.running.iter().filter(|_| !is_prefixed);
            lines.extend(running.map(|(text, since)| {
                let time = words::seconds(now.saturating_duration_since(*since));
                format!("  {time:>6}  {text}")
            }));
        }
        let sent = self.sending.values().filter_map(|it| it.line(now));
        lines.extend(sent.take(MAX_SENDING));
        let left = |until: &Instant| until.saturating_duration_since(now);
        if let Some(left) = self.pauses.values().map(left).min().filter(|left| !left.is_zero()) {
            // The last second counts as one.
            let left = words::seconds(left + Duration::from_millis(999));
            lines.push(format!("next attempt in {left}"));
        }
        lines
    }
}

impl Sending {
    /// `sent 120 MB in 8s, 15 MB/s`; none for what is sent in a moment.
    fn line(&self, now: Instant) -> Option<String> {
        let took = now.saturating_duration_since(self.since);
        let megabytes = self.sent.load(Ordering::Relaxed) / MEGABYTE;
        if took < SHOWN_AFTER || megabytes == 0 {
            return None;
        }
        let speed = megabytes / took.as_secs().max(1);
        Some(format!("sent {megabytes} MB in {}, {speed} MB/s", words::seconds(took)))
    }
}

impl Branches {
    fn counts(&self) -> String {
        let mut text = format!("{} of {} ended", self.done, self.total);
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_shown_once_it_takes_time() {
        let (mut waits, start) = (Waits::default(), Instant::now());
        let sent = Arc::new(AtomicU64::new(0));
        waits.sends("task.file.copy[0]", &sent, start);
        assert!(!waits.is_empty());
        let at = |waits: &Waits, seconds| waits.lines(start + Duration::from_secs(seconds), false);
        assert_eq!(at(&waits, 9), Vec::<String>::new());
        sent.store(120_000_000, Ordering::Relaxed);
        assert_eq!(at(&waits, 0), Vec::<String>::new());
        assert_eq!(at(&waits, 8), ["sent 120 MB in 8s, 15 MB/s"]);
        waits.finished("task.file.copy[0]");
        assert!(waits.is_empty() && at(&waits, 9).is_empty());
    }
}
