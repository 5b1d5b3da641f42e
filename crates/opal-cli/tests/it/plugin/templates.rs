//! `opal plugin init`: the templates of packages in code are built with the real tools and verified.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::path::{Path, PathBuf};
use std::process::Command;

use opal_testing::guest::build_directory;
use opal_testing::needs;

use super::rooted;
use crate::support::Opal;

/// What `cargo xtask test` installs: compilers of guests, from PyPI and npm.
fn tools() -> PathBuf {
    build_directory().join("tools/guests")
}

pub(super) fn has(tool: &str) -> bool {
    needs::has(&format!("`{tool}` in target/tools/guests"), tools().join(tool).exists())
}

/// Writes a package from its template, builds it, and verifies it.
fn verified(opal: &Opal, language: &str, kind: &str) {
    let name = format!("{language}-{kind}");
    opal.call(&["plugin", "init", &name, "--language", language, "--kind", kind]).code(0);
    let path = std::env::var("PATH").unwrap();
    let (tools, target) = (tools(), build_directory());
    let first = |folder: &str| tools.join(folder).display().to_string();
    let built = Command::new("sh")
        .arg("build.sh")
        .current_dir(opal.path().join(&name))
        .env("PATH", format!("{}:{}:{path}", first("bin"), first("node_modules/.bin")))
        .env("OPAL_C_TOOLS", &tools)
        .env("CARGO_TARGET_DIR", target.join("guests/templates"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    let verified = opal.call(&["plugin", "verify", &name]);
    verified.code(0).says("and all laws hold").says("tests    ok");
}

#[test]
fn templates_in_rust_are_verified() {
    let opal = rooted("");
    for kind in ["value", "state", "action", "wrapper"] {
        verified(&opal, "rust", kind);
    }
}

#[test]
fn templates_in_c_are_verified() {
    if !has("bin/python-zig") || !has("node_modules/@bytecodealliance/jco-transpile") {
        return;
    }
    let opal = rooted("");
    for kind in ["value", "state", "action", "wrapper"] {
        verified(&opal, "c", kind);
    }
}

#[test]
fn templates_in_javascript_are_verified() {
    if !has("node_modules/.bin/componentize-qjs") {
        return;
    }
    let opal = rooted("");
    for kind in ["value", "state", "action", "wrapper"] {
        verified(&opal, "javascript", kind);
    }
}

/// A value, a state and so on: what the files say, without building them.
#[test]
fn a_template_names_the_package_everywhere() {
    let opal = rooted("");
    for language in ["rust", "python", "javascript", "c"] {
        for kind in ["value", "state", "action", "wrapper"] {
            let name = format!("{language}/my-{kind}");
            let begun =
                opal.call(&["plugin", "init", &name, "--language", language, "--kind", kind]);
            begun.code(0).says("opal plugin verify");
            let folder = opal.path().join(&name);
            for file in files(&folder) {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(!text.contains("__NAME__") && !text.contains("__SEGMENT__"), "{file:?}");
            }
            assert!(opal.read(&format!("{name}/dim.yaml")).contains(&format!("my_{kind}.")));
        }
    }
    let refused = opal.call(&["plugin", "init", "x", "--kind", "state"]);
    refused.code(2).says("a decorator in opal has no `--kind`");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Fields of what an action returned, typed by the manifest.
#[test]
fn the_structured_result_of_an_action_has_the_fields_of_its_manifest() {
    let use_it = |field: &str| {
        format!(
            "fun go() {{\n    let.r = @rust_action.note(path=\"data/log\", line=\"released\")\n    \
             echo \"@let.r.bytes bytes in @let.r.{field}\"\n}}\n"
        )
    };
    let opal = rooted(&use_it("path")).file("opal.mod", "name = \"shop\"\n").file("data/in", "");
    verified(&opal, "rust", "action");
    opal.call(&["plugin", "trust", "rust-action"]).code(0);
    opal.call(&["plugin", "add", "./rust-action"]).code(0);
    opal.call(&["check"]).code(0);
    opal.call(&["-n", "go"]).code(0).says("@rust_action.note");
    opal.call(&["go"]).code(0).stdout("9 bytes in data/log\n");
    opal.call(&["explain", "@rust_action.note"]).code(0).says("{path: String, bytes: Int}");
    opal.write("commands.opl", use_it("size"));
    opal.call(&["check"]).code(65).says("size");
}
