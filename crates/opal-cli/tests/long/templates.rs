//! Packages in Python: a component of 18 MB, which only a release build of the helper compiles in a short
//! time. `cargo xtask test --long` builds one.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::needs;

fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().find(|it| it.join("CACHEDIR.TAG").is_file()).unwrap().to_owned()
}

fn run(folder: &Path, line: &[&str]) -> String {
    let tools = target().join("tools/guests/bin");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let done = Command::new(line[0])
        .args(&line[1..])
        .current_dir(folder)
        .env("PATH", path)
        .env("OPAL_ROOT", folder.join(".opal"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{line:?}: {said}");
    said
}

#[test]
fn templates_in_python_are_verified() {
    let opal = target().join("release/opal");
    let helper = target().join("release/opal-plugin-host");
    let has_release = needs::has("a release build of the helper", helper.exists() && opal.exists());
    let tool = target().join("tools/guests/bin/componentize-py");
    if !has_release || !needs::has("`componentize-py` in target/tools/guests", tool.exists()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let opal = opal.display().to_string();
    for kind in ["value", "state", "action", "wrapper"] {
        let (here, name) = (folder.path(), format!("python-{kind}"));
        run(here, &[&opal, "plugin", "init", &name, "--language", "python", "--kind", kind]);
        run(&here.join(&name), &["sh", "build.sh"]);
        let said = run(here, &[&opal, "plugin", "verify", &name]);
        assert!(said.contains("and all laws hold"), "{said}");
    }
}
