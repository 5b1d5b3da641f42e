//! A control group for all that a helper of root starts. Who is in it is found, whatever the user, the
//! parent and the environment, also where the helper was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Its members, by their numbers; who is written here becomes one.
const MEMBERS: &str = "cgroup.procs";

/// What is written here ends all members at once. Linux has it since 5.14.
const KILL: &str = "cgroup.kill";

/// How long members may take to end that were killed.
const PATIENCE: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(5);

/// Groups inside it that are removed with it, and levels.
const MAX_INNER: usize = 1000;
const MAX_LEVELS: usize = 16;

/// The group of a helper, and that of whoever has started the helper.
pub(super) struct Group {
    path: PathBuf,
    around: PathBuf,
}

impl Group {
    /// A new one inside the group of this process; none where this is not root, or where control groups
    /// of version 2 cannot be made.
    pub(super) fn make() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let around = own()?;
        let path = around.join(format!("opal-{}", std::process::id()));
        // One that has this name is empty, or of another namespace of processes.
        let _ = fs::remove_dir(&path);
        fs::create_dir(&path).ok()?;
        let group = Self { path, around };
        if group.path.join(KILL).exists() {
            return Some(group);
        }
        let _ = fs::remove_dir(&group.path);
        None
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves this process into it, and with it all that it starts from now on.
    pub(super) fn enter(&self) -> io::Result<()> {
        fs::write(self.path.join(MEMBERS), "0")
    }

    /// Moves this process and what it leaves running back, and removes the group.
    pub(super) fn leave(&self) {
        let around = self.around.join(MEMBERS);
        let _ = fs::write(&around, "0");
        // What one of them starts while they are moved is moved in the next round.
        for _ in 0..MAX_LEVELS {
            let members = fs::read_to_string(self.path.join(MEMBERS)).unwrap_or_default();
            if members.is_empty() {
                break;
            }
            for member in members.lines() {
                // One that has ended cannot be moved.
                let _ = fs::write(&around, member);
            }
        }
        remove(&self.path, MAX_LEVELS);
    }
}

/// Ends all that a helper has left in its group, and removes the group.
pub(super) fn end(path: &Path) {
    if fs::write(path.join(KILL), "1").is_err() {
        return;
    }
    let mut waited = Duration::ZERO;
    while !remove(path, MAX_LEVELS) && waited < PATIENCE {
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

/// Whether it is gone, with the groups inside it.
fn remove(path: &Path, levels: usize) -> bool {
    let inner = fs::read_dir(path).into_iter().flatten().flatten();
    let inner = inner.filter(|it| levels > 0 && it.file_type().is_ok_and(|it| it.is_dir()));
    for group in inner.take(MAX_INNER) {
        remove(&group.path(), levels - 1);
    }
    match fs::remove_dir(path) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The directory of this process's own group.
fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    directory(&groups, &mounts)
}

/// By what the system says about the groups of a process and about what is mounted.
fn directory(groups: &str, mounts: &str) -> Option<PathBuf> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (fields, system) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, mounted) = (fields.next()?, fields.next()?);
        // Characters that would need an escape are in no name of such a place.
        if system.split(' ').next() != Some("cgroup2") || mounted.contains('\\') {
            return None;
        }
        // Outside of what is mounted, it is not seen.
        let inside = Path::new(own).strip_prefix(root).ok()?;
        let is_plain = inside.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        is_plain.then(|| Path::new(mounted).join(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_group_is_found_beneath_what_is_mounted() {
        let mount = |root: &str, kind: &str| {
            format!("31 23 0:27 {root} /sys/fs/cgroup rw,nosuid shared:9 - {kind} cgroup rw\n")
        };
        for (groups, mounts, expected) in [
            ("0::/\n", mount("/", "cgroup2"), Some("/sys/fs/cgroup")),
            (
                "1:cpu:/a\n0::/user.slice/x.scope\n",
                mount("/", "cgroup2"),
                Some("/sys/fs/cgroup/user.slice/x.scope"),
            ),
            ("0::/docker/1/in\n", mount("/docker/1", "cgroup2"), Some("/sys/fs/cgroup/in")),
            ("0::/docker/2\n", mount("/docker/1", "cgroup2"), None),
            ("0::/../other\n", mount("/", "cgroup2"), None),
            ("1:cpu:/a\n", mount("/", "cgroup2"), None),
            ("0::/\n", mount("/", "cgroup"), None),
            ("0::/\n", "nonsense\n".to_owned(), None),
        ] {
            let found = directory(groups, &mounts);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{groups}{mounts}");
        }
    }
}
