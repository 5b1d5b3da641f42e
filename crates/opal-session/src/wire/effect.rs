//! Requests that change something. A helper that only reads cannot decode one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use opal_core::Secret;
use opal_core::action::Limits;
use opal_core::files::{Attributes, Existing};
use opal_core::journal::{JournalKey, Opening};
use opal_core::resolver::ScriptPart;

use super::codec::{Decoder, Encoder, Malformed, Wire, choice, record};
use super::reaching::Reaching;
use crate::{Face, Size};

/// A file that is being written, a text in a file, a directory or a journal that is held: the number of the
/// request that began it. 0 is the root directory.
pub type Handle = u32;

#[derive(Clone, Debug)]
pub enum Effect {
    /// A command of a step. Its output is two streams; its input, if any, is one.
    Run {
        work: Running,
    },
    /// A directory, created where it is missing.
    Directory {
        from: PathBuf,
        path: String,
    },
    /// A file that a step writes in one move. What is written is a stream.
    Replace {
        from: PathBuf,
        path: String,
        mode: Option<u32>,
        append: bool,
    },
    /// A file that a step reads: its content is a stream.
    Open {
        from: PathBuf,
        path: String,
        window: u32,
    },
    /// A file with a text that only this user can read.
    TextFile {
        text: Secret,
        extension: String,
    },
    /// A new directory that only this user can enter. It goes with all that is in it.
    Folder,
    /// A file of a resource. What is written is a stream.
    Write {
        within: Handle,
        path: PathBuf,
        attributes: Attributes,
        existing: Existing,
    },
    /// What is being written shall have what another file has besides mode and owner.
    Resemble {
        file: Handle,
        path: PathBuf,
    },
    /// What is being written takes its place.
    Keep {
        file: Handle,
    },
    /// What is held is let go of; what was not kept is gone.
    Release {
        handle: Handle,
    },
    MakeDirectory {
        within: Handle,
        path: PathBuf,
        attributes: Attributes,
    },
    MakeLink {
        within: Handle,
        path: PathBuf,
        to: PathBuf,
        replace: bool,
    },
    Set {
        within: Handle,
        path: PathBuf,
        attributes: Attributes,
    },
    Remove {
        within: Handle,
        path: PathBuf,
        recursive: bool,
    },
    /// Holds a directory.
    Within {
        within: Handle,
        path: PathBuf,
    },
    /// Ends what commands have left running.
    EndAll {
        grace: Duration,
    },
    /// After a loss: ends what the lost session has left, and waits until its helper is gone.
    TakeOver {
        patience: Duration,
    },
    /// A target inside this one. Its pipes are streams.
    Reach {
        reaching: Reaching,
    },
    /// The journal of an order on a target: its lock, and what is in it.
    Journal {
        opening: Opening,
    },
    /// A step is about to begin. The reply comes when the journal has it on the disk.
    Begun {
        journal: Handle,
        path: String,
    },
    /// A step has ended.
    Ended {
        journal: Handle,
        path: String,
        code: i32,
    },
    /// The terminal of a command has another size; the command is the request of this number.
    Resize {
        command: Handle,
        size: Size,
    },
}

choice!(Effect, "effect" {
    0 => Run { work },
    1 => Directory { from, path },
    2 => Replace { from, path, mode, append },
    3 => Open { from, path, window },
    4 => TextFile { text, extension },
    5 => Write { within, path, attributes, existing },
    6 => Resemble { file, path },
    7 => Keep { file },
    8 => Release { handle },
    9 => MakeDirectory { within, path, attributes },
    10 => MakeLink { within, path, to, replace },
    11 => Set { within, path, attributes },
    12 => Remove { within, path, recursive },
    13 => Within { within, path },
    14 => EndAll { grace },
    15 => Reach { reaching },
    16 => TakeOver { patience },
    17 => Folder {},
    18 => Resize { command, size },
    19 => Journal { opening },
    20 => Begun { journal, path },
    21 => Ended { journal, path, code },
});

record!(Opening { order, end, now, target, key, claim, patience });

/// It is in the memory of the helper, and in no file.
impl Wire for JournalKey {
    fn encode(&self, to: &mut Encoder) {
        to.raw(self.expose());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        from.array().map(Self::new)
    }
}

/// A command of a step, see [`crate::Work`].
#[derive(Clone, Debug)]
pub struct Running {
    pub script: Vec<ScriptPart>,
    pub interpreter: Option<String>,
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    pub previous: Option<PathBuf>,
    pub environment: BTreeMap<String, Secret>,
    pub limits: Limits,
    /// Whether there is a stream that it reads.
    pub has_input: bool,
    /// Of opal, where the stream is what is typed there.
    pub terminal: Option<Face>,
    /// Of standard output and standard error.
    pub windows: Windows,
}

record!(Running {
    script,
    interpreter,
    arguments,
    directory,
    previous,
    environment,
    limits,
    has_input,
    terminal,
    windows,
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    pub output: u32,
    pub error: u32,
}

record!(Windows { output, error });
record!(Size { rows, columns, width, height });

impl Wire for Face {
    fn encode(&self, to: &mut Encoder) {
        self.size.encode(to);
        to.raw(&self.keys);
        self.is_utf8.encode(to);
        self.kind.encode(to);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (size, keys) = (Size::decode(from)?, from.array()?);
        let (is_utf8, kind) = (bool::decode(from)?, Option::decode(from)?);
        let face = Self { size, keys, is_utf8, kind };
        if !face.is_valid() {
            return Err(Malformed("an invalid kind of terminal"));
        }
        Ok(face)
    }
}
