//! Decorators in WASM: planned, verified and run like built-in ones, by the helper beside opal.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::fs;
use std::time::{Duration, Instant};

use opal_testing::guest;

use super::rooted;
use crate::support::{Opal, binary};

const TOML: &str = "[package]\nname = \"acme/guest\"\nversion = \"1.2.3\"\n\
                    [plugins]\nwasm = \"plugins/guest.wasm\"\n";

const HEAD: &str = "x-opal-plugin: {name: acme/guest, version: 1.2.3}\nx-opal-decorators:\n";

/// One decorator with the parameter `subject`.
pub(super) fn decorator(name: &str, rest: &str) -> String {
    format!(
        "- name: guest.{name}\n  summary: a decorator of the tests\n  params:\n    type: object\n    \
         properties: {{subject: {{type: string}}}}\n    required: [subject]\n    \
         additionalProperties: false\n{rest}"
    )
}

const VALUE: &str = "  returns: {version: 1.0.0, type: string}\n";

fn manifest() -> String {
    let files = "  x-opal-capabilities: [\"read:data/**\", \"write:data/**\"]\n";
    let state = "  x-opal-block: text\n  x-opal-effect: act\n  \
                 x-opal-resource: {key: [subject], yaml: guest_text}\n";
    let wrapper = "  x-opal-block: required\n  x-opal-effect: act\n  \
                   x-opal-capabilities: [\"write:data/**\", \"set:GUEST\"]\n";
    let policy = "  x-opal-block: required\n  x-opal-effect: act\n  x-opal-attempts: 3\n";
    let slow = format!(
        "  x-opal-block: required\n  x-opal-effect: act\n  \
         x-opal-resource: {{key: [subject], yaml: guest_slow}}\n{files}"
    );
    [
        HEAD.to_owned(),
        decorator("subject", VALUE),
        decorator("file", &format!("{VALUE}{files}")),
        decorator("loop", VALUE),
        decorator("panic", VALUE),
        decorator("now", VALUE),
        decorator("text", &format!("{state}{files}")),
        decorator("wrap", wrapper),
        decorator("hang", wrapper),
        decorator("torn", wrapper),
        decorator("policy", policy),
        decorator("slow", &slow),
    ]
    .concat()
}

const COMMANDS: &str = "fun value() = echo @guest.subject(\"it's $HOME\")\n\
     fun file(path: String) = echo @guest.file(path)\n\
     fun panics() = echo @guest.panic(\"x\")\n\
     fun now() = echo @guest.now(\"x\")\n\
     fun text() {\n    @guest.text(subject=\"data/out\") {\n        content\n    }\n}\n\
     fun wrapped() {\n    @guest.wrap(subject=\"data/token\") {\n        echo $GUEST\n    }\n}\n\
     fun failing() {\n    @guest.wrap(subject=\"data/token\") {\n        exit 3\n    }\n}\n\
     fun waiting() {\n    @guest.wrap(subject=\"data/token\") {\n        echo waiting; sleep 60\n    }\n}\n\
     fun nested() {\n    @guest.wrap(subject=\"data/outer\") {\n        @guest.wrap(subject=\"data/inner\") {\n            \
     echo first; until test -e go1 || ! test -e data; do sleep 0.01; done\n        }\n        \
     echo second; until test -e go2 || ! test -e data; do sleep 0.01; done\n    }\n}\n\
     fun tried() {\n    @guest.policy(subject=\"x\") {\n        echo x >> data/tries\n        \
     test $(wc -l < data/tries) -ge 2\n    }\n}\n\
     fun given_up() {\n    @guest.policy(subject=\"x\") {\n        false\n    }\n}\n\
     fun slow() {\n    @guest.slow(subject=\"data/token\") {\n        echo block\n    }\n}\n";

pub(super) fn project() -> Opal {
    let opal = rooted(COMMANDS)
        .file("opal.mod", "name = \"shop\"\n")
        .file("guest/opal.toml", TOML)
        .file("guest/dim.yaml", manifest())
        .file("guest/plugins/guest.wasm", guest::wasm())
        .file("data/in", "from a file");
    opal.call(&["plugin", "trust", "guest"]).code(0);
    opal.call(&["plugin", "add", "./guest"]).code(0);
    opal
}

/// The helpers of a process.
pub(super) fn helpers(of: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let (state, parent) = (fields.next(), fields.next());
        let is_helper = stat.contains("(opal-plugin-hos") && state != Some("Z");
        is_helper && parent == Some(&of.to_string())
    };
    pids.filter(is_child).collect()
}

