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
        // Calls that are newer than the filter, and all calls once more under the numbers of the x32 ABI.
        ("new_call", "ENOSYS"),
        ("x_call", "ENOSYS"),
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
fn people_read_what_native_code_gets_before_they_accept_it() {
    let opal = project("\"read:data/*.txt\", \"run:true\", \"net:a.example\", \"secrets\"");
    let info = opal.call(&["plugin", "info", "package"]);
    info.code(0).says("Engine: native code, which the kernel confines and opal does not see");
    info.says("net:a.example: any host, by itself");
    info.says("run:true: any program, by itself: can run code");
    info.says("read:data/*.txt: reads everything below data");
    info.says("can send secrets to any host, any program");
}

#[test]
fn a_native_program_gets_no_directory_with_something_reserved_in_it() {
    let opal = project("\"write:data/**\"");
    opal.call(&["try", "read_granted"]).code(0).stdout("done\n");
    opal.write("data/task.opl", "");
    let refused = opal.call(&["try", "hello"]);
    refused.code(65).says("`write:data/**` gives native code all of").says("task.opl` is never");
    fs::remove_file(opal.path().join("data/task.opl")).unwrap();
    // The directory of the pattern leads to the keys of opal.
    fs::remove_file(opal.path().join("data/in")).unwrap();
    fs::remove_dir(opal.path().join("data")).unwrap();
    std::os::unix::fs::symlink(".opal", opal.path().join("data")).unwrap();
    opal.call(&["try", "hello"]).code(65).says(".opal` is never for plugins");
    let opal = project("\"read:**\"");
    opal.call(&["try", "hello"])
        .code(65)
        .says("is never for plugins")
        .says("names a directory with nothing like that");
}

#[test]
fn a_native_package_is_verified_as_far_as_it_can_be_and_published() {
    let opal = project("");
    let verified = opal.call(&["plugin", "verify", "package"]);
    verified.code(0).says("skipped  @native.try: it is native code");
    verified.says("verified: its files and its manifest. Its code was not tested.");
    opal.call(&["plugin", "pack", "package"]).code(0).says("packed acme/native 1.0.0");
    opal.call(&["keys", "generate"]).code(0);
    let to = format!("file:{}", opal.path().join("registry").display());
    let publish = ["plugin", "publish", "package", "--to", &to];
    opal.call(&publish).code(0).says("published acme/native 1.0.0");
    // What was not tested has not passed.
    opal.call(&["plugin", "verify", "package", "--report", "report.json"]).code(0);
    let attest = [&publish[..], &["--attest", "--report", "report.json"]].concat();
    opal.call(&attest).code(77).says("`@native.try` of acme/native 1.0.0 was not tested");
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

fn start(opal: &Opal, words: &[&str]) -> std::process::Child {
    opal.interruptible().args(words).stderr(std::process::Stdio::piped()).spawn().unwrap()
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn what_a_native_program_started_ends_with_opal_however_opal_ends() {
    let opal = project("\"run:true\"");
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let mut child = start(&opal, &["try", "linger"]);
        eventually("it has started a process", || !orphans().is_empty());
        kill(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), code, "{signal}");
        eventually("no process is left", || orphans().is_empty());
    }
}

#[test]
fn a_fork_bomb_ends_with_its_call() {
    // The system may not let a program have so many processes: either way the call ends, and they with it.
    let opal = project("\"run:true\"");
    opal.call(&["try", "bomb"]).code(65).says("acme/native");
    eventually("no process is left", || orphans().is_empty());
}

/// A program that takes Landlock from what it starts, as a kernel without it would.
const WITHOUT_LANDLOCK: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter all[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof all / sizeof all[0], all};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter)) return 99;
    execv(argv[1], argv + 1);
    return 98;
}
"#;

#[test]
fn without_landlock_native_code_needs_a_policy_of_the_machine() {
    let opal = project("\"read:data/**\"").file("without.c", WITHOUT_LANDLOCK);
    let wrapper = opal.path().join("without");
    let built =
        Command::new("cc").arg("-o").arg(&wrapper).arg(opal.path().join("without.c")).status();
    assert!(built.unwrap().success());
    let run = |what: &str| {
        let ran = Command::new(&wrapper)
            .arg(crate::support::binary())
            .args(["try", what])
            .current_dir(opal.path())
            .env("OPAL_ROOT", opal.path().join(".opal"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
    };
    let (code, _, said) = run("hello");
    assert_eq!(code, Some(65), "{said}");
    assert!(said.contains("this kernel has no Landlock"), "{said}");
    assert!(said.contains("native = \"unconfined\""), "{said}");
    // A project cannot say so for the machine.
    opal.write("opal.mod", format!("{MOD}\n[policy.plugins]\nnative = \"unconfined\"\n"));
    assert_eq!(run("hello").0, Some(65));
    opal.write("opal.mod", MOD);
    opal.write(".opal/config/policy.toml", "[plugins]\nnative = \"unconfined\"\n");
    let (code, printed, said) = run("hello");
    assert_eq!((code, printed.as_str()), (Some(0), "hello\n"), "{said}");
    // seccomp still holds.
    for (what, came) in [("ptrace", "EPERM\n"), ("internet_socket", "EPERM\n"), ("fork", "EPERM\n")]
    {
        assert_eq!(run(what).1, came, "{what}");
    }
}

#[test]
fn of_both_engines_a_package_runs_the_component() {
    let opal = project("");
    let toml = TOML.replace("native = ", "wasm = \"plugins/guest.wasm\"\nnative = ");
    opal.write("package/opal.toml", toml);
    fs::write(opal.path().join("package/plugins/guest.wasm"), "not a component").unwrap();
    opal.call(&["plugin", "install"]).code(0);
    // The component is broken, and the program is not tried in its place.
    opal.call(&["try", "hello"]).code(65).says("failed in `@native.try`");
    assert!(!opal.path().join("outside/started").exists());
}
