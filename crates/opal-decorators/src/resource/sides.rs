//! Where something is copied from, and where it goes.

use std::path::Path;

use opal_core::resolver::{Probe, Trouble};

/// Opal's machine, on which sources are, and the machine of the step: often the same.
pub(super) struct Sides<'p> {
    origin: Option<Box<dyn Probe + 'p>>,
    here: &'p dyn Probe,
}

impl<'p> Sides<'p> {
    pub(super) fn of(probe: &'p dyn Probe) -> Self {
        Self { origin: probe.origin(), here: probe }
    }

    /// Where sources are.
    pub(super) fn source(&self) -> &dyn Probe {
        self.origin.as_deref().unwrap_or(self.here)
    }

    /// Where the step is.
    pub(super) fn here(&self) -> &'p dyn Probe {
        self.here
    }

    /// Whether a path names the same file on both. A target can be opal's own machine.
    pub(super) fn are_one(&self, path: &Path) -> Result<bool, Trouble> {
        let Some(origin) = &self.origin else { return Ok(true) };
        Ok(origin.host() == self.here.host() && origin.stat(path)? == self.here.stat(path)?)
    }

    /// Whether both are the same machine: a path names the same thing then.
    pub(super) fn is_one(&self) -> bool {
        self.origin.is_none()
    }
}
