//! Symlinks that are followed with care: each part of a path is checked.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use opal_core::files::{Entry, EntryKind};
use opal_core::resolver::{Probe, Trouble, TroubleKind};

/// As many as the system follows.
const MAX_LINKS: usize = 40;

/// Where a whole path leads, without links and `..`; what is not there stays as it is written.
pub(super) fn resolved(path: &Path, probe: &dyn Probe) -> Result<PathBuf, Trouble> {
    follow(path, probe, |_, _| Ok(()))
}

/// The same, and shows all that is on the way, the path itself included.
pub(super) fn follow(
    path: &Path,
    probe: &dyn Probe,
    mut pass: impl FnMut(&Path, &Entry) -> Result<(), Trouble>,
) -> Result<PathBuf, Trouble> {
    let mut todo = parts(path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(part);
        let found = probe.stat(&next)?;
        found.as_ref().map_or(Ok(()), |found| pass(&next, found))?;
        if found.is_none_or(|found| found.kind != EntryKind::Link) {
            at = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` leads through more than {MAX_LINKS} symlinks", path.display()),
                "check where they lead, and name the target itself",
            ));
        }
        let to = probe.read_link(&next)?;
        if to.is_absolute() {
            at = PathBuf::from("/");
        }
        let mut first = parts(&to);
        first.append(&mut todo);
        todo = first;
    }
    Ok(at)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_testing::MemoryWorld;

    #[test]
    fn links_and_dots_are_gone_and_what_is_not_there_stays() {
        let world = MemoryWorld::default()
            .file("/real/sub/f", "x")
            .link("/way", "real")
            .link("/real/whole", "/way/sub")
            .link("/round", "/round");
        for (path, expected) in [
            ("/way/sub/f", "/real/sub/f"),
            ("/way/whole/../none/x", "/real/none/x"),
            ("/real/whole", "/real/sub"),
        ] {
            assert_eq!(resolved(Path::new(path), &world).unwrap(), Path::new(expected), "{path}");
        }
        assert!(resolved(Path::new("/round/x"), &world).is_err());
    }
}
