//! Native programs of packages: confined by Landlock and seccomp, ended with everything that they started.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::fs;
use std::path::Path;
use std::process::Command;

use super::rooted;
use opal_testing::processes::eventually;

use crate::support::Opal;

const TOML: &str = "[package]\nname = \"acme/native\"\nversion = \"1.0.0\"\n\
                    [plugins]\nnative = \"plugins/program\"\n";

const MANIFEST: &str = "x-opal-plugin: {name: acme/native, version: 1.0.0}\nx-opal-decorators:\n\
     - name: native.try\n  summary: try something\n  params:\n    type: object\n    \
     properties: {subject: {type: string}}\n    required: [subject]\n    \
     additionalProperties: false\n  returns: {version: 1.0.0, type: string}\n  \
     x-opal-capabilities: [CAPABILITIES]\n";

const MOD: &str =
    "name = \"shop\"\n\n[plugins]\n\"./package\" = { version = \"1.0.0\", native = true }\n";

/// Programs of this test have this name.
fn mark() -> String {
    format!("opal-n{}", std::process::id() % 100_000_000)
}

fn build(opal: &Opal) {
    let folder = opal.path().canonicalize().unwrap();
    let define = |name: &str, value: &str| format!("-D{name}=\"{value}\"");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/native/program.c");
    let built = Command::new("cc")
        .args([
            "-O1".to_owned(),
            define("DATA", folder.join("data").to_str().unwrap()),
            define("OUTSIDE", folder.join("outside").to_str().unwrap()),
            define("MARK", &mark()),
            "-o".to_owned(),
        ])
        .arg(folder.join("package/plugins/program"))
        .arg(source)
        .status()
        .unwrap();
    assert!(built.success());
}

fn project(capabilities: &str) -> Opal {
    let opal = rooted("fun try(what: String) = echo @native.try(what)\n")
        .file("opal.mod", MOD)
        .file("package/opal.toml", TOML)
        .file("package/dim.yaml", MANIFEST.replace("CAPABILITIES", capabilities))
        .file("package/plugins/program", "")
        .file("data/in", "from a file")
        .file("outside/there", "");
    build(&opal);
    opal.call(&["plugin", "trust", "package"]).code(0);
    opal.call(&["plugin", "install"]).code(0);
    opal
}

/// The processes of this test that are still there.
fn orphans() -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let states = all.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    // One that has ended and that nobody has waited for yet is gone.
    let is_alive =
        |stat: &String| stat.contains(&format!("({}) ", mark())) && !stat.contains(") Z ");
    states.filter(is_alive).collect()
}

#[test]
fn a_native_program_can_do_only_what_it_was_granted() {
    let opal = project("\"read:data/**\"");
    for (what, came) in [
        ("hello", "hello"),
        ("read_granted", "done"),
        ("kill_own", "done"),
        ("ptrace", "EPERM"),
        ("process_vm", "EPERM"),
        ("pidfd", "EPERM"),
        ("io_uring", "EPERM"),
        ("namespace", "EPERM"),
        ("kill_parent", "EPERM"),
        ("kill_all", "EPERM"),
        ("unix_socket", "EPERM"),
        ("internet_socket", "EPERM"),
        ("socket_pair", "EPERM"),
        ("exec", "EPERM"),
        ("exec_by_descriptor", "EPERM"),
        ("fork", "EPERM"),
        ("session", "EPERM"),
        ("agent", "no variable"),
        ("variables", "no variables"),
        ("descriptors", "EBADF"),
        ("read_outside", "EACCES"),
        ("read_process", "EACCES"),
        ("write_outside", "EACCES"),
        ("empty_outside", "EPERM"),
        ("mode_outside", "EPERM"),
        ("raise_limit", "EPERM"),
        ("memory", "no memory"),
    ] {
        let ran = opal.call(&["try", what]);
        assert_eq!((what, ran.stdout.trim()), (what, came), "{}", ran.stderr);
    }
    assert_eq!(opal.read("data/in"), "from a file");
    assert!(!opal.path().join("outside/new").exists());
}

#[test]
fn a_native_program_that_misbehaves_fails_its_call_and_leaves_no_process() {
    let opal = project("\"run:true\"");
    for (what, says) in [
        ("crash", "the helper was ended by SIGABRT"),
        ("bad_message", "the helper broke the protocol: a line is not JSON"),
        ("unknown_call", "the helper broke the protocol"),
        ("endless_line", "the helper broke the protocol: a line is longer than"),
        ("hang", "it ran longer than 10 s"),
    ] {
        let ran = opal.call(&["try", what]);
        ran.code(65).says("acme/native").says(says);
    }
    // Whatever it started is gone with it.
    opal.call(&["try", "many"]).code(0).stdout("many\n");
    eventually("no process is left", || orphans().is_empty());
}

#[test]
fn native_code_starts_only_in_runs_and_resolved_plans() {
    let opal = project("\"write:outside/**\"");
    let has_started = || fs::remove_file(opal.path().join("outside/started")).is_ok();
    for words in [&["check"][..], &["list"], &["-n", "try", "hello"], &["explain", "@native.try"]] {
        opal.call(words).code(0);
        assert!(!has_started(), "{words:?}");
    }
    opal.call(&["plan", "try", "hello", "-o", "c.plan"]).code(0);
    assert!(has_started());
    let plan = opal.call(&["plan", "show", "c.plan"]);
    plan.code(0).says("acme/native 1.0.0 (local:./package, native code)");
    assert!(!has_started());
    opal.call(&["try", "hello"]).code(0).stdout("hello\n");
    assert!(has_started());
}

#[test]
fn native_code_needs_the_project_and_the_policy() {
    let opal = project("");
    opal.write("opal.mod", MOD.replace(", native = true", ""));
    let refused = opal.call(&["try", "hello"]);
    refused.code(77).says("it is native code, which opal.mod does not allow");
    refused.says("`native = true`");
    opal.write("opal.mod", MOD);
    opal.call(&["try", "hello"]).code(0);
    opal.write("opal.mod", format!("{MOD}\n[policy.plugins]\nnative = \"refuse\"\n"));
    opal.call(&["try", "hello"]).code(77).says("the policy refuses native code");
}
