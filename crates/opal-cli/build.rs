//! Puts the pages of `docs/errors` into the binary, for `opal explain`, and the templates of packages, for
//! `opal plugin init`: packed, because few runs read them.
//! Names the sources of all it is linked with: `opal` becomes `opal-commands` only where both have the same.
//! Has the programs linked so that they start sooner (`docs/decisions/0010-release-profile.md`).

#[path = "../opal-session/build_name.rs"]
mod build_name;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use miniz_oxide::deflate::compress_to_vec;

#[expect(
    clippy::disallowed_methods,
    reason = "a build script gets its folders from the environment"
)]
fn variable(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(io::Error::other)
}

fn main() -> io::Result<()> {
    if variable("CARGO_CFG_TARGET_ENV")? == "gnu" && variable("HOST")? == variable("TARGET")? {
        link_for_this_machine();
    }
    let root = variable("CARGO_MANIFEST_DIR")?;
    let pages = Path::new(&root).join("../../docs/errors");
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if name != "README" && path.extension().is_some_and(|extension| extension == "md") {
            names.push((name, fs::read_to_string(&path)?));
        }
    }
    names.sort();
    pack("pages", &names)?;
    println!("cargo::rerun-if-changed={}", pages.display());
    let api = Path::new(&root).join("../opal-plugin-api");
    let mut files = Vec::new();
    for folder in ["templates", "wit"] {
        collect(&api, folder, &mut files)?;
        println!("cargo::rerun-if-changed={}", api.join(folder).display());
    }
    files.sort();
    pack("templates", &files)?;
    let linked: Vec<String> = linked("opal-cli")?.into_iter().collect();
    build_name::set(&linked.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The crates of this workspace that one is linked with, itself included.
fn linked(name: &str) -> io::Result<BTreeSet<String>> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = waiting.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let manifest = Path::new("..").join(&name).join("Cargo.toml");
        println!("cargo::rerun-if-changed={}", manifest.display());
        let text = fs::read_to_string(manifest)?;
        let own = text.split("\n[").find(|part| part.starts_with("dependencies]"));
        let names = own.into_iter().flat_map(str::lines).filter(|line| line.starts_with("opal-"));
        waiting
            .extend(names.filter_map(|line| Some(line.split(['.', ' ', '=']).next()?.to_owned())));
    }
    Ok(found)
}

/// The files below a folder, with their paths.
fn collect(top: &Path, folder: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(top.join(folder))? {
        let entry = entry?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(top, &path, files)?;
        } else {
            files.push((path, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

/// Writes texts as one packed file, and a table of their names and lengths.
fn pack(name: &str, texts: &[(String, String)]) -> io::Result<()> {
    let (mut lengths, mut all) = (String::from("&[\n"), String::new());
    for (name, text) in texts {
        let _ = writeln!(lengths, "    ({name:?}, {}),", text.len());
        all.push_str(text);
    }
    lengths.push(']');
    let out = variable("OUT_DIR")?;
    fs::write(Path::new(&out).join(format!("{name}.rs")), lengths)?;
    fs::write(Path::new(&out).join(format!("{name}.packed")), compress_to_vec(all.as_bytes(), 9))
}

/// The oldest C library whose loader reads packed addresses.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn link_for_this_machine() {
    // One library less to load: what unwinds a panic is in the program.
    println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    // A linker that cannot pack says so, and goes on.
    if c_library().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library of this machine.
fn c_library() -> Option<(u32, u32)> {
    #[expect(clippy::disallowed_methods, reason = "a build script asks and waits for the answer")]
    let answer = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let (major, minor) = answer.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
