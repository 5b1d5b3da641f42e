//! The plugin protocol: what opal and a helper that runs plugins say to each other, on a socket pair.
//!
//! ```text
//! opal  {"id":1,"call":"load","params":{…},"plugin":"acme/vault"}
//! opal  {"id":2,"call":"value.resolve","params":{…},"plugin":"acme/vault"}
//! host  {"id":9,"for":2,"call":"probe.fetch","params":{…}}   opal  {"id":9,"ok":{…}}
//! host  {"id":2,"ok":{…}} or {"id":2,"error":{…}}            opal, to stop  {"cancel":2}
//! ```
//!
//! Each line is one JSON object of at most 1 MiB. Text and bytes may be `{"$frame":N}` instead: N raw
//! bytes that follow the line, in the order of the line, at most 16 MiB together. Short bytes are
//! base64. Each side numbers its own calls. Replies come in any order.
//!
//! | what | where |
//! |---|---|
//! | lines: reading and writing them, with all limits | [`line`] |
//! | parameters and results, with their frames | [`body`] |
//! | what a decorator is called with, and what it gives | [`call`] |
//! | what a plugin asks opal to do | [`request`] |
//!
//! Nothing here reads or writes by itself: a [`line::Reader`] takes any reader. What is malformed is
//! an error that ends the connection, never a guess.

pub mod body;
pub mod call;
pub mod line;
pub mod request;

use std::fmt;

use crate::data::Secret;

pub use body::{Body, Frames, Shape};

/// One line, with its end.
pub const MAX_LINE: usize = 1 << 20;

/// All bytes that follow one line.
pub const MAX_FRAMES: usize = 16 << 20;

/// Calls of a plugin that may be open at a time.
pub const MAX_OPEN: usize = 256;

/// Bytes of open calls of a plugin.
pub const MAX_IN_FLIGHT: usize = 64 << 20;

/// Calls that a plugin may make to opal while it answers one.
pub const MAX_HOST_CALLS: u32 = 10_000;

/// What a plugin may print while it answers one call.
pub const MAX_LOG: usize = 64 << 10;

/// How long the code of a plugin may run in one call, without what opal does for it.
pub const CALL_SECS: u64 = 10;

/// Memory of one call, where the manifest says nothing, and the most that it may say.
pub const MEMORY_MIB: u32 = 64;
pub const MAX_MEMORY_MIB: u32 = 512;

/// One line and the bytes that follow it.
#[derive(Debug)]
pub enum Message {
    Call(Call),
    Reply(Reply),
    /// The call of this number is no longer wanted.
    Cancel(u64),
}

#[derive(Debug)]
pub struct Call {
    pub id: u64,
    /// The call of the other side that this one belongs to.
    pub parent: Option<u64>,
    pub plugin: Option<String>,
    pub call: String,
    pub params: Body,
}

#[derive(Debug)]
pub struct Reply {
    pub id: u64,
    pub result: Result<Body, Refusal>,
    /// What the plugin printed meanwhile.
    pub log: Option<Secret>,
}

/// Why a call has no result.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub kind: Kind,
    pub message: Secret,
    pub help: Vec<Secret>,
    /// What ended it, where it was not the plugin that said so.
    pub engine: Option<Ending>,
    /// What exists although the call failed, so that the record can name it.
    pub identity: Option<Secret>,
}

impl Refusal {
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: Secret::new(message), help: Vec::new(), engine: None, identity: None }
    }

    /// The engine ended the call.
    #[must_use]
    pub fn engine(ending: Ending, message: impl Into<String>) -> Self {
        let kind = if ending == Ending::Time { Kind::TimedOut } else { Kind::Failed };
        Self { engine: Some(ending), ..Self::new(kind, message) }
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(Secret::new(help));
        self
    }
}

/// An enum that is written as words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$case_doc])* $case,)* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$case,)*];

            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$case => $word,)* }
            }

            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.word() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The kinds of errors that plugins know.
    Kind {
        Missing = "missing",
        Denied = "denied",
        Failed = "failed",
        TimedOut = "timed-out",
        TooLarge = "too-large",
        NotText = "not-text",
        Invalid = "invalid",
    }
}

words! {
    /// How the engine ended a call.
    Ending {
        Trap = "trap",
        Memory = "memory",
        Time = "time",
        HostCalls = "host-calls",
        Volume = "volume",
        Cancelled = "cancelled",
        /// The component is not what its manifest says, or cannot be loaded.
        Load = "load",
    }
}

/// Why a connection ends: the other side does not keep to the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The line is longer than 1 MiB.
    LongLine,
    /// The bytes that follow a line are more than 16 MiB.
    LongFrames,
    NotUtf8,
    /// Not a JSON document, nested too deeply, or with a key twice.
    NotJson(String),
    /// A JSON document that is not a message.
    NotMessage(&'static str),
    /// The connection ended in the middle of a message.
    Cut,
    Io(std::io::ErrorKind),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongLine => write!(f, "a line is longer than {MAX_LINE} bytes"),
            Self::LongFrames => {
                write!(f, "the frames of a line are longer than {MAX_FRAMES} bytes")
            }
            Self::NotUtf8 => f.write_str("a line is not UTF-8"),
            Self::NotJson(reason) => write!(f, "a line is not JSON: {reason}"),
            Self::NotMessage(reason) => write!(f, "a line is not a message: {reason}"),
            Self::Cut => f.write_str("the connection ended in the middle of a message"),
            Self::Io(kind) => write!(f, "the connection failed: {kind}"),
        }
    }
}

impl std::error::Error for Malformed {}
