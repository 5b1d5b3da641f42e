//! Puts the pages of `docs/errors` into the binary, for `opal explain`.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script gets its folders from the environment"
)]
fn variable(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(io::Error::other)
}

fn main() -> io::Result<()> {
    let root = variable("CARGO_MANIFEST_DIR")?;
    let pages = Path::new(&root).join("../../docs/errors");
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if name != "README" && path.extension().is_some_and(|extension| extension == "md") {
            names.push((name, path.canonicalize()?));
        }
    }
    names.sort();
    let mut code = String::from("&[\n");
    for (name, path) in &names {
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    code.push(']');
    fs::write(Path::new(&variable("OUT_DIR")?).join("pages.rs"), code)?;
    println!("cargo::rerun-if-changed={}", pages.display());
    Ok(())
}
