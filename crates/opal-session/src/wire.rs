//! The wire to a target: what opal and the target helper say to each other, over one pair of pipes.
//!
//! ```text
//! opal                                            helper
//!            ◀── hello: version, build, user, machine
//! begin: marker of the run, where steps start ──▶
//! look 1, effect 2, look 3 … ──────────────────▶  in parallel, each with a number
//!            ◀── data, end, reply: in any order
//! window, close, stop, data, end ──────────────▶
//! ping, every few seconds ◀───────────────────▶   silence means that the other side is lost
//! bye ─────────────────────────────────────────▶  nothing is ended that was to stay
//! ```
//!
//! A frame is a length (`u32`, at most 1 MiB), a kind (`u8`), a stream (`u32`) and its payload,
//! little endian. A stream is the number of a request and one of four channels: the request and its
//! reply, standard output or the content of a file, standard error, and what is sent to the target.
//! A sender sends no more than it was granted, and says at the end how many bytes there were: what
//! was cut off is an error, never a shorter output.
//!
//! | what | where |
//! |---|---|
//! | numbers, texts and lists as bytes, with all limits | [`codec`] |
//! | frames: writing and reading them, silence | [`frame`], [`link`] |
//! | how much may be sent | [`credit`] |
//! | values, scripts and troubles | [`values`] |
//! | the first words of both sides | [`hello`] |
//! | requests that only read | [`look`] |
//! | requests that change something | [`effect`] |
//! | a target inside a target: both kinds | [`reaching`] |
//! | replies | [`reply`] |
//! | the helper's side | [`server`] |
//!
//! The client is `opal-remote`. Reading and changing are two types: who has only a [`look::Look`]
//! cannot express an effect, and a helper that is started to read cannot decode one.

pub mod codec;
pub mod credit;
pub mod effect;
pub mod facts;
pub mod frame;
pub mod hello;
pub mod link;
pub mod look;
pub mod reaching;
pub mod reply;
pub mod server;
pub mod trees;
pub mod values;

use std::time::Duration;

/// Of the protocol. Both sides have the same, and the same [`BUILD`].
pub const VERSION: u32 = 1;

/// Version and sources of what serves and asks: only the same build understands itself.
pub const BUILD: &str = env!("OPAL_BUILD");

/// The payload of one frame.
pub const MAX_FRAME: usize = 1024 * 1024;

/// One request or reply, of several frames.
pub const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Names in one reply.
pub const MAX_NAMES: usize = 200_000;

/// Levels of directories, and of values in values.
pub const MAX_DEPTH: usize = 64;

/// What one stream may have on its way.
pub const WINDOW: u32 = 1024 * 1024;

/// What a stream gets where many are open.
pub const LEAST_WINDOW: u32 = 16 * 1024;

/// What all streams of one target may have on their way.
pub const MAX_BUFFERS: u64 = 8 * 1024 * 1024;

/// What all streams of all targets may have on their way.
pub const MAX_ALL_BUFFERS: u64 = 1024 * 1024 * 1024;

/// Requests of one target at a time.
pub const MAX_REQUESTS: usize = 256;

/// Requests of one target that only read, at a time.
pub const MAX_LOOKS: usize = 32;

/// How the two sides keep in touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often each says that it is there.
    pub ping: Duration,
    /// After so much silence the other side is lost.
    pub lost: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { ping: Duration::from_secs(5), lost: Duration::from_secs(30) }
    }
}
