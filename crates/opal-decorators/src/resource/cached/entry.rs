//! What is remembered of a block that has succeeded.
//!
//! Bytes, in little-endian order: [`VERSION`], the time, then the facts, the inputs and the outputs, each
//! with their count. A text has its length before it.
//!
//! ```text
//! fact   digest (32), text
//! file   kind (1: `f`, `x` or `l`), digest (32), inode (8), bytes (8), modified (8), changed (8), text
//! ```

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use opal_core::hash::Digest;
use opal_core::inventory::{Inventory, Item, ItemKind, Stamp, of_files};

const VERSION: &[u8; 16] = b"opal cached 2\0\0\0";

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
        let mut out = VERSION.to_vec();
        out.extend(self.at.to_le_bytes());
        length(&mut out, self.facts.0.len());
        for (what, digest) in &self.facts.0 {
            out.extend(digest.0);
            text(&mut out, what);
        }
        for files in [&self.inputs, &self.outputs] {
            length(&mut out, files.len());
            for (name, Item { kind, digest, stamp }) in files {
                out.push(letter(*kind));
                out.extend(digest.0);
                for number in [stamp.inode, stamp.bytes] {
                    out.extend(number.to_le_bytes());
                }
                for time in [stamp.modified, stamp.changed] {
                    out.extend(time.to_le_bytes());
                }
                text(&mut out, name);
            }
        }
        out
    }

    /// None for what another version of opal has written.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes.strip_prefix(VERSION)?);
        let at = i64::from_le_bytes(rest.take()?);
        let mut facts = Facts::default();
        for _ in 0..rest.length()? {
            let digest = Digest(rest.take()?);
            facts.add(rest.text()?, digest);
        }
        let (inputs, outputs) = (rest.files()?, rest.files()?);
        rest.0.is_empty().then_some(Self { at, facts, inputs, outputs })
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

/// What is not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.take()?)).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn files(&mut self) -> Option<Inventory> {
        let mut files = Vec::new();
        for _ in 0..self.length()? {
            let kind = match self.take()? {
                [b'f'] => ItemKind::File,
                [b'x'] => ItemKind::Executable,
                [b'l'] => ItemKind::Link,
                _ => return None,
            };
            let digest = Digest(self.take()?);
            let stamp = Stamp {
                inode: u64::from_le_bytes(self.take()?),
                bytes: u64::from_le_bytes(self.take()?),
                modified: i64::from_le_bytes(self.take()?),
                changed: i64::from_le_bytes(self.take()?),
            };
            files.push((self.text()?.into(), Item { kind, digest, stamp }));
        }
        Some(of_files(files))
    }
}

fn length(out: &mut Vec<u8>, length: usize) {
    out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend(text.as_bytes());
}

fn letter(kind: ItemKind) -> u8 {
    match kind {
        ItemKind::File => b'f',
        ItemKind::Executable => b'x',
        ItemKind::Link => b'l',
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
            assert!(Entry::read(&bytes[..cut]).is_none(), "{cut}");
        }
    }
}
