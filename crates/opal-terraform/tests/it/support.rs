//! Starting providers in tests.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use opal_core::protocol::call::Deed;
use opal_terraform::client::Provider;
use opal_terraform::process::{Start, environment};
use opal_terraform::trouble::Trouble;
use tempfile::TempDir;

/// Runs a test as the helper runs: one thread, with tasks of its own.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// A real provider, if `cargo xtask providers` has built it.
pub(crate) fn real(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("target/tools/providers/terraform-provider-{name}"));
    let needs = format!("terraform-provider-{name} (`cargo xtask providers`)");
    opal_testing::needs::has(&needs, path.is_file()).then_some(path)
}

/// A directory for a test, with a short path: sockets are made in it.
pub(crate) fn directory() -> TempDir {
    tempfile::Builder::new().prefix("tf").tempdir_in("/tmp").unwrap()
}

pub(crate) fn start(program: &Path, directory: &Path) -> Start {
    let step = ["HOME", "PATH"].map(|name| (name.to_owned(), OsString::from("/usr/bin:/bin")));
    Start {
        launcher: env!("CARGO_BIN_EXE_opal-terraform").into(),
        program: program.to_owned().into(),
        directory: directory.to_owned(),
        environment: environment::of_provider(&step.into(), &[], &BTreeMap::new()),
        temporary: directory.to_owned(),
        covered: Vec::new(),
    }
}

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

pub(crate) async fn provider(name: &Path, directory: &Path) -> Result<Provider, Trouble> {
    Provider::start(&start(name, directory), LIMIT).await
}

/// Nobody hears what is about to be done.
pub(crate) async fn quietly(_: Deed) -> Result<(), Trouble> {
    Ok(())
}

/// A program of a few lines in bash.
pub(crate) fn script(directory: &Path, name: &str, lines: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join(name);
    std::fs::write(&path, format!("#!/bin/bash\n{lines}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
