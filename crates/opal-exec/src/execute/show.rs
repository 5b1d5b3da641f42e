//! From a command to people: raw bytes in, scrubbed ones to the record and the screen.

use std::sync::Arc;

use opal_core::stream::{Closed, Stream};
use opal_vault::Shown;

use super::run::Walk;
use super::screen::Screen;
use opal_session::Taker;
use opal_vault::Scrubber;

/// Both streams of one step, on their way to be seen.
pub(super) struct Show<'p> {
    walk: &'p Walk<'p>,
    screen: Arc<Screen<'p>>,
    number: u64,
    stdout: Scrubber<'p>,
    stderr: Scrubber<'p>,
}

impl<'p> Show<'p> {
    pub(super) fn new(walk: &'p Walk<'p>, screen: &Arc<Screen<'p>>, number: u64) -> Self {
        let vault = walk.job.vault;
        let screen = Arc::clone(screen);
        Self { walk, screen, number, stdout: vault.scrubber(), stderr: vault.scrubber() }
    }

    /// Shows what is held back only to see what follows.
    pub(super) fn finish(&mut self) {
        let _ = tell(self.walk, &self.screen, self.number, Stream::Stdout, &self.stdout.finish());
        let _ = tell(self.walk, &self.screen, self.number, Stream::Stderr, &self.stderr.finish());
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

    fn idle(&mut self) {
        let _ = tell(self.walk, &self.screen, self.number, Stream::Stdout, &self.stdout.idle());
        let _ = tell(self.walk, &self.screen, self.number, Stream::Stderr, &self.stderr.idle());
        if self.walk.job.recorder.idle(self.number).is_err() {
            self.walk.lose_record();
        }
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
