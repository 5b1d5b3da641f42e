//! Files on a target, whose bytes are counted: for whoever watches a long copy.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opal_core::action::Pending;
use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::Trouble;

/// Counts what is written to files.
pub(super) struct Counted<'f> {
    pub(super) files: Box<dyn Files + 'f>,
    pub(super) sent: Arc<AtomicU64>,
}

struct Counting {
    pending: Box<dyn Pending>,
    sent: Arc<AtomicU64>,
}

impl Files for Counted<'_> {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        let pending = self.files.write(path, attributes, existing)?;
        Ok(Box::new(Counting { pending, sent: Arc::clone(&self.sent) }))
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.files.make_directory(path, attributes)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        self.files.make_link(path, to, replace)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.files.set(path, attributes)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        self.files.remove(path, recursive)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        let files = self.files.within(directory)?;
        Ok(Box::new(Counted { files, sent: Arc::clone(&self.sent) }))
    }
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.pending.write(bytes)?;
        self.sent.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pending.flush()
    }
}

impl Pending for Counting {
    fn resemble(&mut self, path: &Path) -> Result<(), Trouble> {
        self.pending.resemble(path)
    }

    fn keep(self: Box<Self>) -> Result<(), Trouble> {
        self.pending.keep()
    }
}
