//! The guest of the tests of plugins: a component in Rust, built once with the kit for authors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The component that plays every part. Its target is installed with `rustup target add wasm32-wasip2`,
/// as `cargo xtask test` does.
pub fn wasm() -> &'static [u8] {
    static GUEST: OnceLock<Vec<u8>> = OnceLock::new();
    GUEST.get_or_init(|| example("guest"))
}

/// The component of an example of the kit.
pub fn example(name: &str) -> Vec<u8> {
    built("../opal-plugin-api/kit", "--example", name, &format!("examples/{name}.wasm"))
}

/// The component of a package in `packages/`.
pub fn package(name: &str) -> Vec<u8> {
    built("../../packages", "--package", name, &format!("{name}.wasm"))
}

fn built(folder: &str, what: &str, name: &str, file: &str) -> Vec<u8> {
    let target = target();
    let args = ["build", "--quiet", "--locked", "--release", what, name];
    #[expect(clippy::disallowed_methods, reason = "a build that is waited for")]
    let built = Command::new("cargo")
        .args(args)
        .args(["--target", "wasm32-wasip2", "--target-dir"])
        .arg(&target)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
        // The flags of the tests are for this machine.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "the guest cannot be built: `rustup target add wasm32-wasip2` installs its target"
    );
    std::fs::read(target.join("wasm32-wasip2/release").join(file)).expect("the guest was built")
}

/// `target/guests`, beside the directory of the test that runs.
fn target() -> PathBuf {
    build_directory().join("guests")
}

/// `target`: the test that runs is `target/PROFILE/deps/NAME`.
#[must_use]
pub fn build_directory() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    own.ancestors().nth(3).expect("tests are below `target`").to_owned()
}
