//! The official inspector of the Model Context Protocol as a client of `opal mcp`, without a browser.

#![expect(clippy::disallowed_methods, reason = "the inspector is a program of its own")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use opal_testing::guest::build_directory;
use serde_json::Value;

use crate::needs;
use crate::support::{Opal, binary};

const SOURCE: &str =
    "# Deploys.\nfun deploy() {\n    echo deploying\n}\n\nfun test() {\n    echo tested\n}\n";

/// Where npm has put it, with a Node that is new enough.
fn programs() -> Option<PathBuf> {
    let folder = build_directory().join("tools/inspector/node_modules/.bin");
    let is_there = folder.join("mcp-inspector").exists();
    needs::has("the inspector of npm in target/tools/inspector", is_there).then_some(folder)
}

/// What the inspector prints for a method, with these words after it.
fn inspect(opal: &Opal, words: &[&str]) -> Option<Value> {
    let programs = programs()?;
    let home = opal.path().join("home");
    let ran = Command::new(programs.join("mcp-inspector"))
        .args(["--cli", binary().to_str().unwrap(), "mcp"])
        .args(["-e", &format!("HOME={}", home.display())])
        .args(words)
        .current_dir(opal.path())
        .env_clear()
        .env("HOME", &home)
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{words:?}: {said}{}", String::from_utf8_lossy(&ran.stdout));
    Some(serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {said}")))
}

#[test]
fn the_official_inspector_lists_tools_and_calls_them() {
    let opal = Opal::machine(SOURCE);
    // `--strict`: schemas that some clients do not understand are errors.
    let Some(listed) = inspect(&opal, &["--method", "tools/list", "--strict"]) else { return };
    let tools: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["tasks", "check", "explain", "plan", "diff", "contracts", "runs"]);
    let call = |words: &[&str]| {
        let words = [&["--method", "tools/call", "--tool-name"], words].concat();
        inspect(&opal, &words).unwrap()["structuredContent"].clone()
    };
    let tasks = call(&["tasks"]);
    let names = tasks["result"]["tasks"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|it| it["name"]["untrusted"].as_str().unwrap()).collect();
    assert_eq!(names, ["deploy", "test"]);
    let plan = call(&["plan", "--tool-arg", "task=deploy"]);
    assert_eq!(plan["result"]["header"]["mode"], "quick", "{plan:#}");
}
