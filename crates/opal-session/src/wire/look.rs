//! Requests that only read. Opal's own code can write, rename and remove nothing with them; what the
//! programs do that resources and value decorators name is theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use opal_core::Secret;
use opal_core::resolver::ScriptPart;
use opal_core::tree::Part;

use super::codec::{choice, record};
use super::facts::Follow;
use super::reaching::Reaching;

#[derive(Clone, Debug)]
pub enum Look {
    /// A variable of the environment.
    Env {
        name: String,
    },
    /// A path as it is written, whole.
    Place {
        base: PathBuf,
        path: String,
    },
    /// A file as a source names it: its content is a stream.
    Open {
        base: PathBuf,
        path: String,
        window: u32,
    },
    /// A file at a whole path: its content is a stream.
    Read {
        path: PathBuf,
        links: Follow,
        window: u32,
    },
    Stat {
        path: PathBuf,
    },
    ReadLink {
        path: PathBuf,
    },
    List {
        path: PathBuf,
    },
    /// A command that only looks, to its end.
    Ask {
        asked: Asked,
    },
    /// What a command prints, as a value.
    Value {
        asked: Asked,
    },
    /// Whether the shell's parser accepts texts.
    Check {
        scripts: Vec<Vec<ScriptPart>>,
    },
    /// A directory that is there, whole.
    Directory {
        from: PathBuf,
        path: String,
    },
    /// Whether there is such a program.
    Finds {
        program: String,
    },
    /// Which shell steps get.
    Shell,
    /// A target inside this one, to be read. Its pipes are streams.
    Reach {
        reaching: Reaching,
    },
    /// The SHA-256 of a file at a whole path.
    Digest {
        path: PathBuf,
        links: Follow,
    },
    /// What is at some paths of a tree.
    Parts {
        root: PathBuf,
        parts: Vec<Part>,
    },
    /// A file, or a directory with all that is in it: the entries are a stream.
    Tree {
        path: PathBuf,
        entries: u32,
        bytes: u64,
        window: u32,
    },
}

choice!(Look, "reading request" {
    0 => Env { name },
    1 => Place { base, path },
    2 => Open { base, path, window },
    3 => Read { path, links, window },
    4 => Stat { path },
    5 => ReadLink { path },
    6 => List { path },
    7 => Ask { asked },
    8 => Value { asked },
    9 => Check { scripts },
    10 => Directory { from, path },
    11 => Finds { program },
    12 => Shell {},
    13 => Reach { reaching },
    14 => Digest { path, links },
    15 => Tree { path, entries, bytes, window },
    16 => Parts { root, parts },
});

/// A command that only looks, and what holds for it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub command: Command,
    pub interpreter: Option<String>,
    /// Where relative paths of resources begin.
    pub base: PathBuf,
    /// Where commands run, and what the command itself says on top of that.
    pub directory: PathBuf,
    pub inner: Option<String>,
    /// Of the place, and of the command itself.
    pub around: BTreeMap<String, Secret>,
    pub environment: BTreeMap<String, Secret>,
    pub drops_excess: bool,
}

record!(Asked { command, interpreter, base, directory, inner, around, environment, drops_excess });

/// What runs, see [`opal_core::resolver::Run`].
#[derive(Clone, Debug)]
pub enum Command {
    Script { parts: Vec<ScriptPart> },
    Program { words: Vec<String>, without: Vec<String> },
}

choice!(Command, "command" { 0 => Script { parts }, 1 => Program { words, without } });
