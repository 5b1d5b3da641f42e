//! OpenTofu or Terraform, which opal is compared with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::needs;

/// The OpenTofu that was built for comparisons, or what the machine has.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "only starting it shows whether it works")]
pub fn program() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/opentofu/tofu");
    let answers =
        |it: &PathBuf| Command::new(it).arg("version").output().is_ok_and(|it| it.status.success());
    let found = [own, "tofu".into(), "terraform".into()].into_iter().find(answers);
    let is_there = needs::has("tofu or terraform", found.is_some());
    found.filter(|_| is_there)
}

/// Runs it in a directory, with providers that were built: the name of each, `hashicorp/local`, and the directory
/// with its program.
///
/// # Panics
/// If it cannot be started.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "it is waited for")]
pub fn run(
    program: &Path,
    directory: &Path,
    providers: &[(&str, &Path)],
    words: &[&str],
) -> Output {
    let each =
        providers.iter().map(|(name, folder)| format!("\"{name}\" = \"{}\"\n", folder.display()));
    let each: String = each.collect();
    let rc = format!("provider_installation {{\ndev_overrides {{\n{each}}}\n}}\n");
    std::fs::write(directory.join("rc"), rc).unwrap();
    Command::new(program)
        .args(words)
        .current_dir(directory)
        .env("TF_CLI_CONFIG_FILE", directory.join("rc"))
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap()
}
