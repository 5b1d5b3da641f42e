//! The language server as an editor starts it: over standard input and output, beside `opal`.

mod editor;
mod hostile;
mod neovim;
mod others;
mod plans;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opal_helper::BUILD;
use serde_json::{Value, json};

use editor::{Editor, Numbers, START, applied, edit, somewhere};

fn server() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_opal-serve"))
}

/// `opal`, which is built beside the helper.
fn opal() -> PathBuf {
    let opal = server().with_file_name("opal");
    assert!(opal.exists(), "build it first: `cargo build -p opal-cli`");
    opal
}

fn rounds() -> u64 {
    let set = std::env::var("OPAL_TEST_ROUNDS").ok().and_then(|it| it.parse().ok());
    set.unwrap_or(100)
}

/// What `opal check` finds: codes and places, but what the shell's own parser says.
fn checked(folder: &Path) -> Vec<(String, u64, u64)> {
    let ran = Command::new(opal())
        .args(["check", "--json", "commands.opl"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    let all = document["files"][0]["diagnostics"].as_array().unwrap();
    let place = |it: &Value| {
        let span = &it["span"];
        let at = |end: &str| span[end]["offset"].as_u64().unwrap();
        (it["code"].as_str().unwrap().to_owned(), at("start"), at("end"))
    };
    let mut found: Vec<_> =
        all.iter().map(place).filter(|(code, ..)| !code.starts_with("E09")).collect();
    found.sort();
    found
}

fn published(text: &str, found: &Value) -> Vec<(String, u64, u64)> {
    let place = |it: &Value| {
        let at = |end: &str| editor::offset(text, &it["range"][end]) as u64;
        (it["code"].as_str().unwrap().to_owned(), at("start"), at("end"))
    };
    let mut found: Vec<_> = found.as_array().unwrap().iter().map(place).collect();
    found.sort();
    found
}

/// A definition is among its references, and renaming back gives the same bytes.
fn agrees(editor: &mut Editor, uri: &str, text: &str, numbers: &mut Numbers) {
    let mut here = json!({
        "textDocument": { "uri": uri },
        "position": somewhere(text, numbers),
        "context": { "includeDeclaration": true },
        "newName": "fresh_name_7",
    });
    let definition = editor.request("textDocument/definition", &here)["result"].take();
    if definition.is_object() && definition["uri"] == uri {
        let mut there = here.clone();
        there["position"] = definition["range"]["start"].clone();
        let references = editor.request("textDocument/references", &there)["result"].take();
        assert!(references.as_array().unwrap().contains(&definition), "{text:?}");
    }
    let prepared = editor.request("textDocument/prepareRename", &here)["result"].take();
    let Some(old) = prepared["placeholder"].as_str() else { return };
    let renamed = editor.request("textDocument/rename", &here)["result"]["changes"].take();
    // One that other files have too is another test.
    let Some(edits) = renamed.get(uri).filter(|_| renamed.as_object().unwrap().len() == 1) else {
        return;
    };
    let (changed, other) = (applied(text, edits), format!("{uri}.renamed.opl"));
    assert_ne!(changed, text);
    editor.open(&other, &changed);
    here["textDocument"]["uri"] = json!(other);
    here["position"] = edits[0]["range"]["start"].clone();
    here["newName"] = json!(old);
    let back = editor.request("textDocument/rename", &here);
    let edits = &back["result"]["changes"][&other];
    assert_eq!(applied(&changed, edits), text, "renaming back `{old}`: {back}");
    editor.notify("textDocument/didClose", &json!({ "textDocument": { "uri": other } }));
}

#[test]
fn after_random_edits_it_says_what_opal_check_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("db.opl"), "fun migrate(steps: Int = 1) {\n    echo @var.steps\n}\n")
        .unwrap();
    let file = root.join("commands.opl");
    let mut editor = Editor::start(Command::new(server()).args(["lsp", BUILD]), &root);
    let uri = format!("file://{}", file.display());
    let (mut text, mut version) = (START.to_owned(), 1);
    editor.open(&uri, &text);
    let mut numbers = Numbers::new(11);
    for round in 0..rounds() {
        version += 1;
        let change = edit(&mut text, &mut numbers);
        editor.change(&uri, version, &json!([change]));
        std::fs::write(&file, &text).unwrap();
        let found = editor.diagnostics(&uri, version);
        assert_eq!(published(&text, &found), checked(&root), "round {round}: {text:?}");
        agrees(&mut editor, &uri, &text, &mut numbers);
        if round % 30 == 29 {
            version += 1;
            START.clone_into(&mut text);
            editor.change(&uri, version, &json!([{ "text": text }]));
        }
    }
    assert_eq!(editor.end(), Some(0));
}

