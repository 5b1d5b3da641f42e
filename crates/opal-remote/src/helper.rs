//! The target helper that opal has with it, to be sent to a target.

mod inflate;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use opal_core::hash::{Algorithm, Digest};

/// A helper for one kind of machine.
#[derive(Clone)]
pub struct Program {
    packed: Cow<'static, [u8]>,
    is_gzip: bool,
    /// Unpacked.
    bytes: usize,
    digest: Digest,
    arch: &'static str,
}

/// The helpers that can be sent, one for each kind of machine.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    all: Vec<Program>,
    flaw: Option<Flaw>,
}

/// Why opal has no helper to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub message: String,
    pub help: String,
    /// Whether somebody else could have put it there.
    pub is_unsafe: bool,
}

static EMBEDDED: &[Program] = include!(concat!(env!("OUT_DIR"), "/helpers.rs"));

/// A larger file is not a helper.
const MAX_PROGRAM_BYTES: u64 = 256 * 1024 * 1024;

impl Programs {
    /// Those that opal has with it: what it was built with, which `build.rs` tells.
    #[must_use]
    pub fn embedded() -> Self {
        Self { all: EMBEDDED.to_vec(), flaw: None }
    }

    /// Only this one.
    #[must_use]
    pub fn of(program: Program) -> Self {
        Self { all: vec![program], flaw: None }
    }

    /// None at all.
    #[must_use]
    pub fn none(flaw: Flaw) -> Self {
        Self { all: Vec::new(), flaw: Some(flaw) }
    }

    /// Why there is none at all.
    #[must_use]
    pub fn flaw(&self) -> Option<&Flaw> {
        self.flaw.as_ref()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The helper for a machine of this kind, as `uname -sm` or an image names it; none where there is none.
    #[must_use]
    pub fn find(&self, system: &str, machine: &str) -> Option<&Program> {
        let arch = match machine {
            "amd64" => "x86_64",
            "arm64" => "aarch64",
            "armv7l" => "arm",
            other => other,
        };
        let is_linux = system.eq_ignore_ascii_case("linux");
        self.all.iter().find(|it| is_linux && it.arch == arch)
    }

    /// Of all of them.
    #[must_use]
    pub fn digests(&self) -> Vec<Digest> {
        self.all.iter().map(|program| program.digest).collect()
    }
}

impl Program {
    /// The helper in a file, for machines like this one: a build that embeds none has one beside it.
    /// It may be packed by `gzip`.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut file = File::open(path)?.take(MAX_PROGRAM_BYTES + 1);
        if file.read_to_end(&mut bytes)? as u64 > MAX_PROGRAM_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let is_gzip = bytes.starts_with(GZIP);
        let most = usize::try_from(MAX_PROGRAM_BYTES).unwrap_or(usize::MAX);
        let raw = match is_gzip {
            true => inflate::gunzip(&bytes, length(&bytes).min(most)).map(Cow::Owned),
            false => Some(Cow::Borrowed(&*bytes)),
        };
        let raw = raw.ok_or(io::ErrorKind::InvalidData)?;
        let (count, arch) = (raw.len(), std::env::consts::ARCH);
        let digest = Algorithm::Sha256.digest(&[&raw]);
        drop(raw);
        Ok(Self { packed: Cow::Owned(bytes), is_gzip, bytes: count, digest, arch })
    }

    /// SHA-256 of the program.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// What `gzip -d` unpacks; none where it is not packed.
    #[must_use]
    pub fn gzip(&self) -> Option<&[u8]> {
        self.is_gzip.then_some(&*self.packed)
    }

    /// The program itself, for a target without `gzip`; none where what opal has is broken.
    #[must_use]
    pub fn raw(&self) -> Option<Cow<'_, [u8]>> {
        match self.is_gzip {
            true => inflate::gunzip(&self.packed, self.bytes).map(Cow::Owned),
            false => Some(Cow::Borrowed(&*self.packed)),
        }
    }
}

/// What every packed file begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Of what is packed, as its last bytes say.
fn length(packed: &[u8]) -> usize {
    let last = packed.last_chunk::<4>().copied().unwrap_or_default();
    u32::from_le_bytes(last) as usize
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("arch", &self.arch)
            .field("bytes", &self.bytes)
            .field("packed", &self.packed.len())
            .field("digest", &self.digest)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `OPAL_TARGET_HELPERS`; otherwise there are none.
    #[test]
    fn what_is_embedded_is_what_was_built_and_keeps_its_bars() {
        let programs = Programs::embedded();
        for program in EMBEDDED {
            let raw = program.raw().unwrap();
            assert_eq!(Algorithm::Sha256.digest(&[&raw]), program.digest);
            assert!(raw.len() <= 2_000_000, "{program:?}");
            assert!(program.packed.len() <= 900_000, "{program:?}");
            assert!(raw.starts_with(b"\x7fELF"));
            assert!(programs.find("Linux", program.arch).is_some());
            assert!(programs.find("Darwin", program.arch).is_none());
        }
        assert!(programs.find("Linux", "vax").is_none());
    }

    #[test]
    fn a_machine_gets_the_helper_of_its_kind() {
        let program = |arch| Program {
            packed: Cow::Borrowed(b""),
            is_gzip: false,
            bytes: 0,
            digest: Algorithm::Sha256.digest(&[b""]),
            arch,
        };
        let programs = Programs {
            all: ["x86_64", "aarch64", "arm", "riscv64"].map(program).to_vec(),
            flaw: None,
        };
        for (machine, arch) in [
            ("x86_64", Some("x86_64")),
            ("amd64", Some("x86_64")),
            ("aarch64", Some("aarch64")),
            ("arm64", Some("aarch64")),
            ("armv7l", Some("arm")),
            ("riscv64", Some("riscv64")),
            // What has no floating-point unit cannot run it.
            ("armv6l", None),
            ("i686", None),
        ] {
            assert_eq!(programs.find("Linux", machine).map(|found| found.arch), arch, "{machine}");
        }
    }
}
