//! The one rule for which programs are of the same build: a version, and the same sources.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names the sources of some crates for the crate whose build script this is.
pub(crate) fn set(crates: &[&str]) -> io::Result<()> {
    let mut files = Vec::new();
    for name in crates {
        let sources = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        add(&sources, &mut files)?;
    }
    files.sort();
    // FNV-1a with 128 bits: it tells builds apart and protects nothing.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for path in files {
        let name = path.to_string_lossy().into_owned();
        for byte in name.bytes().chain([0]).chain(fs::read(&path)?).chain([0]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
    let (version, sources) = (env!("CARGO_PKG_VERSION"), hash as u64 ^ (hash >> 64) as u64);
    println!("cargo::rustc-env=OPAL_BUILD={version}+{sources:016x}");
    Ok(())
}

fn add(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => add(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
