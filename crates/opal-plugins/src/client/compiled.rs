//! Compiled code: made once by a helper process that does nothing else, and kept under a MAC.
//!
//! Next to the code is its seal: the digest of the code, what the code exports, the memo (device, inode,
//! size and change time of the file), and a MAC over all of it under a key of this machine. The file is
//! opened once, checked and loaded from that descriptor. Where the memo holds, the file is the one that
//! was hashed, and is not hashed again; on network file systems it always is.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::hash::{Algorithm, Digest};
use opal_core::protocol::Refusal;
use opal_helper::BUILD;
use opal_trust::code::CodeKey;
use opal_vault::root::{Root, read_private};

use super::process::{Ended, Host};

/// The directory under the runtime root.
const FOLDER: &str = "plugins/compiled";

/// A seal is short.
const MAX_SEAL: u64 = 64 << 10;

/// Where compiled code is kept.
#[derive(Debug)]
pub struct Cache {
    /// None where this process keeps nothing.
    root: Option<Root>,
    /// Read when it is needed first.
    key: OnceLock<Option<CodeKey>>,
    /// Whether others may change a file without this machine noticing.
    is_remote: fn(&File) -> bool,
}

/// Compiled code that may be loaded, and what it exports.
#[derive(Debug)]
pub struct Compiled {
    pub file: File,
    pub exports: Vec<String>,
}

impl Cache {
    #[must_use]
    pub const fn new(root: Option<Root>) -> Self {
        Self { root, key: OnceLock::new(), is_remote }
    }

    fn key(&self) -> Option<&CodeKey> {
        let root = self.root.as_ref()?;
        self.key.get_or_init(|| CodeKey::of_machine(root)).as_ref()
    }

    /// The key, where what is kept under it can be read again.
    fn lasting_key(&self) -> Option<&CodeKey> {
        self.key().filter(|key| key.is_kept())
    }

    /// Where something can be kept that only this machine reads again.
    #[must_use]
    pub fn sealing(&self) -> Option<(&Root, &CodeKey)> {
        Some((self.root.as_ref()?, self.lasting_key()?))
    }

