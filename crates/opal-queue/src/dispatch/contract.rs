//! The contract that is sent: read once, and refused where runners could not do it.

use std::path::{Path, PathBuf};

use opal_core::contract::MAX_BYTES;
use opal_trust::contracts::{Unopened, peek};

use opal_vault::root::{self, RootError, Why};

use crate::bundle::BundleError;
use crate::fleet::{Fleet, asks};
use crate::trouble::Trouble;

/// Bytes of approvals.
const MAX_APPROVALS: u64 = 16 << 20;

pub(super) struct Sent {
    pub(super) bytes: Vec<u8>,
    pub(super) approvals: Option<Vec<u8>>,
    /// Where its source is on this machine.
    pub(super) source: PathBuf,
    pub(super) once: bool,
    pub(super) fleet: Fleet,
}

impl Sent {
    pub(super) fn read(file: &Path, now: i64) -> Result<Self, Trouble> {
        let bytes = root::read_given(file, MAX_BYTES as u64).map_err(Trouble::File)?;
        let contract = peek(&bytes).map_err(|why| Trouble::NotAContract(words(why)))?;
        let fleet = Fleet::of(&contract)?;
        let approvals = match root::read_public(&super::approvals(file), MAX_APPROVALS) {
            Ok(approvals) => Some(approvals.to_vec()),
            Err(RootError { why: Why::Missing, .. }) => None,
            Err(error) => return Err(Trouble::File(error)),
        };
        let made = contract.provenance();
        if made.once && made.expires.is_none() {
            return Err(Trouble::OnceWithoutExpiry);
        }
        if made.expires.is_some_and(|end| now >= end) {
            return Err(Trouble::Expired);
        }
        let approved = approvals.as_deref().map(String::from_utf8_lossy);
        let is_approved = approved.is_some_and(|it| !opal_trust::approvals::read(&it).0.is_empty());
        if asks(contract.plan()) && !is_approved {
            return Err(Trouble::Unconfirmed);
        }
        let source = made.source.as_ref().map(|it| PathBuf::from(&it.absolute));
        let source = source.ok_or(BundleError::NoSource)?;
        Ok(Self { bytes: bytes.to_vec(), approvals, source, once: made.once, fleet })
    }
}

fn words(why: Unopened) -> String {
    match why {
        Unopened::Format(error) => error.to_string(),
        Unopened::Envelope(error) => error.to_string(),
        Unopened::Signature(_) => "its signature does not match it".to_owned(),
        Unopened::Seed => "its seed is another one".to_owned(),
    }
}
