//! Packages in Python: a component of 18 MB, which only a release build of the helper compiles in a short
//! time. `cargo xtask test --long` builds one.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::path::Path;
use std::process::Command;

use opal_testing::guest;

use crate::needs;

use crate::story::Story;

/// Whether there is a release build, and what makes components of Python.
fn is_ready() -> bool {
    let has = |name: &str| guest::build_directory().join("release").join(name).exists();
    let has_release =
        ["opal", "opal-commands", "opal-extra", "opal-plugin-host"].into_iter().all(has);
    let tool = guest::build_directory().join("tools/guests/bin/componentize-py");
    needs::has("a release build of opal and its helpers", has_release)
        && needs::has("`componentize-py` in target/tools/guests", tool.exists())
}

fn run(folder: &Path, line: &[&str]) -> String {
    let tools = guest::build_directory().join("tools/guests/bin");
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
    if !is_ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let opal = guest::build_directory().join("release/opal").display().to_string();
    for kind in ["value", "state", "action", "wrapper"] {
        let (here, name) = (folder.path(), format!("python-{kind}"));
        run(here, &[&opal, "plugin", "init", &name, "--language", "python", "--kind", kind]);
        run(&here.join(&name), &["sh", "build.sh"]);
        let said = run(here, &[&opal, "plugin", "verify", &name]);
        assert!(said.contains("and all laws hold"), "{said}");
    }
}

#[test]
fn the_whole_story_of_packages_holds_in_every_language() {
    if !is_ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("guest.wasm");
    std::fs::write(&component, guest::wasm()).unwrap();
    let programs = guest::build_directory().join("release");
    let languages = "rust python javascript c";
    Story { programs: &programs, languages, guest: &component, registry: None }.run();
}