    /// The runtime root; empty where there is none.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.as_ref().map_or(Path::new(""), Root::path)
    }

    /// The compiled form of a component; it is compiled where it is not there.
    pub fn open(&self, program: &Path, wasm: &[u8]) -> Result<Result<Compiled, Refusal>, Ended> {
        let name = Algorithm::Blake3.digest(&[BUILD.as_bytes(), wasm]);
        if let Some(found) = self.kept(&name) {
            return Ok(Ok(found));
        }
        let io = |error: std::io::Error| Ended::NotStarted(error.kind());
        let mut from = tempfile::tempfile().map_err(io)?;
        std::io::Write::write_all(&mut from, wasm).map_err(io)?;
        let place = self.place(&name);
        // Complete or not at all: it appears under its name when it is whole.
        let unfinished = match &place {
            Some(path) => tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path)).ok(),
            None => None,
        };
        let to = match &unfinished {
            Some(unfinished) => unfinished.as_file().try_clone().map_err(io)?,
            None => tempfile::tempfile().map_err(io)?,
        };
        let exports = match Host::compile(program, BUILD, &from, &to)? {
            Ok(exports) => exports,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if let (Some(unfinished), Some(path)) = (unfinished, place)
            && let Ok(file) = unfinished.persist(&path)
        {
            // What cannot be sealed is compiled again next time.
            let _ = self.seal(&name, &file, &exports);
        }
        Ok(Ok(Compiled { file: to, exports }))
    }

    /// Where the code of a name is; none where this machine keeps nothing.
    fn place(&self, name: &Digest) -> Option<PathBuf> {
        self.lasting_key()?;
        Some(self.root.as_ref()?.directory(FOLDER).ok()?.join(format!("{}.code", name.hex())))
    }

    /// Code that this machine has compiled, unchanged since.
    fn kept(&self, name: &Digest) -> Option<Compiled> {
        let key = self.lasting_key()?;
        let folder = self.root.as_ref()?.guarded(FOLDER).ok()?;
        let seal = read_private(&folder.join(format!("{}.seal", name.hex())), MAX_SEAL).ok()?;
        let seal = Seal::read(str::from_utf8(&seal).ok()?, name, key)?;
        let path = folder.join(format!("{}.code", name.hex()));
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut file = OpenOptions::new().read(true).custom_flags(nofollow).open(path).ok()?;
        let found = file.metadata().ok()?;
        let is_private = found.is_file()
            && found.mode() & 0o077 == 0
            && found.uid() == rustix::process::geteuid().as_raw();
        if !is_private {
            return None;
        }
        if seal.memo != memo(&file)? || (self.is_remote)(&file) {
            if digest(&mut file)? != seal.digest {
                return None;
            }
            let _ = self.seal(name, &file, &seal.exports);
        }
        Some(Compiled { file, exports: seal.exports })
    }

    fn seal(&self, name: &Digest, file: &File, exports: &[String]) -> Option<()> {
        let key = self.lasting_key()?;
        let mut file = file.try_clone().ok()?;
        let digest = digest(&mut file)?;
        let seal = Seal { digest, memo: memo(&file)?, exports: exports.to_vec() };
        let path = self.root.as_ref()?.guarded(FOLDER).ok()?.join(format!("{}.seal", name.hex()));
        let mut new = tempfile::NamedTempFile::new_in(path.parent()?).ok()?;
        std::io::Write::write_all(&mut new, seal.written(name, key).as_bytes()).ok()?;
        new.persist(path).ok().map(|_| ())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Seal {
    digest: Digest,
    memo: String,
    exports: Vec<String>,
}

impl Seal {
    fn mac(&self, name: &Digest, key: &CodeKey) -> Digest {
        let exports = self.exports.join(" ");
        key.mac(&[&name.0, &self.digest.0, self.memo.as_bytes(), exports.as_bytes()])
    }

    /// Four lines: the MAC, the digest, the memo, the exports.
    fn written(&self, name: &Digest, key: &CodeKey) -> String {
        let (mac, digest) = (self.mac(name, key).hex(), self.digest.hex());
        format!("{mac}\n{digest}\n{}\n{}\n", self.memo, self.exports.join(" "))
    }

    /// None where this machine did not write it for this name.
    fn read(text: &str, name: &Digest, key: &CodeKey) -> Option<Self> {
        let mut lines = text.lines();
        let mac = Digest::parse(lines.next()?)?;
        let digest = Digest::parse(lines.next()?)?;
        let memo = lines.next()?.to_owned();
        let exports = lines.next()?.split(' ').map(str::to_owned).collect();
        let seal = Self { digest, memo, exports };
        // Compared in constant time.
        (seal.mac(name, key) == mac).then_some(seal)
    }
}

fn memo(file: &File) -> Option<String> {
    let it = file.metadata().ok()?;
    let ctime = format!("{}.{:09}", it.ctime(), it.ctime_nsec());
    Some(format!("{} {} {} {ctime}", it.dev(), it.ino(), it.size()))
}

fn digest(file: &mut File) -> Option<Digest> {
    file.rewind().ok()?;
    let mut hasher = Algorithm::Blake3.hasher();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// Whether others may change the file without this machine noticing: anything but a local file system.
fn is_remote(file: &File) -> bool {
    // ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs, bcachefs.
    let local: [i64; 8] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0x2fc1_2fc1,
        0xf2f5_2010,
        0xca45_1a4e,
    ];
    match rustix::fs::fstatfs(file) {
        Ok(found) => !local.contains(&found.f_type),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    /// Another machine can change a file, and its device, inode, size and time say nothing of it.
    #[test]
    fn what_the_memo_misses_is_found_on_a_network_file_system() {
        for (is_remote, is_found) in [((|_| false) as fn(&File) -> bool, true), (|_| true, false)] {
            let folder = tempfile::tempdir().unwrap();
            let root = Root::new(folder.path());
            let cache = Cache { is_remote, ..Cache::new(Some(root)) };
            let name = Digest([1; 32]);
            let path = cache.place(&name).unwrap();
            let new =
                OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
            let mut file = new.unwrap();
            file.write_all_at(b"code", 0).unwrap();
            let before = digest(&mut file).unwrap();
            cache.seal(&name, &file, &[]).unwrap();
            assert!(cache.kept(&name).is_some());
            file.write_all_at(b"evil", 0).unwrap();
            assert!(cache.kept(&name).is_none(), "the time of the change says it");
            let seal = Seal { digest: before, memo: memo(&file).unwrap(), exports: Vec::new() };
            let sealed = path.with_extension("seal");
            std::fs::write(sealed, seal.written(&name, cache.lasting_key().unwrap())).unwrap();
            assert_eq!(cache.kept(&name).is_some(), is_found);
        }
    }

    #[test]
    fn only_local_file_systems_are_trusted_to_notice_changes() {
        assert!(is_remote(&File::open("/proc/self/stat").unwrap()));
        if let Ok(file) = tempfile::tempfile_in("/dev/shm") {
            assert!(!is_remote(&file));
        }
    }
}
