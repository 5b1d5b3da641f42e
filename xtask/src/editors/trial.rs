//! The extension in a real editor: code-server, driven in Chromium. Installing it takes minutes.

use std::path::Path;

use crate::chores::{run, run_beside};
use crate::{say, tools};

const FOLDER: &str = "target/tools/editor";

/// The editor, the version of Node that it is built for, and what drives the browser.
const EDITOR: &str = "code-server@4.139.1";
const NODE: &str = "24.21.0";
const DRIVER: &str = "playwright-core@1.65.1";

/// Where pictures go, for a person to review.
const PICTURES: &str = "target/editors/pictures";

/// Without the editor this is skipped, with a message.
pub(crate) fn test(root: &Path) -> Result<(), String> {
    super::pack(root)?;
    run(root, &["cargo", "build", "--workspace", "--bins"])?;
    let machine = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let node = format!("{FOLDER}/node_modules/node-linux-{machine}");
    if let Err(message) = provide(root, machine, &node) {
        say(&format!("skipped: the extension in a real editor: {message}"));
        return Ok(());
    }
    let program = format!("{node}/bin/node");
    let script = "editors/vscode/test/editor.js";
    run(root, &[&program, script, "target/debug", FOLDER, super::vscode::PACKED, PICTURES])?;
    say(&format!("review the pictures in {PICTURES}"));
    Ok(())
}

fn provide(root: &Path, machine: &str, node: &str) -> Result<(), String> {
    let packages = [
        ("chromium", "/usr/bin/chromium"),
        ("npm", "npm"),
        ("g++", "g++"),
        ("make", "make"),
        ("libkrb5-dev", "/usr/include/krb5.h"),
    ];
    tools::provide(root, &packages);
    let is_there = |name: &str| root.join(FOLDER).join("node_modules").join(name).exists();
    let install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", FOLDER];
    if !is_there("playwright-core") || !root.join(node).exists() {
        let package = format!("node-linux-{machine}@{NODE}");
        run(root, &[&install[..], &[&package, DRIVER]].concat())?;
    }
    if !is_there("code-server") {
        // Its native parts are compiled with the headers of that Node.
        let headers = format!("--nodedir={}", root.join(node).display());
        let first = root.join(node).join("bin");
        run_beside(root, Some(&first), &[&install[..], &[&headers, EDITOR]].concat())?;
    }
    Ok(())
}
