//! From a command to people: raw bytes in, scrubbed ones to the record and the screen.

use std::sync::Arc;

use opal_core::stream::{Closed, Stream};
use opal_vault::Shown;

use super::context::Context;
use super::run::Walk;
use super::screen::Screen;
use opal_session::Taker;
use opal_vault::Scrubber;

/// Both streams of one step, on their way to be seen.
pub(super) struct Show<'p> {
    walk: &'p Walk<'p>,
    screen: Arc<Screen<'p>>,
    number: u64,
    stdout: Scrubber,
    stderr: Scrubber,
}

impl<'p> Show<'p> {
    pub(super) fn new(walk: &'p Walk<'p>, here: &Context<'p>, number: u64) -> Self {
        let vault = here.vault(walk.job);
        let screen = Arc::clone(&here.screen);
        Self { walk, screen, number, stdout: vault.scrubber(), stderr: vault.scrubber() }
    }

    /// Shows what is held back only to see what follows. An error says that nobody sees the standard
    /// output any more.
    pub(super) fn finish(&mut self) -> Result<(), Closed> {
        let Self { walk, screen, number, stdout, stderr } = self;
        let seen = tell(walk, screen, *number, Stream::Stdout, &stdout.finish());
        // Whether anybody sees the standard error is not for the step to know.
        let _ = tell(walk, screen, *number, Stream::Stderr, &stderr.finish());
        seen
    }

    /// Shows what may be shown while nothing comes.
    pub(super) fn pause(&mut self) -> Result<(), Closed> {
        let Self { walk, screen, number, stdout, stderr } = self;
        let seen = tell(walk, screen, *number, Stream::Stdout, &stdout.idle());
        let _ = tell(walk, screen, *number, Stream::Stderr, &stderr.idle());
        if walk.job.recorder.idle(*number).is_err() {
            walk.lose_record();
        }
        seen
    }
}

/// The record gets it first, and whether or not anybody watches.
fn tell(
    walk: &Walk<'_>,
    screen: &Screen<'_>,
    number: u64,
    stream: Stream,
    bytes: &Shown<'_>,
) -> Result<(), Closed> {
    if bytes.bytes().is_empty() {
        return Ok(());
    }
    if walk.job.recorder.output(number, stream, bytes).is_err() {
        walk.lose_record();
    }
    screen.output(number, stream, bytes)
}

impl Taker for Show<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        let scrubber = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        tell(self.walk, &self.screen, self.number, stream, &scrubber.push(bytes))
    }

    fn has_terminal(&mut self) {
        self.screen.has_terminal(self.number);
    }

    fn idle(&mut self) {
        // The next bytes say it again.
        let _ = self.pause();
    }
}

/// Wants nothing: of a command that only looks.
#[derive(Debug)]
pub(super) struct Drop;

impl Taker for Drop {
    fn take(&mut self, _: Stream, _: &[u8]) -> Result<(), Closed> {
        Ok(())
    }
}
