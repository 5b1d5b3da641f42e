//! Builds the target helper and puts it into the library: static, as small as possible, packed.
//!
//! Only for a release of a program that sends it (the feature `embed`), or with `OPAL_EMBED=1`: a debug
//! build would wait for it after every change of a session. It needs nothing but the compiler and
//! linker that build opal; without `gzip` it is embedded as it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script gets its settings from the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "a build script starts cargo and waits for it")]
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

/// Cargo sets it to `1`.
fn has_feature() -> bool {
    variable("CARGO_FEATURE_EMBED").is_some()
}

fn required(name: &str) -> io::Result<String> {
    variable(name).ok_or_else(|| io::Error::other(format!("cargo has not set {name}")))
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=OPAL_EMBED");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(required("OUT_DIR")?);
    let is_linux = required("CARGO_CFG_TARGET_OS")? == "linux";
    let is_asked = match variable("OPAL_EMBED").as_deref() {
        Some(asked) => asked != "0",
        None => has_feature() && required("PROFILE")? == "release",
    };
    let code = match is_linux && is_asked {
        true => embed(&out)?,
        false => "None".to_owned(),
    };
    fs::write(out.join("helper.rs"), code)
}

fn embed(out: &Path) -> io::Result<String> {
    let root = Path::new(&required("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    for krate in ["opal-core", "opal-files", "opal-session", "opal-target"] {
        for part in ["src", "Cargo.toml"] {
            let path = root.join("crates").join(krate).join(part);
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    let helper = fs::read(build(&root, out)?)?;
    let digest: [u8; 32] = Sha256::digest(&helper).into();
    let raw = out.join("opal-target");
    fs::write(&raw, &helper)?;
    let packed = packed(&raw, &out.join("opal-target.gz"));
    let (file, is_gzip) = packed.map_or((raw, false), |packed| (packed, true));
    let arch = required("CARGO_CFG_TARGET_ARCH")?;
    let bytes = helper.len();
    Ok(format!(
        "Some(Program {{ packed: Cow::Borrowed(include_bytes!({:?})), is_gzip: {is_gzip}, bytes: {bytes}, \
         digest: Digest({digest:?}), arch: {arch:?} }})",
        file.display().to_string()
    ))
}

/// The helper as a static program, in a target directory of its own.
fn build(root: &Path, out: &Path) -> io::Result<PathBuf> {
    let (target, folder) = (required("TARGET")?, out.join("helper"));
    let mut flags = "-Ctarget-feature=+crt-static\u{1f}-Crelocation-model=static".to_owned();
    // Those around it keep the names of directories out of a release.
    if let Some(around) = variable("CARGO_ENCODED_RUSTFLAGS") {
        flags = format!("{around}\u{1f}{flags}");
    }
    let mut command = program(required("CARGO")?);
    command
        .current_dir(root)
        .args(["build", "--package", "opal-target", "--profile", "helper", "--locked"])
        .args(["--target", &target])
        .arg("--target-dir")
        .arg(&folder)
        // Only for the helper: `--target` keeps it from what is run while it is built. Without
        // relocations it is a tenth smaller.
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env_remove("RUSTFLAGS")
        .stdout(Stdio::null());
    match command.status()?.success() {
        true => Ok(folder.join(target).join("helper/opal-target")),
        false => Err(io::Error::other("the target helper cannot be built; see the errors above")),
    }
}

/// The same, packed; none where there is no `gzip`.
fn packed(raw: &Path, to: &Path) -> Option<PathBuf> {
    let (input, output) = (File::open(raw).ok()?, File::create(to).ok()?);
    let packed = program("gzip").args(["-9", "-n", "-c"]).stdin(input).stdout(output).status();
    packed.is_ok_and(|status| status.success()).then(|| to.to_owned())
}
