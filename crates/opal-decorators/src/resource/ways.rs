//! Whether a program may be let loose at a path.
//!
//! What opal writes itself it writes into directories that it holds, whatever is put in the way. A
//! program goes by the path alone: where another user can swap a directory on the way for a link,
//! that user would choose where it writes.

use std::path::Path;

use opal_core::files::{Entry, EntryKind};
use opal_core::resolver::{Ask, Probe, Trouble, TroubleKind};

use super::links;

/// For everybody to write to, and only for owners to rename in. A group is trusted: a user's own
/// directories are usually open to a group that has no other member.
const OPEN: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Fails where a user other than root and the acting user can redirect the path.
pub(super) fn demand_own(path: &Path, probe: &dyn Probe) -> Result<(), Trouble> {
    let own = user(probe)?;
    let is_own = |found: &Entry| found.owner == 0 || found.owner == own;
    let way = path.parent().unwrap_or(path);
    let passed = links::follow(way, probe, |at, found| {
        let is_foreign = !is_own(found) || found.kind == EntryKind::Directory && is_open(found);
        if is_foreign { Err(foreign(path, at)) } else { Ok(()) }
    });
    passed.map(|_| ())
}

fn is_open(found: &Entry) -> bool {
    found.mode & OPEN != 0 && found.mode & STICKY == 0
}

fn user(probe: &dyn Probe) -> Result<u32, Trouble> {
    let answer = probe.ask(&Ask::program(&["id", "-u"]))?;
    answer.stdout.expose().trim().parse().map_err(|_| {
        let message = "`id -u` does not print the user id";
        Trouble::new(TroubleKind::Failed, message, "run it in a terminal")
    })
}

fn foreign(path: &Path, at: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Denied,
        format!(
            "`{}` cannot be written: another user could redirect the path at `{}`",
            path.display(),
            at.display()
        ),
        "choose a path that only root or this user can change",
    )
}

#[cfg(test)]
mod tests {
    use opal_core::Secret;
    use opal_core::files::Attributes;
    use opal_core::resolver::Answer;

    use super::*;
    use opal_testing::MemoryWorld;

    fn world(mode: u32, owner: u32) -> MemoryWorld {
        let answer = Answer { code: 0, stdout: Secret::new("1000\n"), stderr: Secret::new("") };
        MemoryWorld::default()
            .answer("id -u", answer)
            .directory("/a/shared/mine")
            .directory("/a/shared")
            .attributes(
                "/a/shared",
                Attributes { mode: Some(mode), owner: Some(owner), group: None },
            )
            .link("/a/way", "shared")
            .link("/round", "/round")
    }

    #[test]
    fn only_root_and_oneself_may_have_the_way_in_hand() {
        for (mode, owner, is_safe) in [
            (0o755, 0, true),
            (0o700, 1000, true),
            (0o775, 1000, true),
            (0o1777, 0, true),
            (0o777, 0, false),
            (0o755, 1001, false),
            (0o1777, 1001, false),
        ] {
            for path in ["/a/shared/x", "/a/shared/mine/x", "/a/way/x", "/a/shared/new/x"] {
                let found = demand_own(Path::new(path), &world(mode, owner));
                assert_eq!(found.is_ok(), is_safe, "{mode:o} {owner} {path} {found:?}");
            }
            let aside = demand_own(Path::new("/a/x"), &world(mode, owner));
            assert!(aside.is_ok());
        }
        assert!(demand_own(Path::new("/round/x"), &world(0o755, 0)).is_err());
    }
}
