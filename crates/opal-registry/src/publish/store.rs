//! Where the documents of a static registry are written.

use crate::format::MAX_VERSIONS;
use crate::refusal::Refusal;
use crate::sources::Reach;

use super::directory::Directory;
use super::web::Web;

/// A document that is there.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) bytes: Vec<u8>,
    /// What a web server calls this state of it.
    pub(super) tag: Option<String>,
}

/// A place for documents. A version counts only where `versions.json` lists it, so its files come first.
pub(super) trait Store {
    /// A document; none where it is not there.
    fn get(&self, path: &str, most: u64) -> Result<Option<Found>, Refusal>;

    /// The files of a version that no document lists yet.
    fn put_version(&self, path: &str, files: &[(&str, &[u8])]) -> Result<(), Refusal>;

    /// A document, in place of the one that was read.
    fn put(&self, path: &str, bytes: &[u8], before: Option<&Found>) -> Result<(), Refusal>;

    /// Whether only its owner can have written what is there.
    fn is_own(&self) -> bool;
}

/// The static registry at an address. That of a directory is locked until it is dropped.
pub(super) fn open<'a>(address: &str, reach: &'a Reach) -> Result<Box<dyn Store + 'a>, Refusal> {
    match address.strip_prefix("file:") {
        Some(path) => {
            let path = reach.folder.join(path.strip_prefix("//").unwrap_or(path));
            Ok(Box::new(Directory::open(&path)?))
        }
        None => Ok(Box::new(Web::new(address, reach))),
    }
}

/// The largest document that is read before a change.
pub(super) const MAX_STATEMENTS: u64 = crate::format::MAX_STATEMENTS;
pub(super) const MAX_LIST: u64 = MAX_VERSIONS;
