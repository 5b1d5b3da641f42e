//! A stranger's repository: what the server asks of the system while it is open.

use std::path::Path;
use std::process::Command;

use opal_helper::BUILD;
use serde_json::json;

use super::editor::Editor;
use super::server;

/// System calls that start something, reach the network, open a file, or ask what there is.
const WATCHED: &str = "execve,execveat,fork,vfork,clone,clone3,ptrace,socket,socketpair,connect,bind,sendto,\
                       io_uring_setup,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,\
                       mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,link,linkat,truncate,ftruncate,chmod,\
                       fchmod,fchmodat,chown,lchown,fchown,fchownat,utimensat,setxattr,mount,stat,lstat,\
                       newfstatat,statx,readlink,readlinkat,access,faccessat,faccessat2,chdir,chroot";

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

/// Calls that open a file.
const OPENING: [&str; 3] = [" open(", " openat(", " openat2("];

/// Whether a call opens a file to read it.
fn reads(call: &str) -> bool {
    let writes = ["O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
    OPENING.iter().any(|it| call.contains(it))
        && call.contains("O_RDONLY")
        && !writes.iter().any(|it| call.contains(it))
}

/// Whether a call asks about a directory above the workspace, or where a project above it begins.
fn asks_above(call: &str, root: &Path) -> bool {
    let above = root
        .ancestors()
        .skip(1)
        .flat_map(|it| [it.to_owned(), it.join("opal.mod"), it.join(".git")]);
    let mut names = above.map(|path| format!("\"{}\"", path.display()));
    ASKING.iter().any(|it| call.contains(it)) && names.any(|name| call.contains(&name))
}

/// Whether a server that only reads a workspace and the packages of a cache makes such a call.
fn is_allowed(call: &str, root: &Path, cache: &Path) -> bool {
    let inside = [root, cache].map(|it| format!("\"{}", it.display()));
    let is_inside = inside.iter().any(|it| call.contains(it));
    let is_asked = ASKING.iter().any(|it| call.contains(it));
    let is_read = is_asked || reads(call);
    // The kernel says how much memory a thread may have.
    let own = ["\"/proc/self/", "\"/sys/fs/cgroup"];
    let is_own = is_read && own.iter().any(|it| call.contains(it))
        || call.contains(" +++ ")
        || call.contains(" clone") && call.contains("CLONE_THREAD");
    // Of a file that is open, or of a name in a directory that is: those were judged when they were opened,
    // and what is read of them is not a link.
    let is_below = !call.contains("AT_FDCWD") && !call.contains('/');
    let is_held = is_below && (is_asked || reads(call) && call.contains("O_NOFOLLOW"));
    // Where a link of the workspace leads is found out, and then not followed.
    let is_resolved = call.contains(" readlink(") || call.contains(" readlinkat(");
    let is_above = asks_above(call, root) || is_resolved;
    is_inside && is_read || is_own || is_held || is_above
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
    let cache = top.join("cache");
    let package = cache.join("ab".repeat(32));
    std::fs::create_dir_all(package.join("decorators")).unwrap();
    std::fs::write(
        package.join("opal.toml"),
        "[package]\nname = \"a/kept\"\nversion = \"1.0.0\"\n",
    )
    .unwrap();
    let log = top.join("trace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e"]).arg(format!("trace={WATCHED}")).arg("-o").arg(&log);
    traced.arg(server()).args(["lsp", BUILD]).arg(&cache);
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
        for method in ["hover", "completion", "definition", "signatureHelp", "prepareRename"] {
            editor.request(&format!("textDocument/{method}"), &here);
        }
        let mut here = here;
        here["newName"] = json!("fresh");
        here["context"] = json!({ "includeDeclaration": true, "diagnostics": [] });
        here["range"] = json!({ "start": here["position"], "end": here["position"] });
        here["options"] = json!({ "tabSize": 4, "insertSpaces": true });
        for method in ["references", "rename", "codeAction", "rangeFormatting"] {
            editor.request(&format!("textDocument/{method}"), &here);
        }
    }
    let name = json!({ "line": FUNCTION_LINE, "character": 5 });
    let named = json!({ "textDocument": { "uri": uri }, "position": name, "newName": "fresh" });
    let renamed = editor.request("textDocument/rename", &named);
    assert!(renamed["result"].is_object() || renamed["error"].is_object(), "{renamed}");
    editor.notify("textDocument/didSave", &whole);
    editor.request("workspace/symbol", &json!({ "query": "" }));
    assert_eq!(editor.end(), Some(0));
    let trace = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<&str> = trace.lines().skip(before).collect();
    for read in ["part.opl", "evil/decorators/run.opl", &"ab".repeat(32)] {
        assert!(calls.iter().any(|it| it.contains(read)), "`{read}` was read: {trace}");
    }
    for call in calls {
        assert!(is_allowed(call, &root, &cache), "not allowed: {call}");
    }
    assert!(!top.join("ran").exists());
}

/// The line, from 0, of the function in the source of the repository.
const FUNCTION_LINE: u64 = 10;

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
    let lock = format!(
        "version = 1\n\n[[plugin]]\nname = \"a/kept\"\nversion = \"1.0.0\"\n\
         source = \"registry+https://packages.example\"\nchecksum = \"sha256:{}\"\n\
         capabilities = []\nrequires = []\n",
        "ab".repeat(32)
    );
    let files = [
        ("commands.opl", text.as_str()),
        ("part.opl", "fun g() {\n    echo @env.SECRET\n}\n"),
        (".env", "TOKEN=hunter2\n"),
        (
            "opal.mod",
            "name = \"x\"\n\n[registries]\na = \"https://packages.example\"\n\n[plugins]\n\
             \"./plugins/evil\" = \"1.0.0\"\n\"a/kept\" = \"1.0.0\"\n",
        ),
        ("opal.lock", lock.as_str()),
        ("plugins/evil/decorators/run.opl", "# Runs.\nfun evil.run() {\n    touch ran\n}\n"),
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
