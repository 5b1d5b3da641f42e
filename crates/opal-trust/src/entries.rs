//! Entries of `@cached` that only this machine can have made: each has a MAC under a key that is derived
//! from the machine's, over its name and its bytes. One from another machine, of another name or with
//! another byte is none.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::hash::Digest;
use opal_core::inventory::{Entries, EntryStore, EntryUse};
use opal_core::wiped::Wiped;
use opal_vault::entries;
use opal_vault::root::Root;

use crate::keys::Runner;

const MAC_BYTES: usize = 32;

/// The entries under a runtime root.
#[derive(Debug)]
pub struct MachineEntries {
    root: Root,
    base: PathBuf,
    /// Of the base; looked for where a block needs it.
    top_around: fn(&Path) -> &Path,
    project: OnceLock<PathBuf>,
    how: EntryUse,
    /// Whether the machine gets a key where it has none: only a run keeps something.
    makes_key: bool,
    keys: OnceLock<Option<Keys>>,
}

struct Keys {
    /// Of whole entries.
    mac: Wiped<[u8; 32]>,
    /// Of values.
    digest: Wiped<[u8; 32]>,
}

impl MachineEntries {
    /// Inputs and outputs are below the top of the project around `base`, seen without symlinks.
    #[must_use]
    pub fn new(
        root: Root,
        base: PathBuf,
        top_around: fn(&Path) -> &Path,
        how: EntryUse,
        makes_key: bool,
    ) -> Self {
        let (project, keys) = (OnceLock::new(), OnceLock::new());
        Self { root, base, top_around, project, how, makes_key, keys }
    }

    /// Of the machine's key; none where it has none, and so no entry either.
    fn keys(&self) -> Option<&Keys> {
        let runner = || match self.makes_key {
            true => Runner::of_machine(&self.root).ok().filter(|runner| !runner.is_ephemeral()),
            false => Runner::known(&self.root).ok()?,
        };
        self.keys.get_or_init(|| Some(Keys::of(&runner()?))).as_ref()
    }
}

impl Keys {
    fn of(runner: &Runner) -> Self {
        Self {
            mac: runner.cache_key("opal cache entry v1"),
            digest: runner.cache_key("opal cache value v1"),
        }
    }

    fn mac(&self, name: &Digest, bytes: &[u8]) -> Digest {
        keyed(&self.mac, &[&name.0, bytes])
    }
}

/// With the lengths no two rows of parts have the same bytes.
pub(crate) fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> Digest {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Digest(*hasher.finalize().as_bytes())
}

impl Entries for MachineEntries {
    fn load(&self, name: &Digest) -> Option<Vec<u8>> {
        let mut bytes = entries::read(&self.root, &name.hex())?;
        let (mac, rest) = bytes.split_first_chunk::<MAC_BYTES>()?;
        // Compared in constant time.
        if self.keys()?.mac(name, rest) != Digest(*mac) {
            return None;
        }
        bytes.drain(..MAC_BYTES);
        Some(bytes)
    }

    fn digest(&self, parts: &[&[u8]]) -> Digest {
        // Without a key there is no entry to compare with.
        keyed(self.keys().map_or(&[0; 32], |keys| &keys.digest), parts)
    }

    fn project(&self) -> &Path {
        self.project.get_or_init(|| {
            let base = self.base.canonicalize().unwrap_or_else(|_| self.base.clone());
            (self.top_around)(&base).to_owned()
        })
    }

    fn use_of(&self) -> EntryUse {
        self.how
    }
}

impl EntryStore for MachineEntries {
    fn store(&self, name: &Digest, bytes: &[u8]) -> Result<(), String> {
        let keys = self.keys().ok_or("this machine has no key that can be read")?;
        let whole = [&keys.mac(name, bytes).0[..], bytes].concat();
        entries::write(&self.root, &name.hex(), &whole).map_err(|error| error.to_string())
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(folder: &Path) -> MachineEntries {
        let base = folder.to_owned();
        MachineEntries::new(Root::new(folder), base, |base| base, EntryUse::Usual, true)
    }

    #[test]
    fn only_what_this_machine_wrote_under_this_name_is_an_entry() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (here, there) = (machine(one.path()), machine(other.path()));
        let (name, second) = (Digest([1; 32]), Digest([2; 32]));
        here.store(&name, b"content").unwrap();
        there.store(&name, b"content").unwrap();
        assert_eq!(here.load(&name).as_deref(), Some(&b"content"[..]));
        let file = |folder: &Path, name: &Digest| folder.join("cache").join(name.hex());
        let own = std::fs::read(file(one.path(), &name)).unwrap();
        let foreign = std::fs::read(file(other.path(), &name)).unwrap();
        let flipped = |at: usize| {
            let mut bytes = own.clone();
            bytes[at] ^= 1;
            bytes
        };
        let last = own.len() - 1;
        let cut = own[..last].to_vec();
        for forged in [foreign, flipped(0), flipped(last), cut, Vec::new(), b"content".to_vec()] {
            std::fs::write(file(one.path(), &name), &forged).unwrap();
            assert_eq!(here.load(&name), None, "{} bytes", forged.len());
        }
        std::fs::write(file(one.path(), &second), &own).unwrap();
        assert_eq!(here.load(&second), None, "under another name");
        std::fs::write(file(one.path(), &name), &own).unwrap();
        assert!(here.load(&name).is_some());
    }
}
