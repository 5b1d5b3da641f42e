//! A tree as bytes. What comes back is one: names are single parts of paths and in order, so none is
//! there twice, and nothing is inside of what is not a directory.

use std::path::PathBuf;

use opal_core::files::{Entry, EntryKind};
use opal_core::hash::Digest;
use opal_core::tree::{MAX_DEPTH, TreeEntry};

use super::codec::{Decoder, Encoder, Malformed, Name, Wire};

/// As [`opal_core::resolver::Probe::tree`] gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(pub Vec<TreeEntry>);

/// A part of the way to an entry.
struct Above {
    name: Name,
    is_directory: bool,
}

impl Wire for Tree {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.0.len());
        for TreeEntry { path, entry, digest } in &self.0 {
            // The root has no name, and a depth of 0.
            let name = path.file_name();
            to.count(path.components().count());
            if let Some(name) = name {
                Name(name.to_owned()).encode(to);
            }
            entry.encode(to);
            digest.encode(to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (mut all, mut above) = (Vec::new(), Vec::<Above>::new());
        for index in 0..from.count()? {
            let depth = u32::decode(from)? as usize;
            if (depth == 0) != (index == 0) {
                return Err(Malformed("a tree has one root, which comes first"));
            }
            if depth > MAX_DEPTH {
                return Err(Malformed("a tree is more than 64 levels deep"));
            }
            let name = match depth {
                0 => None,
                _ => Some(Name::decode(from)?),
            };
            let (entry, digest) = (Entry::decode(from)?, Option::<Digest>::decode(from)?);
            let is_directory = entry.kind == EntryKind::Directory;
            if let Some(name) = name {
                enter(&mut above, depth, name, is_directory, &all)?;
            }
            if digest.is_some() != (entry.kind == EntryKind::File) {
                return Err(Malformed("only files have a digest, and all of them have"));
            }
            let path = above.iter().map(|part| &part.name.0).collect::<PathBuf>();
            all.push(TreeEntry { path, entry, digest });
        }
        match all.is_empty() {
            true => Err(Malformed("a tree without a root")),
            false => Ok(Self(all)),
        }
    }
}

/// Goes to an entry: `above` is the way to the one before.
fn enter(
    above: &mut Vec<Above>,
    depth: usize,
    name: Name,
    is_directory: bool,
    all: &[TreeEntry],
) -> Result<(), Malformed> {
    if above.len() + 1 < depth {
        return Err(Malformed("a tree has an entry without its directory"));
    }
    if above.get(depth - 1).is_some_and(|last| last.name >= name) {
        return Err(Malformed("the names of a directory are not in order"));
    }
    above.truncate(depth - 1);
    let is_inside_directory = match above.last() {
        Some(parent) => parent.is_directory,
        None => all.first().is_some_and(|root| root.entry.kind == EntryKind::Directory),
    };
    if !is_inside_directory {
        return Err(Malformed("something is inside of what is not a directory"));
    }
    above.push(Above { name, is_directory });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::codec::{decoded, encoded};

    fn entry(kind: EntryKind) -> Entry {
        Entry { kind, mode: 0o755, owner: 0, group: 0, bytes: 1 }
    }

    fn node(path: &str, kind: EntryKind) -> TreeEntry {
        let digest = (kind == EntryKind::File).then_some(Digest([1; 32]));
        TreeEntry { path: path.into(), entry: entry(kind), digest }
    }

    /// Entries as a hostile target may send them: any depth and any name.
    fn hostile(entries: &[(u32, &str, EntryKind)]) -> Result<Tree, Malformed> {
        let mut to = Encoder::default();
        to.count(entries.len() + 1);
        to.count(0);
        entry(EntryKind::Directory).encode(&mut to);
        None::<Digest>.encode(&mut to);
        for (depth, name, kind) in entries {
            depth.encode(&mut to);
            to.bytes(name.as_bytes());
            entry(*kind).encode(&mut to);
            (*kind == EntryKind::File).then_some(Digest([1; 32])).encode(&mut to);
        }
        decoded(&to.into_bytes())
    }

    #[test]
    fn a_tree_is_read_as_it_was_written() {
        use EntryKind::{Directory, File, Link, Other};
        let whole = Tree(vec![
            node("", Directory),
            node("a", Directory),
            node("a/b", Directory),
            node("a/b/c", File),
            node("a/d", Link),
            node("e", Other),
            node("f", File),
        ]);
        assert_eq!(decoded::<Tree>(&encoded(&whole)), Ok(whole));
        let file = Tree(vec![node("", File)]);
        assert_eq!(decoded::<Tree>(&encoded(&file)), Ok(file));
    }

    #[test]
    fn what_leads_out_of_a_tree_or_is_there_twice_is_refused() {
        use EntryKind::{Directory, File, Link};
        assert!(hostile(&[(1, "a", Directory), (2, "b", File), (1, "c", File)]).is_ok());
        for entries in [
            &[(1, "..", File)][..],
            &[(1, ".", Directory)],
            &[(1, "a/../../x", File)],
            &[(1, "/etc/passwd", File)],
            &[(1, "", File)],
            &[(1, "a\0b", File)],
            &[(1, "a", File), (1, "a", File)],
            &[(1, "b", File), (1, "a", File)],
            &[(1, "a", Link), (2, "x", File)],
            &[(1, "a", File), (2, "x", File)],
            &[(2, "x", File)],
            &[(1, "a", Directory), (3, "x", File)],
            &[(0, "x", File)],
            &[(1, "a", Directory), (2, "x", File), (1, "a", Directory), (2, "x", File)],
        ] {
            assert!(hostile(entries).is_err(), "{entries:?}");
        }
        let deep: Vec<_> = (1..=65).map(|depth| (depth, "d", Directory)).collect();
        assert!(hostile(&deep[..64]).is_ok() && hostile(&deep).is_err());
    }

    #[test]
    fn millions_of_names_are_refused_before_they_are_all_read() {
        let mut to = Encoder::default();
        to.count(9_000_000);
        to.count(0);
        entry(EntryKind::Directory).encode(&mut to);
        None::<Digest>.encode(&mut to);
        for index in 0..250_000_u32 {
            1_u32.encode(&mut to);
            to.bytes(format!("{index:08}").as_bytes());
            entry(EntryKind::Link).encode(&mut to);
            None::<Digest>.encode(&mut to);
        }
        let refused = decoded::<Tree>(&to.into_bytes()).unwrap_err();
        assert!(refused.0.contains("200,000 names"), "{refused:?}");
    }
}
