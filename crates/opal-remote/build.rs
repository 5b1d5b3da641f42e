//! Builds the target helpers and puts them into the library: static, as small as possible, packed.
//!
//! `OPAL_TARGET_HELPERS` names them: `own`, or the targets of the compiler with commas between them. Where
//! it is not set there are none: every build would wait for them after a change of a session. They need
//! nothing but the compiler and the linkers; without `gzip` a helper is embedded as it is.

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

/// Which helpers are built.
const ASKED: &str = "OPAL_TARGET_HELPERS";

/// The one for machines like that which opal is built for.
const OWN: &str = "own";

/// A kind of machine that a helper is built for.
struct Kind {
    /// In the names of the compiler's targets.
    target: &'static str,
    /// In `std::env::consts`.
    arch: &'static str,
    /// As Debian calls it.
    linker: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { target: "x86_64", arch: "x86_64", linker: "x86_64-linux-gnu-gcc" },
    Kind { target: "aarch64", arch: "aarch64", linker: "aarch64-linux-gnu-gcc" },
    Kind { target: "armv7", arch: "arm", linker: "arm-linux-gnueabihf-gcc" },
    Kind { target: "riscv64gc", arch: "riscv64", linker: "riscv64-linux-gnu-gcc" },
];

fn required(name: &str) -> io::Result<String> {
    variable(name).ok_or_else(|| io::Error::other(format!("cargo has not set {name}")))
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed={ASKED}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(required("OUT_DIR")?);
    let asked = variable(ASKED).unwrap_or_default();
    let own = required("TARGET")?;
    let targets = asked.split(',').map(str::trim).filter(|name| !name.is_empty());
    let targets = targets.map(|name| if name == OWN { own.as_str() } else { name });
    let programs: Vec<String> =
        targets.map(|target| embed(&out, target)).collect::<Result<_, _>>()?;
    fs::write(out.join("helpers.rs"), format!("&[{}]", programs.join(", ")))
}

fn embed(out: &Path, target: &str) -> io::Result<String> {
    let kind = KINDS.iter().find(|kind| target.split('-').next() == Some(kind.target));
    let Some(kind) = kind.filter(|_| target.contains("-linux-")) else {
        return Err(io::Error::other(format!("{ASKED}: there is no helper for `{target}`")));
    };
    let root = Path::new(&required("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    for krate in ["opal-core", "opal-files", "opal-session", "opal-target"] {
        for part in ["src", "Cargo.toml"] {
            let path = root.join("crates").join(krate).join(part);
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    let helper = fs::read(build(&root, out, target, kind)?)?;
    let digest: [u8; 32] = Sha256::digest(&helper).into();
    let raw = out.join(format!("opal-target-{}", kind.arch));
    fs::write(&raw, &helper)?;
    let packed = packed(&raw, &raw.with_extension("gz"));
    let (file, is_gzip) = packed.map_or((raw, false), |packed| (packed, true));
    let (arch, bytes) = (kind.arch, helper.len());
    Ok(format!(
        "Program {{ packed: Cow::Borrowed(include_bytes!({:?})), is_gzip: {is_gzip}, bytes: {bytes}, \
         digest: Digest({digest:?}), arch: {arch:?} }}",
        file.display().to_string()
    ))
}

/// The helper as a static program, in a target directory of its own.
fn build(root: &Path, out: &Path, target: &str, kind: &Kind) -> io::Result<PathBuf> {
    let folder = out.join("helper");
    let mut flags = "-Ctarget-feature=+crt-static\u{1f}-Crelocation-model=static".to_owned();
    // Those around it keep the names of directories out of a release.
    if let Some(around) = variable("CARGO_ENCODED_RUSTFLAGS") {
        flags = format!("{around}\u{1f}{flags}");
    }
    let mut command = program(required("CARGO")?);
    command
        .current_dir(root)
        .args(["build", "--package", "opal-target", "--profile", "helper", "--locked"])
        .args(["--target", target])
        .arg("--target-dir")
        .arg(&folder)
        // Only for the helper: `--target` keeps it from what is run while it is built. Without
        // relocations it is a tenth smaller.
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env_remove("RUSTFLAGS")
        .stdout(Stdio::null());
    let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
    if required("HOST")? != target && variable(&linker).is_none() {
        command.env(linker, kind.linker);
    }
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
