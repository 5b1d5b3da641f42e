//! `opal ui`: what its pages show, and above all who cannot have them.

mod attacks;
mod client;
mod deciding;
mod limits;
mod live;
mod pages;
mod socket;
mod started;
mod tickets;
mod touch;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use client::Answer;
pub(crate) use started::Ui;

/// The files under a directory, with what they hold.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            all.extend(files(&path));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            all.push((path, bytes));
        }
    }
    all
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}