/// Edits for each round of the other test: 100,000 in the long tests.
const EDITS_A_ROUND: u64 = 10;

/// Kilobytes that allocators keep for later.
const SLACK: u64 = 4_096;

#[test]
fn memory_is_the_same_after_random_edits() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("db.opl"), "fun migrate(steps: Int = 1) {\n    echo @var.steps\n}\n")
        .unwrap();
    let mut editor = Editor::start(Command::new(server()).args(["lsp", BUILD]), &root);
    let uri = format!("file://{}/commands.opl", root.display());
    let start = START.repeat(20);
    let (mut text, mut version) = (start.clone(), 1);
    editor.open(&uri, &text);
    let mut numbers = Numbers::new(13);
    let edits = rounds() * EDITS_A_ROUND;
    let mut before = None;
    for round in 0..edits {
        version += 1;
        let change = match round % 50 {
            49 => {
                start.clone_into(&mut text);
                json!({ "text": text })
            }
            _ => edit(&mut text, &mut numbers),
        };
        editor.change(&uri, version, &json!([change]));
        editor.diagnostics(&uri, version);
        if round == edits / 10 {
            before = Some(editor.resident());
        }
    }
    let (before, after) = (before.unwrap(), editor.resident());
    assert!(after <= before + SLACK, "{before} kB, and {after} kB after {edits} edits");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn another_build_and_a_missing_helper_are_not_used() {
    let ran =
        Command::new(server()).args(["lsp", "0.0.1+other"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(ran.status.code(), Some(69));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("is of another build"));
    // The same file in another directory: it is too large to be copied for a test.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = folder.path().canonicalize().unwrap().join("opal");
    std::fs::hard_link(opal(), &alone).unwrap();
    let ran = Command::new(&alone).arg("lsp").stdin(Stdio::null()).output().unwrap();
    assert_eq!(ran.status.code(), Some(69));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("`opal-serve` is not in"), "{said}");
    assert!(said.contains("cargo install"), "it says how to install it: {said}");
}

#[test]
fn opal_becomes_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut editor = Editor::start(Command::new(opal()).arg("lsp").arg("--stdio"), &root);
    let uri = format!("file://{}/commands.opl", root.display());
    editor.open(&uri, "echo @var.nothing\n");
    assert_eq!(editor.diagnostics(&uri, 1)[0]["code"], "E0401");
    let of = std::fs::read_link(format!("/proc/{}/exe", editor.id())).unwrap();
    assert_eq!(of, server().canonicalize().unwrap(), "no process is between");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn an_editor_that_dies_or_talks_nonsense_leaves_no_process() {
    for said in [
        &b""[..],
        b"Content-Length: 99999999999999\r\n\r\n",
        b"Content-Length: 5\r\n\r\n{\"a\"}",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: 20\r\n\r\n[1,2",
    ] {
        let mut child = Command::new(server())
            .args(["lsp", BUILD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(said).unwrap();
        let mut words = String::new();
        child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{:?}", String::from_utf8_lossy(said));
        assert!(!words.contains("panic"), "{words}");
    }
}
