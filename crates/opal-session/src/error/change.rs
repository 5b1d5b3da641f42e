use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use opal_core::files::EntryKind;
use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::{Trouble, TroubleKind};
use rustix::io::Errno;

use super::Said;

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
    /// A symbolic link on the way belongs to somebody who could lead it anywhere.
    ForeignLink {
        name: OsString,
        user: u32,
    },
    /// It has another name, in a directory that others may write to.
    SharedFile,
    /// Somebody else changed it meanwhile.
    Changed,
    /// It cannot have the owner and group that it should have.
    NotGivenAway,
}

/// What to do where something else is at a path: it depends on what was to happen there.
#[derive(Debug)]
pub(crate) enum WayOut {
    AnotherPath,
    /// What a link leads to.
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
            Self::AnotherPath => "name another path, or make room there".into(),
            Self::Target(to) => message!("name what it leads to: `", to.as_path(), "`"),
            Self::LinkedFile(Some(to)) => {
                message!("name the file it leads to: `", to.as_path(), "`")
            }
            Self::LinkedFile(None) => "name the file it leads to".into(),
            Self::File => "name a file".into(),
            Self::FileWithin => "name a file in it".into(),
            Self::Directory => "name a directory".into(),
            Self::Force => "say `force=true` to replace it, or move it away".into(),
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
                cannot("it names nothing within a directory".into()),
                "name it by its own name, and not with `..` or `/` at the end",
            ),
            Obstacle::Mounted => (
                Denied,
                cannot("a file system is mounted there".into()),
                "see `findmnt`, and unmount it first",
            ),
            Obstacle::TooDeep { most } => (
                TooLarge,
                cannot(message!("it is more than ", most, " directories deep")),
                "see what is in there, and remove it by hand",
            ),
            Obstacle::ForeignLink { name, user } => (
                Denied,
                cannot(message!(
                    "`",
                    Path::new(name),
                    "` on the way is a symbolic link of user ",
                    user,
                    ", who could lead it anywhere"
                )),
                "name the path without the link, or let root own the link (`chown -h`)",
            ),
            Obstacle::SharedFile => (
                Denied,
                cannot(
                    "it has another name elsewhere, in a directory that others may write to".into(),
                ),
                "make it a file of its own: copy it, and put the copy in its place",
            ),
            Obstacle::Changed => (
                Failed,
                message!("`", path, "` was changed by somebody else meanwhile"),
                "see who else writes there, and run again",
            ),
            Obstacle::NotGivenAway => (
                Denied,
                message!("`", path, "` cannot belong to its owner and group: permission denied"),
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
            message!("`", path, "` cannot be ", done, ": there is no directory `", above, "`"),
            message!("make it first, for example with `@file.directory(\"", above, "\")`"),
        )
    }
}

fn system(error: Errno) -> (TroubleKind, Message, &'static str) {
    use TroubleKind::{Denied, Failed, Invalid, TooLarge};
    let (kind, why, help) = match error {
        Errno::ACCESS | Errno::PERM => (
            Denied,
            "permission denied",
            "see who may write there with `ls -ld`, or run as one who may",
        ),
        Errno::ROFS => (
            Denied,
            "its file system is read-only",
            "mount it for writing, or choose another place",
        ),
        Errno::NOSPC => (TooLarge, "the disk is full", "free some space, and run again"),
        Errno::DQUOT => (TooLarge, "the quota is used up", "free some space, and run again"),
        Errno::FBIG => (TooLarge, "it is too large", "see `ulimit -f`"),
        Errno::NAMETOOLONG => (Invalid, "a name in it is too long", "choose a shorter one"),
        Errno::INVAL => (Invalid, "the name is invalid", "choose another name"),
        Errno::NOTDIR => (
            Invalid,
            "a part of its path is not a directory",
            "correct the path, or make room for the directory",
        ),
        Errno::LOOP | Errno::EXIST | Errno::ISDIR => (
            Failed,
            "something else was put there at the same moment",
            "see who else writes there, and run again",
        ),
        Errno::NOTEMPTY => (
            Invalid,
            "it is a directory that is not empty",
            "say `recursive=true` to remove it with all that is in it",
        ),
        Errno::BUSY => (
            Failed,
            "it is in use, or a file system is mounted there",
            "see `findmnt`, and unmount it first",
        ),
        other => {
            let why: ErrorKind = std::io::Error::from(other).kind();
            return (Failed, message!(why), "see whether the disk is in order");
        }
    };
    (kind, why.into(), help)
}
