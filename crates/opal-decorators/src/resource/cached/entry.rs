//! What is remembered of a block that has succeeded.
//!
//! Bytes: a row of parts, each ended by a NUL, which no name holds. First the version and the time,
//! then `f` with a fact, `i` with an input or `o` with an output each:
//!
//! ```text
//! opal cached 1
//! 1763342759000000000
//! f HEX value env.MODE
//! i f HEX 1234 56 1763342700000000000 1763342700000000000 src/a.c
//! ```

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use opal_core::hash::Digest;
use opal_core::inventory::{Inventory, Item, ItemKind, Stamp};

const VERSION: &str = "opal cached 1";

/// Digests of what a block depends on besides files, by what it is: `value env.MODE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(pub(super) BTreeMap<Box<str>, Digest>);

impl Facts {
    pub(super) fn add(&mut self, what: &str, digest: Digest) {
        self.0.insert(what.into(), digest);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// When its files were read: nanoseconds of Unix time.
    pub(super) at: i64,
    pub(super) facts: Facts,
    pub(super) inputs: Inventory,
    pub(super) outputs: Inventory,
}

pub(super) fn nanos(time: SystemTime) -> i64 {
    let nanos = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

impl Entry {
    pub(super) fn written(&self) -> Vec<u8> {
        let mut out = format!("{VERSION}\0{}\0", self.at);
        for (what, digest) in &self.facts.0 {
            out.push_str(&format!("f {} {what}\0", digest.hex()));
        }
        for (side, files) in [('i', &self.inputs), ('o', &self.outputs)] {
            for (name, Item { kind, digest, stamp }) in files {
                let Stamp { inode, bytes, modified, changed } = stamp;
                let (kind, digest) = (letter(*kind), digest.hex());
                out.push_str(&format!(
                    "{side} {kind} {digest} {inode} {bytes} {modified} {changed} {name}\0"
                ));
            }
        }
        out.into_bytes()
    }

    /// None for what another version of opal has written.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\0')?;
        let mut parts = text.split('\0');
        if parts.next()? != VERSION {
            return None;
        }
        let at = parts.next()?.parse().ok()?;
        let mut entry = Self {
            at,
            facts: Facts::default(),
            inputs: Inventory::new(),
            outputs: Inventory::new(),
        };
        for part in parts {
            match part.split_at_checked(2)? {
                ("f ", rest) => {
                    let (digest, what) = rest.split_once(' ')?;
                    entry.facts.add(what, Digest::parse(digest)?);
                }
                ("i ", rest) => entry.inputs.extend([item(rest)?]),
                ("o ", rest) => entry.outputs.extend([item(rest)?]),
                _ => return None,
            }
        }
        Some(entry)
    }

    /// Whether reading the files again would be as quick with this as with the other.
    pub(super) fn has_stamps_of(&self, other: &Self) -> bool {
        let same = |one: &Inventory, two: &Inventory| {
            let settled = |item: &Item| {
                self.at.saturating_sub(item.stamp.changed) >= opal_core::inventory::SETTLED_NANOS
            };
            one.values().zip(two.values()).all(|(one, two)| {
                one.stamp == two.stamp && (one.kind == ItemKind::Link || settled(one))
            })
        };
        same(&self.inputs, &other.inputs) && same(&self.outputs, &other.outputs)
    }
}

fn item(text: &str) -> Option<(Box<str>, Item)> {
    let mut fields = text.splitn(7, ' ');
    let kind = match fields.next()? {
        "f" => ItemKind::File,
        "x" => ItemKind::Executable,
        "l" => ItemKind::Link,
        _ => return None,
    };
    let digest = Digest::parse(fields.next()?)?;
    let inode = fields.next()?.parse().ok()?;
    let bytes = fields.next()?.parse().ok()?;
    let modified = fields.next()?.parse().ok()?;
    let changed = fields.next()?.parse().ok()?;
    let stamp = Stamp { inode, bytes, modified, changed };
    Some((fields.next()?.into(), Item { kind, digest, stamp }))
}

fn letter(kind: ItemKind) -> char {
    match kind {
        ItemKind::File => 'f',
        ItemKind::Executable => 'x',
        ItemKind::Link => 'l',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let item = |kind| Item {
            kind,
            digest: Digest([5; 32]),
            stamp: Stamp { inode: 1, bytes: 2, modified: -3, changed: i64::MAX },
        };
        let mut facts = Facts::default();
        facts.add("value env.A B", Digest([9; 32]));
        let inputs = Inventory::from([
            ("src/a b\n.c".into(), item(ItemKind::File)),
            ("x y".into(), item(ItemKind::Executable)),
        ]);
        let outputs = Inventory::from([("l".into(), item(ItemKind::Link))]);
        let entry = Entry { at: 77, facts, inputs, outputs };
        let read = Entry::read(&entry.written()).unwrap();
        assert_eq!((read.at, &read.facts), (77, &entry.facts));
        assert_eq!((&read.inputs, &read.outputs), (&entry.inputs, &entry.outputs));
        let bytes = entry.written();
        for cut in 0..bytes.len() {
            // Never half of it, and never a panic.
            let part = Entry::read(&bytes[..cut]);
            assert!(part.is_none_or(|part| part.outputs.is_empty()), "{cut}");
        }
    }
}
