//! The extension for VS Code: compiled, tried and packed in `target/editors/vscode`, so that nothing is built between
//! the sources.

use std::fs;
use std::path::Path;

use super::copy;
use crate::chores::{answers, run, run_with};
use crate::say;

const SOURCE: &str = "editors/vscode";
const BUILD: &str = "target/editors/vscode";
pub(super) const PACKED: &str = "target/editors/opal.vsix";

/// What packs it; only for that, so it is not among what the extension is built with.
const PACKER: &str = "@vscode/vsce@4.1.0";
const PACKER_FOLDER: &str = "target/tools/vsce";
const PACKER_PROGRAM: &str = "target/tools/vsce/node_modules/@vscode/vsce/vsce";

/// The least version that the packer runs on, and one from npm for a machine that has an older one.
const LEAST_NODE: u32 = 22;
const NODE_FOLDER: &str = "target/tools/node";
const NODE_VERSION: &str = "22.20.0";

/// The schemas that the extension shows for files in YAML.
const SCHEMAS: [&str; 4] = ["blueprint-1.json", "config-1.json", "module-1.json", "profile-1.json"];

pub(crate) fn pack(root: &Path) -> Result<(), String> {
    let node = node(root)?;
    let build = root.join(BUILD);
    let failed = |error: std::io::Error| format!("`{BUILD}`: {error}");
    for folder in ["src", "test", "out", "syntaxes", "snippets", "schemas"] {
        let _ = fs::remove_dir_all(build.join(folder));
    }
    copy(&root.join(SOURCE), &build).map_err(failed)?;
    fs::create_dir_all(build.join("schemas")).map_err(failed)?;
    for name in SCHEMAS {
        fs::copy(root.join("docs/schema").join(name), build.join("schemas").join(name))
            .map_err(failed)?;
    }
    fs::copy(root.join("LICENSE-MIT"), build.join("LICENSE")).map_err(failed)?;
    // Scripts of packages do not run: nothing here needs one.
    run(&build, &["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    let tool = |name: &str| format!("node_modules/{name}");
    run(&build, &[&node, &tool("typescript/bin/tsc"), "--noEmit"])?;
    let bundled = ["src/extension.ts", "--bundle", "--platform=node", "--target=node20"];
    let esbuild =
        [&bundled[..], &["--format=cjs", "--external:vscode", "--log-level=warning"]].concat();
    let program = tool("esbuild/bin/esbuild");
    run(
        &build,
        &[&[&*node, &program], &esbuild[..], &["--outfile=out/test/extension.js"]].concat(),
    )?;
    // The problem matcher and the list of tasks are tried with what `opal` prints.
    let opal = root.join("target/debug/opal").display().to_string();
    let tests = [&*node, "--test", "test/pure.test.js", "test/contributed.test.js"];
    run_with(&build, &[("OPAL", &opal)], &tests)?;
    run(
        &build,
        &[&[&*node, &program], &esbuild[..], &["--minify", "--outfile=out/extension.js"]].concat(),
    )?;
    let packer = root.join(PACKER_PROGRAM).display().to_string();
    if !root.join(PACKER_PROGRAM).exists() {
        run(
            root,
            &["npm", "install", "--silent", "--ignore-scripts", "--prefix", PACKER_FOLDER, PACKER],
        )?;
    }
    let packed = root.join(PACKED).display().to_string();
    let options = ["--no-dependencies", "--allow-missing-repository", "--out", &packed];
    run(&build, &[&[&*node, &packer, "package"], &options[..]].concat())?;
    say(&format!("packed {PACKED}"));
    Ok(())
}

/// A Node that is new enough: the one of the machine, or one from npm.
fn node(root: &Path) -> Result<String, String> {
    let version = answers(&["node", "--version"]).unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|it| it.parse().ok());
    if major.is_some_and(|major: u32| major >= LEAST_NODE) {
        return Ok("node".to_owned());
    }
    let machine = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("node-linux-{machine}");
    let program = root.join(NODE_FOLDER).join("node_modules").join(&package).join("bin/node");
    if !program.exists() {
        let package = format!("{package}@{NODE_VERSION}");
        run(root, &["npm", "install", "--silent", "--prefix", NODE_FOLDER, &package])?;
    }
    Ok(program.display().to_string())
}
