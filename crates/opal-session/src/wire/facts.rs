//! What is said about files, commands and shells, as bytes.

use std::path::PathBuf;

use opal_core::files::{Attributes, Entry, EntryKind, Existing};
use opal_core::resolver::Answer;
use opal_core::shell::Shell;
use opal_core::shell::syntax::Fault;
use opal_core::tree::{Found, Part};

use super::codec::{Decoder, Encoder, Malformed, Name, Wire, choice, record};
use crate::Ended;

record!(Entry { kind, mode, owner, group, bytes });
record!(Part { path, digest_up_to });
record!(Found { entry, digest, link });
record!(Attributes { mode, owner, group });
record!(Answer { code, stdout, stderr });
record!(Ended { code, directory, previous, is_reported });
choice!(EntryKind, "entry" { 0 => File {}, 1 => Directory {}, 2 => Link {}, 3 => Other {} });
choice!(Shell, "shell" { 0 => Bash {}, 1 => Sh {} });
choice!(Existing, "writing" { 0 => Replaced {}, 1 => Refused {} });

impl Wire for Fault {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.text);
        self.line.encode(to);
        self.message.encode(to);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (text, line) = (u32::decode(from)? as usize, u32::decode(from)?);
        Ok(Self { text, line, message: String::decode(from)? })
    }
}

/// The names of one directory: in order, so none is there twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<Name>);

impl Wire for Names {
    fn encode(&self, to: &mut Encoder) {
        self.0.encode(to);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let names: Vec<Name> = Vec::decode(from)?;
        match names.is_sorted_by(|one, next| one < next) {
            true => Ok(Self(names)),
            false => Err(Malformed("the names of a directory are not in order")),
        }
    }
}

/// Which links lead on, see [`opal_core::resolver::Links`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Follow {
    All,
    To { top: PathBuf },
}

choice!(Follow, "links" { 0 => All {}, 1 => To { top } });
