//! Puts the pages of `docs/errors` into the binary, for `opal explain`; code that short runs execute at
//! its beginning, and what is hardly ever run at its end. All of it stands at one address.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
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
        if variable("PROFILE")? == "release" {
            put_code_in_order(Path::new(&root))?;
            fix_the_address()?;
        }
    }
    if reads_packed_relocations()? {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Lets the linker put side by side what short runs execute, and take the code that unwinds from its
/// archive, which is one library less to load: `docs/decisions/0008-order-of-code.md`.
fn put_code_in_order(root: &Path) -> io::Result<()> {
    let list = root.join("layout.txt");
    println!("cargo::rerun-if-changed={}", list.display());
    let script = Path::new(&variable("OUT_DIR")?).join("layout.ld");
    fs::write(&script, linker_script(&fs::read_to_string(&list)?))?;
    let argument = format!("-Wl,-T,{}", script.display());
    if links(&format!("-Clink-arg={argument}"))? {
        println!("cargo::rustc-link-arg-bins={argument}");
    } else {
        println!("cargo::warning=this linker leaves code as it comes; opal takes more memory");
    }
    if variable("CARGO_CFG_TARGET_ENV")? == "gnu" && links("-lstatic=gcc_eh")? {
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
    Ok(())
}

/// Lets the code stand at one address, so that nothing in it has to be put right at every start:
/// `docs/decisions/0009-fixed-address.md`. Who must have it elsewhere each time sets `OPAL_PIE`.
fn fix_the_address() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=OPAL_PIE");
    if variable("OPAL_PIE").is_err()
        && variable("CARGO_CFG_TARGET_ENV")? == "gnu"
        && links("-Clink-arg=-no-pie")?
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    Ok(())
}

/// Adds to what the linker does anyway: the functions of the list first, in its order. A name that is
/// no longer there matches nothing.
fn linker_script(list: &str) -> String {
    let mut script = String::from("SECTIONS\n{\n  .text.early :\n  {\n");
    for name in list.lines().filter(|line| !line.starts_with('#')) {
        let _ = writeln!(script, "    *(.text.{name} .text.unlikely.{name})");
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    script
}

/// Whether a program can be linked with this flag, by the compiler and linker of this build. There are
/// linkers without scripts and systems without archives, and neither may break a build.
fn links(flag: &str) -> io::Result<bool> {
    let folder = variable("OUT_DIR")?;
    let source = Path::new(&folder).join("trial.rs");
    fs::write(&source, "fn main() {}")?;
    let mut rustc = command(&variable("RUSTC")?);
    rustc.args(["--target", &variable("TARGET")?, "--out-dir", &folder, flag]).arg(source);
    if let Ok(linker) = variable("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    Ok(rustc.output()?.status.success())
}

#[expect(clippy::disallowed_methods, reason = "a build script may ask the machine")]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// Whether the loader of this machine takes relocations in their short form, which needs a twentieth
/// of the memory. A binary for older machines is built on one.
fn reads_packed_relocations() -> io::Result<bool> {
    if variable("CARGO_CFG_TARGET_ENV")? != "gnu" || variable("TARGET")? != variable("HOST")? {
        return Ok(false);
    }
    let answer = command("getconf").arg("GNU_LIBC_VERSION").output();
    let answer = answer.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    let version = answer.unwrap_or_default();
    let version = version.trim().strip_prefix("glibc ").and_then(|it| it.split_once('.'));
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    Ok(version.is_some_and(|(major, minor)| (number(major), number(minor)) >= (2, 36)))
}
