//! Runs the script `tests/fixtures/providers.sh`.

#![expect(clippy::disallowed_methods, reason = "the script is waited for")]

use std::path::Path;
use std::process::Command;

use crate::support::binary;

/// A provider that `cargo xtask providers` has built.
fn has(name: &str) -> bool {
    let path = folder().join(format!("terraform-provider-{name}"));
    let needs = format!("terraform-provider-{name} (`cargo xtask providers`)");
    opal_testing::needs::has(&needs, path.is_file())
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/providers")
}

/// The whole story. `rounds` says how often processes are killed.
pub(crate) fn run(rounds: u32) {
    if !["box", "local", "random", "time", "tls"].into_iter().all(has) {
        return;
    }
    // Sockets are made in it.
    let home = tempfile::Builder::new().prefix("tf").tempdir_in("/tmp").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers.sh");
    let programs = binary().parent().unwrap().display().to_string();
    let done = Command::new("bash")
        .arg(script)
        .current_dir(home.path())
        .env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()))
        .env("HOME", home.path())
        .env("PROVIDERS", folder().canonicalize().unwrap())
        .env("ROUNDS", rounds.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success() && said.ends_with("the whole story holds\n"), "{said}");
}
