//! Escape sequences that are too long to wait for.
//!
//! What may be the beginning of a value is held back, and a sequence after it with it, since the
//! value may go on after the sequence. Memory is bounded all the same: a sequence that goes on for
//! too long is shown before what is held back, as if it had been printed first. What is in it is
//! scrubbed like any text.

use super::scrubber::Scrubber;
use super::sequence::{self, Open};

/// So many bytes are held back for a sequence.
pub(super) const MOST: usize = 64 << 10;

const ESC: u8 = 0x1b;

pub(super) struct Aside {
    open: Open,
    scrubber: Scrubber,
    /// The byte before; an escape is held back until it is known whether it ends the sequence.
    before: Option<u8>,
}

/// What follows a sequence.
pub(super) struct Rest<'b> {
    /// An escape that was held back, and begins another one.
    pub(super) escape: &'static [u8],
    pub(super) bytes: &'b [u8],
}

impl Aside {
    pub(super) fn new(open: Open, scrubber: Scrubber) -> Self {
        Self { open, scrubber, before: None }
    }

    /// Shows what belongs to the sequence. Where it has ended, gives what follows it.
    pub(super) fn push<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> Option<Rest<'b>> {
        if self.before == Some(ESC) {
            let first = *bytes.first()?;
            self.close(out);
            return Some(match first {
                b'\\' => Rest { escape: b"", bytes: &bytes[1..] },
                _ => Rest { escape: &[ESC], bytes },
            });
        }
        let Some(at) = self.open.stops(self.before, bytes) else {
            self.before = bytes.last().copied().or(self.before);
            out.extend_from_slice(self.scrubber.push(bytes).bytes());
            return None;
        };
        let is_own = match self.open {
            Open::String => bytes[at] != ESC,
            Open::Control => matches!(bytes[at], 0x18 | 0x1a | 0x40..=0x7e),
        };
        let end = at + usize::from(is_own);
        out.extend_from_slice(self.scrubber.push(&bytes[..end]).bytes());
        let rest = &bytes[end..];
        match (self.open, rest) {
            _ if is_own => out.extend_from_slice(self.scrubber.finish().bytes()),
            (Open::String, [_]) => {
                self.before = Some(ESC);
                return None;
            }
            (Open::String, [_, b'\\', after @ ..]) => {
                self.close(out);
                return Some(Rest { escape: b"", bytes: after });
            }
            _ => self.close(out),
        }
        Some(Rest { escape: b"", bytes: rest })
    }

    pub(super) fn idle(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.scrubber.idle().bytes());
    }

    /// Nothing follows.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.scrubber.finish().bytes());
    }

    /// Ends it for whoever reads it, whatever comes next.
    fn close(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.scrubber.finish().bytes());
        out.extend_from_slice(sequence::closing(self.open));
    }
}
