use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use opal_core::files::EntryKind;
use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::{Trouble, TroubleKind};
use rustix::io::Errno;

use super::said::Said;

/// A change of a file that did not happen.
#[derive(Debug)]
pub(crate) struct ChangeError {
    path: PathBuf,
    /// What was to happen, as in "cannot be written".
    done: &'static str,
    why: Obstacle,
}

#[derive(Debug)]
pub(crate) enum Obstacle {
    System(Errno),
    /// Something else is there.
    Occupied {
        by: EntryKind,
        way_out: WayOut,
    },
    /// The path ends in `..` or `/`.
    NoName,
    Mounted,
    TooDeep {
        most: usize,
    },
    /// A symlink in its path belongs to another user, who could redirect it.
    ForeignLink {
        name: OsString,
        user: u32,
    },
    /// It has another name, in a directory that others may write to.
    SharedFile,
    /// Someone else changed it meanwhile.
    Changed,
    /// It cannot have the owner and group that it should have.
    NotGivenAway,
}

/// What to do where something else is at a path: it depends on what was to happen there.
#[derive(Debug)]
pub(crate) enum WayOut {
    AnotherPath,
    /// The target of a symlink.
    Target(PathBuf),
    LinkedFile(Option<PathBuf>),
    File,
    FileWithin,
    Directory,
    Force,
}

impl WayOut {
    fn said(&self) -> Message {
        match self {
            Self::AnotherPath => "name another path, or move it away".into(),
            Self::Target(to) => message!("name its target: `", to.as_path(), "`"),
            Self::LinkedFile(Some(to)) => {
                message!("name its target: `", to.as_path(), "`")
            }
            Self::LinkedFile(None) => "name its target".into(),
            Self::File => "name a file".into(),
            Self::FileWithin => "name a file in it".into(),
            Self::Directory => "name a directory".into(),
            Self::Force => "set `force=true` to replace it, or move it away".into(),
        }
    }
}

/// A change that the system refuses.
pub(crate) fn refused(done: &'static str, path: &Path, error: Errno) -> Trouble {
    ChangeError::new(done, path, Obstacle::System(error)).into()
}

impl ChangeError {
    pub(crate) fn new(done: &'static str, path: &Path, why: Obstacle) -> Self {
        Self { path: path.to_owned(), done, why }
    }

    pub(super) fn said(&self) -> Said {
        use TroubleKind::{Denied, Failed, Invalid, TooLarge};
        let path = self.path.as_path();
        let cannot =
            |why: Message| message!("`", path, "` cannot be ", Words(self.done), ": ", why);
        let (kind, message, help) = match &self.why {
            Obstacle::System(Errno::NOENT) => return self.no_directory(),
            Obstacle::System(error) => {
                let (kind, why, help) = system(*error);
                (kind, cannot(why), help)
            }
            Obstacle::Occupied { by, way_out } => {
                return (Invalid, cannot(message!("it is ", Words(by.name()))), way_out.said());
            }
            Obstacle::NoName => (
                Invalid,
                cannot("it does not end in a name".into()),
                "write its name, without `..` or `/` at the end",
            ),
            Obstacle::Mounted => (
                Denied,
                cannot("a file system is mounted there".into()),
                "unmount it first; `findmnt` lists mounts",
            ),
            Obstacle::TooDeep { most } => (
                TooLarge,
                cannot(message!("it is more than ", most, " directories deep")),
                "check its content, and remove it yourself",
            ),
            Obstacle::ForeignLink { name, user } => (
                Denied,
                cannot(message!(
                    "`",
                    Path::new(name),
                    "` in its path is a symlink of user ",
                    user,
                    ", who could redirect it"
                )),
                "name the path without the symlink, or let root own the symlink (`chown -h`)",
            ),
            Obstacle::SharedFile => (
                Denied,
                cannot(
                    "it has another hard link, in a directory that other users can write to".into(),
                ),
                "replace it with a copy of itself",
            ),
            Obstacle::Changed => (
                Failed,
                message!("`", path, "` was changed by another process meanwhile"),
                "check which other process writes there, and run again",
            ),
            Obstacle::NotGivenAway => (
                Denied,
                message!("cannot set the owner and group of `", path, "`: permission denied"),
                "run as root, or as its owner and a member of its group",
            ),
        };
        (kind, message, help.into())
    }

    fn no_directory(&self) -> Said {
        let (path, above) = (self.path.as_path(), self.path.parent().unwrap_or(&self.path));
        let done = Words(self.done);
        (
            TroubleKind::Missing,
            message!(
                "`",
                path,
                "` cannot be ",
                done,
                ": the directory `",
                above,
                "` does not exist"
            ),
            message!("create it first, for example with `@file.directory(\"", above, "\")`"),
        )
    }
}

fn system(error: Errno) -> (TroubleKind, Message, &'static str) {
    use TroubleKind::{Denied, Failed, Invalid, TooLarge};
    let (kind, why, help) = match error {
        Errno::ACCESS | Errno::PERM => (
            Denied,
            "permission denied",
            "check its permissions with `ls -ld`, or run as another user",
        ),
        Errno::ROFS => {
            (Denied, "its file system is read-only", "mount it for writing, or choose another path")
        }
        Errno::NOSPC => (TooLarge, "the disk is full", "free some space, and run again"),
        Errno::DQUOT => (TooLarge, "the disk quota is exceeded", "free some space, and run again"),
        Errno::FBIG => (TooLarge, "it is too large", "see `ulimit -f`"),
        Errno::NAMETOOLONG => (Invalid, "a name in it is too long", "choose a shorter one"),
        Errno::INVAL => (Invalid, "the name is invalid", "choose another name"),
        Errno::NOTDIR => (
            Invalid,
            "a part of its path is not a directory",
            "fix the path, or move the file away",
        ),
        Errno::LOOP | Errno::EXIST | Errno::ISDIR => (
            Failed,
            "another process created it at the same moment",
            "check which other process writes there, and run again",
        ),
        Errno::NOTEMPTY => (
            Invalid,
            "it is a directory that is not empty",
            "set `recursive=true` to remove it with its content",
        ),
        Errno::BUSY => (
            Failed,
            "it is in use, or a file system is mounted there",
            "unmount it first; `findmnt` lists mounts",
        ),
        other => {
            let why: ErrorKind = std::io::Error::from(other).kind();
            return (Failed, message!(why), "check the disk");
        }
    };
    (kind, why.into(), help)
}
