//! Making the copy.

use std::io::{self, Read, Write};
use std::path::Path;

use opal_core::action::Pending;
use opal_core::files::{Attributes, EntryKind, Existing, Files};
use opal_core::message::Reason;
use opal_core::resolver::{Links, Probe, Trouble, TroubleKind};
use opal_core::tree::{TreeEntry, below};

use super::{Differing, Facts};

/// Who runs a program, and who may remove a file, is not the target's to say.
const PERMISSIONS: u32 = 0o777;

/// Of a directory, so that it can be filled.
const FILLING: u32 = 0o700;

pub(super) fn make(facts: &Facts, probe: &dyn Probe, files: &dyn Files) -> Result<(), Trouble> {
    let anchor = &facts.place.anchor;
    if facts.place.makes_anchor {
        files.make_directory(anchor, &Attributes::default())?;
    }
    let within = files.within(anchor)?;
    let above = facts.place.copy.parent().filter(|above| *above != anchor);
    above.map_or(Ok(()), |above| within.make_directory(above, &Attributes::default()))?;
    // What the target says about sizes is not believed.
    let mut left = facts.limits.bytes;
    for Differing { index, is_there } in &facts.differing {
        let TreeEntry { path, entry, .. } = &facts.tree[*index];
        let to = below(&facts.place.copy, path);
        let with = |more: u32| Attributes {
            mode: Some(entry.mode & PERMISSIONS | more),
            ..Attributes::default()
        };
        if entry.kind == EntryKind::Directory {
            within.make_directory(&to, &with(FILLING))?;
            continue;
        }
        let from = below(&facts.source, path);
        let links = match path.as_os_str().is_empty() {
            true => Links::followed_above(&facts.source),
            false => Links::FollowedTo(&facts.source),
        };
        let content = probe.read(&from, links)?;
        let existing = if *is_there { Existing::Replaced } else { Existing::Refused };
        let pending = within.write(&to, &with(0), existing)?;
        left = copy(content, pending, &to, left, facts)?;
    }
    Ok(())
}

/// In pieces: how many bytes may still come.
fn copy(
    mut content: Box<dyn Read>,
    mut pending: Box<dyn Pending>,
    to: &Path,
    mut left: u64,
    facts: &Facts,
) -> Result<u64, Trouble> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match content.read(&mut bytes) {
            Ok(0) => return pending.keep().map(|()| left),
            Ok(count) => {
                left = left.checked_sub(count as u64).ok_or_else(|| too_large(facts))?;
                pending
                    .write_all(&bytes[..count])
                    .map_err(|error| failed(to, "written", &error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(to, "fetched completely", &error)),
        }
    }
}

fn too_large(facts: &Facts) -> Trouble {
    let (source, most) = (facts.source.display(), facts.limits.bytes);
    let message = format!("`{source}` has more than {most} bytes");
    Trouble::new(TroubleKind::TooLarge, message, "fetch a part of it, or set `max_bytes`")
}

fn failed(path: &Path, done: &str, error: &io::Error) -> Trouble {
    let message = format!("`{}` cannot be {done}: {}", path.display(), Reason(error.kind()));
    Trouble::new(TroubleKind::Failed, message, "check the disk and the connection, and run again")
}

#[cfg(test)]
mod tests {
    use opal_core::files::Entry;
    use opal_core::tree::TreeLimits;
    use opal_session::Session;
    use opal_session::stop::Stop;
    use opal_testing::{LoggedSession, MemoryWorld};

    use super::super::place::Place;
    use super::*;

    #[test]
    fn a_target_that_sends_more_than_it_says_is_cut_off() {
        let facts = |bytes| Facts {
            source: "/far".into(),
            place: Place { anchor: "/p".into(), makes_anchor: false, copy: "/p/far".into() },
            tree: vec![TreeEntry {
                path: "".into(),
                entry: Entry { kind: EntryKind::File, mode: 0o6644, owner: 0, group: 0, bytes: 1 },
                digest: None,
            }],
            differing: vec![Differing { index: 0, is_there: false }],
            left_out: 0,
            limits: TreeLimits { entries: 1, bytes },
        };
        let target = MemoryWorld::default().file("/far", vec![b'x'; 100_000]);
        let session = LoggedSession::new().world(MemoryWorld::default().directory("/p"));
        let stop = Stop::new();
        let trouble = make(&facts(99_999), &target, &*session.files(&stop)).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::TooLarge);
        assert!(!session.log().iter().any(|line| line.contains("keep")), "{:?}", session.log());
        make(&facts(100_000), &target, &*session.files(&stop)).unwrap();
    }
}
