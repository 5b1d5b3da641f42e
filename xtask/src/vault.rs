//! A real Vault for the tests of `packages/vault`, built from its Go modules and kept between runs.
//!
//! Its modules are pinned by version, and Go checks their bytes against its public log of checksums. It takes some
//! minutes, so only the long tests use it.

use std::fs;
use std::path::Path;

use crate::chores::run;
use crate::{providers, say};

/// The program that serves it, and its sources.
const SOURCES: &str = "crates/opal-cli/tests/fixtures/vault";
const FOLDER: &str = "target/tools/vault";
const PROGRAM: &str = "vault-server";

/// Builds it where it is missing. The tests that need it say so where it could not be built.
pub(crate) fn provide(root: &Path) {
    if let Err(message) = build(root) {
        say(&format!("Vault is missing: {message}"));
    }
}

fn build(root: &Path) -> Result<(), String> {
    let go = providers::go(root)?;
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("`{FOLDER}`: {error}"))?;
    let mut is_new = !folder.join(PROGRAM).is_file();
    for name in ["go.mod", "main.go"] {
        let text = fs::read(root.join(SOURCES).join(name));
        let text = text.map_err(|error| format!("`{SOURCES}/{name}`: {error}"))?;
        // Go completes its `go.mod`, so what was built is compared with a copy.
        let copy = folder.join(format!("{name}.built"));
        if fs::read(&copy).is_ok_and(|known| known == text) {
            continue;
        }
        is_new = true;
        for file in [folder.join(name), copy] {
            fs::write(&file, &text).map_err(|error| format!("`{}`: {error}", file.display()))?;
        }
    }
    if !is_new {
        return Ok(());
    }
    let _ = fs::remove_file(folder.join(PROGRAM));
    run(&folder, &[&go, "build", "-mod=mod", "-trimpath", "-o", PROGRAM, "."])
}
