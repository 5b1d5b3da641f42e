//! Puts the pages of `docs/errors` into the binary, for `opal explain`, and what is hardly ever run
//! at its end.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told its folders by the environment"
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
    if variable("CARGO_CFG_TARGET_OS")? == "linux" {
        // Code is read in by its neighbourhood. A linker that cannot do this passes over it.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,keep-text-section-prefix");
    }
    if reads_packed_relocations()? {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the loader of this machine takes relocations in their short form, which needs a twentieth
/// of the memory. A binary for older machines is built on one.
fn reads_packed_relocations() -> io::Result<bool> {
    if variable("CARGO_CFG_TARGET_ENV")? != "gnu" || variable("TARGET")? != variable("HOST")? {
        return Ok(false);
    }
    #[expect(clippy::disallowed_methods, reason = "a build script may ask the machine")]
    let answer = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let answer = answer.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    let version = answer.unwrap_or_default();
    let version = version.trim().strip_prefix("glibc ").and_then(|it| it.split_once('.'));
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    Ok(version.is_some_and(|(major, minor)| (number(major), number(minor)) >= (2, 36)))
}
