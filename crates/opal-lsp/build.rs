//! Puts the pages of `docs/errors` into the server, for hovers and for clients that show them.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

#[expect(clippy::disallowed_methods, reason = "a build script reads the folders that it is given")]
fn main() -> io::Result<()> {
    let root = std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let pages = Path::new(&root).join("../../docs/errors").canonicalize()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if name != "README" && path.extension().is_some_and(|extension| extension == "md") {
            names.push((name, path));
        }
    }
    names.sort();
    let mut table = String::from("&[\n");
    for (name, path) in names {
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push(']');
    println!("cargo::rerun-if-changed={}", pages.display());
    let out = std::env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("pages.rs"), table)
}
