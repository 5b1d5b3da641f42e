//! A tree of files as it is: bytes, modes and times, to be held against what it is later.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What there is to know about one file; when it was read is nobody's business.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    mode: u32,
    owner: (u32, u32),
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    content: Vec<u8>,
}

pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Leaf> {
    let mut leaves = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let content = if found.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if found.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        let leaf = Leaf {
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            content,
        };
        leaves.insert(path, leaf);
    }
    leaves
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
