//! The language server as an editor starts it: over standard input and output, beside `opal`.

mod editor;
mod neovim;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opal_helper::BUILD;
use serde_json::{Value, json};

use editor::{Editor, Numbers, START, edit};

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

/// System calls that start something, reach the network, open a file, or ask what there is.
const WATCHED: &str = "execve,execveat,fork,vfork,socket,connect,bind,open,openat,openat2,creat,unlink,\
                       unlinkat,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat,link,linkat,\
                       stat,lstat,newfstatat,statx,readlink,readlinkat,access,faccessat,faccessat2,chdir";

/// Those of them that only ask whether something is there, and where a link leads.
const ASKING: [&str; 9] = [
    " stat(",
    " lstat(",
    " newfstatat(",
    " statx(",
    " readlink(",
    " readlinkat(",
    " access(",
    " faccessat(",
    " faccessat2(",
];

/// Whether a call asks about a directory above the workspace, or where a project above it begins.
fn asks_above(call: &str, root: &Path) -> bool {
    let above = root
        .ancestors()
        .skip(1)
        .flat_map(|it| [it.to_owned(), it.join("opal.mod"), it.join(".git")]);
    let mut names = above.map(|path| format!("\"{}\"", path.display()));
    ASKING.iter().any(|it| call.contains(it)) && names.any(|name| call.contains(&name))
}

#[test]
fn a_hostile_workspace_gets_no_process_no_network_and_no_file_outside() {
    if Command::new("strace").arg("-V").output().is_err() {
        let is_ci = std::env::var_os("CI").is_some();
        assert!(!is_ci, "in CI nothing is skipped, but strace is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let root = top.join("repository");
    hostile(&top, &root);
    let log = top.join("trace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e"]).arg(format!("trace={WATCHED}")).arg("-o").arg(&log);
    traced.arg(server()).args(["lsp", BUILD]);
    let mut editor = Editor::start(&mut traced, &root);
    let uri = format!("file://{}/commands.opl", root.display());
    let text = std::fs::read_to_string(root.join("commands.opl")).unwrap();
    // Everything before the workspace is known is the loader and the libraries of the program.
    let before = std::fs::read_to_string(&log).unwrap().lines().count();
    editor.open(&uri, &text);
    editor.diagnostics(&uri, 1);
    let whole = json!({ "textDocument": { "uri": uri } });
    for method in ["codeLens", "documentSymbol", "semanticTokens/full", "foldingRange"] {
        editor.request(&format!("textDocument/{method}"), &whole);
    }
    for (line, word) in text.lines().enumerate() {
        let here = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line, "character": word.len() },
        });
        for method in ["hover", "completion", "definition", "signatureHelp"] {
            editor.request(&format!("textDocument/{method}"), &here);
        }
    }
    editor.request("workspace/symbol", &json!({ "query": "" }));
    assert_eq!(editor.end(), Some(0));
    let trace = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<&str> = trace.lines().skip(before).collect();
    assert!(calls.iter().any(|it| it.contains("part.opl")), "the workspace was read: {trace}");
    for call in calls {
        let is_inside = call.contains(&format!("\"{}", root.display()));
        let is_asked = ASKING.iter().any(|it| call.contains(it));
        let is_read = is_asked || call.contains("open") && call.contains("O_RDONLY");
        // The kernel says how much memory a thread may have.
        let is_own =
            call.contains("\"/proc/") || call.contains("\"/sys/fs/cgroup") || call.contains("+++");
        // Of a file that is open, or of a name in a directory that is: those were judged when they were opened.
        let is_held =
            is_asked && !call.contains("AT_FDCWD") && !call.contains("\"/") && !call.contains("/");
        // Where a link of the workspace leads is found out, and then not followed.
        let is_resolved = call.contains(" readlink(") || call.contains(" readlinkat(");
        let is_above = asks_above(call, &root) || is_resolved;
        assert!(is_inside && is_read || is_own || is_held || is_above, "not allowed: {call}");
    }
    assert!(!top.join("ran").exists());
}

/// A repository that wants to run, to read and to reach what it must not.
fn hostile(top: &Path, root: &Path) {
    std::fs::create_dir_all(root.join("plugins/evil/decorators")).unwrap();
    std::fs::write(top.join("secret.opl"), "fun secret() { echo }\n").unwrap();
    let ran = top.join("ran");
    let text = format!(
        "import \"part.opl\"\nimport \"link.opl\"\nimport \"../secret.opl\" as up\nimport? \".env\"\n\n\
         var a = @shell.output(\"touch {ran}\")\nvar b = @file.read(\"/etc/passwd\")\n\
         var c = @http.get(\"http://127.0.0.1:1/\")\nvar d = @evil.run()\n\n\
         fun f() {{\n    touch {ran}\n    @cmd.part.g()\n    @ssh.host(\"127.0.0.1\") {{\n        \
         id\n    }}\n    echo @var.a @var.b @var.c @var.d @env.\n}}\n",
        ran = ran.display()
    );
    let files = [
        ("commands.opl", text.as_str()),
        ("part.opl", "fun g() {\n    echo @env.SECRET\n}\n"),
        (".env", "TOKEN=hunter2\n"),
        ("opal.mod", "name = \"x\"\n\n[plugins]\n\"./plugins/evil\" = \"*\"\n"),
        ("plugins/evil/opal.toml", "[package]\nname = \"a/evil\"\nversion = \"1.0.0\"\n"),
        (".vscode/settings.json", "{\"opal.path\": \"./evil.sh\"}\n"),
    ];
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("../secret.opl", root.join("link.opl")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("etc")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe.opl")).status().unwrap().success());
}
