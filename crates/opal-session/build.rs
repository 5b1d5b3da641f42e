//! Names the sources that the target helper is made of: opal and its helper are of the same build if
//! they have the same name for them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for krate in ["opal-core", "opal-files", "opal-session"] {
        let sources = Path::new("..").join(krate).join("src");
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
    println!("cargo::rustc-env=OPAL_BUILD={:016x}", hash as u64 ^ (hash >> 64) as u64);
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
