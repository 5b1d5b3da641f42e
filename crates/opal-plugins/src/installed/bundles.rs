//! Publishers who sign with an identity instead of a key: Sigstore bundles among the statements.
//!
//! Verifying one takes certificates, logs and timestamps, so a helper does it, with the trust roots that the
//! machine or the user names. What it says is not kept: it is asked whenever such a package is read.

use std::fmt;

use opal_core::hash::Digest;
use opal_trust::keys::PublicKey;

use super::error::LoadError;

/// What such publishers begin with.
pub const SIGSTORE: &str = "sigstore:";

/// What every bundle has on its line.
const MEDIA_TYPE: &[u8] = b"application/vnd.dev.sigstore.bundle";

/// Whom the machine and the user trust. It is asked where a package makes a difference.
pub trait Trust: fmt::Debug {
    /// What the bundles among these lines say about the package with a checksum.
    fn signers(&self, checksum: &Digest, lines: &[u8]) -> Result<Signers, LoadError>;

    /// The key that signs the index of a registry.
    fn index_key(&self, address: &str) -> Result<Option<PublicKey>, LoadError>;
}

/// Who signed a package, as bundles say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    /// Whether somebody named a trust root; without one a bundle says nothing.
    pub has_root: bool,
    /// `sigstore:IDENTITY (ISSUER)`, in order.
    pub publishers: Vec<String>,
    /// Why the other bundles do not count.
    pub refused: Vec<String>,
}

/// Whether one of these lines may be a bundle.
pub(super) fn has_bundle(lines: &[u8]) -> bool {
    lines.windows(MEDIA_TYPE.len()).any(|it| it == MEDIA_TYPE)
}
