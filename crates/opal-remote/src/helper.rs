//! The target helper that opal has with it, to be sent to a target.

mod inflate;

use std::borrow::Cow;

use opal_core::hash::Digest;

/// A helper for one kind of machine.
#[derive(Clone, Copy)]
pub struct Program {
    packed: &'static [u8],
    is_gzip: bool,
    /// Unpacked.
    bytes: usize,
    digest: Digest,
    arch: &'static str,
}

static EMBEDDED: Option<Program> = include!(concat!(env!("OUT_DIR"), "/helper.rs"));

/// The helper for a machine of this kind, as `uname -sm` names it; none where opal has none. Only a
/// release with the feature `embed` has one, and what is built with `OPAL_EMBED=1`.
#[must_use]
pub fn embedded(system: &str, machine: &str) -> Option<&'static Program> {
    let names: &[&str] = match machine {
        "amd64" | "x86_64" => &["x86_64"],
        "aarch64" | "arm64" => &["aarch64"],
        "armv7l" => &["arm"],
        other => &[other],
    };
    EMBEDDED.as_ref().filter(|it| system == "Linux" && names.contains(&it.arch))
}

impl Program {
    /// SHA-256 of the program.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// What `gzip -d` unpacks; none where it is not packed.
    #[must_use]
    pub fn gzip(&self) -> Option<&'static [u8]> {
        self.is_gzip.then_some(self.packed)
    }

    /// The program itself, for a target without `gzip`; none where what opal has is broken.
    #[must_use]
    pub fn raw(&self) -> Option<Cow<'static, [u8]>> {
        match self.is_gzip {
            true => inflate::gunzip(self.packed, self.bytes).map(Cow::Owned),
            false => Some(Cow::Borrowed(self.packed)),
        }
    }
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
    use opal_core::hash::Algorithm;

    use super::*;

    /// With `OPAL_EMBED=1`.
    #[test]
    fn what_is_embedded_is_what_was_built_and_keeps_its_bars() {
        let Some(program) = &EMBEDDED else { return };
        let raw = program.raw().unwrap();
        assert_eq!(Algorithm::Sha256.digest(&[&raw]), program.digest);
        assert!(raw.len() <= 2_000_000, "{program:?}");
        assert!(program.packed.len() <= 900_000, "{program:?}");
        assert!(raw.starts_with(b"\x7fELF"));
        assert!(embedded("Linux", program.arch).is_some());
        assert!(embedded("Darwin", program.arch).is_none());
        assert!(embedded("Linux", "vax").is_none());
    }
}
