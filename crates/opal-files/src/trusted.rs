//! Whether nobody but this user and root can have written a file.
//!
//! The group that belongs to a user alone, as most distributions make one for each, counts as the
//! user: a umask of 002 lets it write, and nobody else is in it.

use std::fs::{self, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

use crate::beneath::Opened;
pub use crate::error::Untrusted;

/// Holds where `path` and its directory belong to this user or root and nobody else may write to
/// them; where it is a link, also what it leads to and the directory of that.
pub fn check(path: &Path) -> Result<(), Untrusted> {
    let unknown = |error| Untrusted::Unknown(path.to_owned(), error);
    let link = path.symlink_metadata().map_err(unknown)?;
    if link.is_symlink() {
        owned(path, &link)?;
        alone(directory(path))?;
        let target = path.canonicalize().map_err(unknown)?;
        alone(&target)?;
        return alone(directory(&target));
    }
    alone(path)?;
    alone(directory(path))
}

/// The same for what is held open, and not for the directory that it is in.
pub fn check_held(path: &Path, held: impl AsFd) -> Result<(), Untrusted> {
    let found = rustix::fs::fstat(held);
    let found = found.map_err(|error| Untrusted::Unknown(path.to_owned(), error.into()))?;
    Trust::STRICT.accepts(path, found.st_uid, found.st_gid, found.st_mode, 0)
}

/// Who may have written the files that a source names, such as those it imports.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Beside this user and root.
    owner: Option<u32>,
    /// The permissions of others that are accepted, for files and for directories.
    loose: [u32; 2],
}

/// The permissions of others to write.
const BY_OTHERS: u32 = 0o022;

impl Trust {
    /// Only this user and root.
    pub const STRICT: Self = Self { owner: None, loose: [0, 0] };

    /// Whoever may have written `source` itself, which somebody has chosen: by its name, or by going
    /// to its directory.
    #[must_use]
    pub fn like(source: &Path) -> Self {
        let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.mode() & BY_OTHERS);
        let owner = fs::metadata(source).ok().map(|found| found.uid());
        Self { owner, loose: [mode(source), mode(directory(source))] }
    }

    /// Whether an opened file and its directory, at `path`, may be used.
    pub fn check(&self, path: &Path, opened: &Opened) -> Result<(), Untrusted> {
        let unknown = |error: io::Error| Untrusted::Unknown(path.to_owned(), error);
        let file = opened.file.metadata().map_err(unknown)?;
        self.accepts(path, file.uid(), file.gid(), file.mode(), self.loose[0])?;
        let folder = rustix::fs::fstat(&opened.directory).map_err(|it| unknown(it.into()))?;
        let above = directory(path);
        self.accepts(above, folder.st_uid, folder.st_gid, folder.st_mode, self.loose[1])
    }

    fn accepts(
        &self,
        path: &Path,
        uid: u32,
        gid: u32,
        mode: u32,
        loose: u32,
    ) -> Result<(), Untrusted> {
        if uid != 0 && uid != geteuid().as_raw() && Some(uid) != self.owner {
            return Err(Untrusted::Foreign(path.to_owned(), uid));
        }
        writable_by(path, gid, mode, loose)
    }
}

/// Refuses what others than its owner and `loose` may write to.
fn writable_by(path: &Path, gid: u32, mode: u32, loose: u32) -> Result<(), Untrusted> {
    let excess = mode & BY_OTHERS & !loose;
    let by_group = excess & 0o020 != 0 && !is_private(gid, &Accounts::read());
    match by_group || excess & 0o002 != 0 {
        true => Err(Untrusted::Writable(path.to_owned(), mode & 0o7777)),
        false => Ok(()),
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Only this user and root may write to it.
fn alone(path: &Path) -> Result<(), Untrusted> {
    let found = fs::metadata(path).map_err(|error| Untrusted::Unknown(path.to_owned(), error))?;
    owned(path, &found)?;
    writable_by(path, found.gid(), found.mode(), 0)
}

fn owned(path: &Path, found: &Metadata) -> Result<(), Untrusted> {
    match found.uid() {
        owner if owner == 0 || owner == geteuid().as_raw() => Ok(()),
        owner => Err(Untrusted::Foreign(path.to_owned(), owner)),
    }
}

/// The accounts of this machine, as far as files tell.
struct Accounts {
    passwd: String,
    group: String,
}

impl Accounts {
    fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self { passwd: text("/etc/passwd"), group: text("/etc/group") }
    }

    /// Name, id and first group of every account.
    fn users(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.passwd.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            Some((*fields.first()?, fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
        })
    }

    /// Name and members of a group.
    fn group(&self, gid: u32) -> Option<(&str, Vec<&str>)> {
        self.group.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let is_it = fields.get(2)?.parse() == Ok(gid);
            let members = fields.get(3)?.split(',').filter(|member| !member.is_empty());
            is_it.then(|| (fields[0], members.collect()))
        })
    }
}

/// Whether a group has the name of this user or of root, and nobody else in it. One that no file
/// lists is such a group where it has the user's own number, as directory services give it.
fn is_private(gid: u32, accounts: &Accounts) -> bool {
    let trusted = |uid: u32| uid == 0 || uid == geteuid().as_raw();
    let names: Vec<&str> =
        accounts.users().filter(|user| trusted(user.1)).map(|user| user.0).collect();
    let Some((name, members)) = accounts.group(gid) else { return gid == geteuid().as_raw() };
    names.contains(&name)
        && members.iter().all(|member| names.contains(member))
        && accounts.users().all(|(_, uid, first)| first != gid || trusted(uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_group_of_one_user_counts_as_the_user() {
        let own = geteuid().as_raw();
        let passwd = |more: &str| {
            format!("root:x:0:0::/:/bin/sh\nme:x:{own}:4000::/:/bin/sh\neve:x:77:77:::\n{more}")
        };
        let table = [
            ("me:x:4000:\n", "", true),
            ("me:x:4000:me\n", "", true),
            ("me:x:4000:me,root\n", "", true),
            ("me:x:4000:eve\n", "", false),
            ("me:x:4000:\n", "bob:x:78:4000:::\n", false),
            ("staff:x:4000:\n", "", false),
            ("", "", false),
        ];
        for (group, more, is) in table {
            let accounts = Accounts { passwd: passwd(more), group: group.into() };
            assert_eq!(is_private(4000, &accounts), is, "{group:?} {more:?}");
        }
        assert!(is_private(own, &Accounts { passwd: passwd(""), group: String::new() }));
    }
}