#[test]
fn values_of_a_plugin_are_planned_and_run_like_built_in_ones() {
    let opal = project();
    opal.call(&["value"]).code(0).stdout("it's $HOME\n");
    opal.call(&["file", "data/in"]).code(0).stdout("from a file\n");
    opal.call(&["-n", "value"]).code(0).says("guest.subject");
    let denied = opal.call(&["file", "opal.mod"]);
    denied.code(65).says("acme/guest says: `").says("is never for plugins");
    opal.call(&["now"]).code(65).says("was not granted `clock`");
    let failed = opal.call(&["panics"]);
    failed.code(65).says("plugin `acme/guest` 1.2.3 failed in `@guest.panic`");
    // What was planned in a contract is read again, and is the same.
    opal.call(&["plan", "value", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(0).stdout("it's $HOME\n");
}

#[test]
fn a_state_of_a_plugin_is_verified_and_applied() {
    let opal = project();
    opal.call(&["verify", "text"]).says("is not there");
    assert!(!opal.path().join("data/out").exists());
    opal.call(&["text"]).code(0);
    assert_eq!(opal.read("data/out").trim(), "content");
    opal.call(&["verify", "text"]).code(0).says("has this content");
    opal.write("data/out", "other");
    opal.call(&["verify", "text"]).says("has another content");
    opal.call(&["text"]).code(0);
    assert_eq!(opal.read("data/out").trim(), "content");
}

#[test]
fn a_contract_is_about_the_object_that_it_was_made_for() {
    let opal = project();
    let state = "  x-opal-block: text\n  x-opal-effect: act\n  \
                 x-opal-resource: {key: [subject], yaml: guest_object}\n  \
                 x-opal-capabilities: [\"read:data/**\", \"write:data/**\"]\n";
    opal.write("guest/dim.yaml", opal.read("guest/dim.yaml") + &decorator("object", state));
    let task =
        "fun object() {\n    @guest.object(subject=\"data/out\") {\n        content\n    }\n}\n";
    opal.write("commands.opl", task);
    opal.write("data/identity", "one-4711");
    opal.call(&["plugin", "install"]).code(0);
    opal.call(&["object"]).code(0);
    opal.call(&["plan", "object", "-o", "c.plan"]).code(0);
    assert!(!String::from_utf8_lossy(&opal.bytes("c.plan")).contains("one-4711"));
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    // In the desired state, and another one.
    opal.write("data/identity", "two-4712");
    let refused = opal.call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("infra_mutated").says("another object than the contract's");
    opal.write("data/identity", "one-4711");
    opal.call(&["run", "--plan", "c.plan"]).code(0);
}

#[test]
fn what_a_wrapper_opened_is_closed_after_every_outcome() {
    let opal = project();
    opal.call(&["wrapped"]).code(0).stdout("opened\n");
    assert_eq!(opal.read("data/token"), "done");
    opal.call(&["failing"]).code(3);
    assert_eq!(opal.read("data/token"), "failed 3");
    fs::remove_file(opal.path().join("data/token")).unwrap();
    // Nothing is opened by a verification.
    opal.call(&["verify", "wrapped"]);
    assert!(!opal.path().join("data/token").exists());
}

#[test]
fn a_wrapper_is_closed_after_ctrl_c_and_no_process_is_left() {
    let opal = project();
    opal.call(&["value"]).code(0);
    let mut command = opal.interruptible();
    let mut child = command.args(["waiting"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "waiting");
    let helper = helpers(child.id());
    assert_eq!(helper.len(), 1);
    let kill = ["-INT", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(opal.read("data/token"), "stopped");
    let until = Instant::now() + Duration::from_secs(10);
    while fs::metadata(format!("/proc/{}", helper[0])).is_ok() {
        assert!(Instant::now() < until, "the helper is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_policy_judges_the_runs_of_a_block() {
    let opal = project();
    opal.call(&["tried"]).code(0);
    assert_eq!(opal.read("data/tries"), "x\nx\n");
    // The reason for giving up is shown beside the failure.
    opal.call(&["given_up"]).code(1).says("acme/guest says: tried enough");
}

#[test]
fn what_was_opened_is_closed_after_a_time_limit_and_after_a_trap() {
    let opal = project();
    opal.write(
        "commands.opl",
        "fun late() {\n    @timeout(2s) {\n        @guest.wrap(subject=\"data/late\") {\n            sleep 60\n        \
         }\n    }\n}\n\
         fun torn() {\n    @guest.torn(subject=\"data/torn\") {\n        echo block\n    }\n}\n",
    );
    opal.call(&["late"]).code(124);
    assert_eq!(opal.read("data/late"), "stopped");
    let torn = opal.call(&["torn"]);
    torn.code(69).stdout("").says("failed in `@guest.torn`");
    assert_eq!(opal.read("data/torn"), "failed 69");
}

#[test]
fn a_package_has_the_memory_that_its_manifest_asks_for() {
    let opal = project();
    let dim = opal.read("guest/dim.yaml") + &decorator("hundred", VALUE);
    opal.write("guest/dim.yaml", &dim);
    opal.write("commands.opl", "fun hundred() = echo @guest.hundred(\"x\")\n");
    let failed = opal.call(&["hundred"]);
    failed.code(65).says("it needs more memory than it may have").says("`memory_mib: 512`");
    opal.write(
        "guest/dim.yaml",
        dim.replace("version: 1.2.3}", "version: 1.2.3, memory_mib: 128}"),
    );
    opal.call(&["hundred"]).code(0).stdout("104857600\n");
    let info = opal.call(&["plugin", "info", "guest"]);
    info.code(0).says("Engine: WebAssembly").says("Memory: up to 128 MiB for each call");
}

#[test]
fn code_that_is_not_what_its_manifest_says_does_not_run() {
    let opal = project();
    let only = [HEAD.to_owned(), decorator("subject", VALUE)].concat();
    opal.write("guest/dim.yaml", only);
    opal.write("commands.opl", "fun value() = echo @guest.subject(\"x\")\n");
    opal.call(&["plugin", "install"]).code(0);
    let said = opal.call(&["value"]);
    said.code(65).says("it exports action, policy, state, value, wrapper, its manifest says value");
    opal.write("guest/plugins/guest.wasm", "nonsense");
    opal.call(&["value"]).code(65).says("failed in `@guest.subject`");
}

#[test]
fn what_is_added_is_compiled_and_what_cannot_be_compiled_is_named() {
    let opal = project();
    let compiled = || fs::read_dir(opal.path().join(".opal/plugins/compiled")).unwrap().count();
    // The code and its seal.
    assert_eq!(compiled(), 2);
    opal.call(&["value"]).code(0);
    assert_eq!(compiled(), 2);
    opal.write("guest/plugins/guest.wasm", "nonsense");
    let ran = opal.call(&["plugin", "install"]);
    ran.code(0).says("Note: acme/guest 1.2.3 cannot be compiled");
    let json = opal.call(&["plugin", "install", "--json"]).code(0).json();
    assert!(json["notes"][0].as_str().unwrap().contains("cannot be compiled"), "{json}");
}

#[test]
fn keys_that_were_used_on_another_machine_are_named_once() {
    if fs::read_to_string("/etc/machine-id").unwrap_or_default().trim().is_empty() {
        return;
    }
    let opal = project();
    let says = "were used on another machine before";
    opal.call(&["value"]).code(0).hides(says);
    let file = opal.path().join(".opal/credentials/machine");
    let own = fs::read_to_string(&file).unwrap();
    let id = fs::read_to_string("/etc/machine-id").unwrap();
    assert!(!own.contains(id.trim()));
    opal.write(".opal/credentials/machine", "00".repeat(32));
    opal.call(&["value"]).code(0).says(says).says("caches of CI");
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
    opal.call(&["value"]).code(0).hides(says);
}

#[test]
fn without_its_helper_nothing_of_a_plugin_runs() {
    let opal = project();
    let folder = opal.path().join("bin");
    fs::create_dir(&folder).unwrap();
    fs::copy(binary(), folder.join("opal")).unwrap();
    let ran = std::process::Command::new(folder.join("opal"))
        .args(["value"])
        .current_dir(opal.path())
        .env("OPAL_ROOT", opal.path().join(".opal"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(69), "{said}");
    assert!(said.contains("the helper `opal-plugin-host` is not in"), "{said}");
    assert!(said.contains("cargo install --path crates/opal-plugin-host"), "{said}");
}

#[test]
fn a_package_that_sets_what_programs_run_is_accepted_like_a_shell() {
    let opal = project();
    opal.write("guest/dim.yaml", manifest().replace("set:GUEST", "set:LD_PRELOAD"));
    let info = opal.call(&["plugin", "info", "guest"]);
    info.code(0).says("shell: anything you can do").says("guest/dim.yaml:").says("set:LD_PRELOAD");
    opal.call(&["plugin", "install"]).code(0);
    opal.write(".opal/config/policy.toml", "[plugins]\nshell = \"refuse\"\n");
    opal.call(&["value"]).code(77).says("shell");
}

#[test]
fn a_variable_that_was_not_granted_is_not_set_and_the_wrapper_is_closed() {
    let opal = project();
    opal.write("guest/dim.yaml", manifest().replace(", \"set:GUEST\"", ""));
    opal.call(&["plugin", "install"]).code(0);
    let ran = opal.call(&["wrapped"]);
    ran.code(69).says("it sets `GUEST`: the plugin was not granted `set:GUEST`").stdout("");
    assert_eq!(opal.read("data/token"), "failed 69");
}
