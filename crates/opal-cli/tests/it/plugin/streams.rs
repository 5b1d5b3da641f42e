//! Decorators of packages after `<` and `>`: they run beside a step, and its streams reach them in chunks.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::fs;
use std::sync::OnceLock;

use opal_testing::guest;

use super::rooted;
use crate::support::Opal;

const TOML: &str = "[package]\nname = \"acme/store\"\nversion = \"1.0.0\"\n\
                    [plugins]\nwasm = \"plugins/store.wasm\"\n";

fn manifest() -> String {
    let decorator = |name: &str| {
        format!(
            "- name: store.{name}\n  summary: an object of the store\n  params:\n    type: object\n    \
             properties: {{name: {{type: string}}}}\n    required: [name]\n    \
             additionalProperties: false\n  x-opal-io: {{redirect_in: true, redirect_out: true}}\n  \
             x-opal-capabilities: [\"read:store/**\", \"write:store/**\"]\n"
        )
    };
    let names = ["object", "endless", "torn", "hasty", "full"];
    let all: Vec<String> = names.iter().map(|name| decorator(name)).collect();
    format!(
        "x-opal-plugin: {{name: acme/store, version: 1.0.0}}\nx-opal-decorators:\n{}",
        all.concat()
    )
}

fn project(commands: &str) -> Opal {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let opal = rooted(commands)
        .file("opal.mod", "name = \"shop\"\n")
        .file("package/opal.toml", TOML)
        .file("package/dim.yaml", manifest())
        .file("package/plugins/store.wasm", STORE.get_or_init(|| guest::example("object")))
        .file("store/in", "from the store\n");
    opal.call(&["plugin", "trust", "package"]).code(0);
    opal.call(&["plugin", "add", "./package"]).code(0);
    opal
}

const COMMANDS: &str = "fun read() = cat < @store.object(\"in\")\n\
     fun write() = echo to the store > @store.object(\"out\")\n\
     fun copy() = cat < @store.object(\"large\") > @store.object(\"copy\")\n\
     fun missing() = touch ran < @store.object(\"none\")\n\
     fun torn() = cat < @store.torn(\"in\")\n\
     fun first() = head -c 4 < @store.endless(\"in\")\n\
     fun failing() {\n    bash -c 'echo partly; exit 3' > @store.object(\"out\")\n}\n\
     fun full() = yes > @store.full(\"out\")\n\
     fun hasty() = yes > @store.hasty(\"out\")\n\
     fun waiting() {\n    bash -c 'echo waiting; echo here >&2; sleep 60' > @store.object(\"out\")\n}\n\
     fun endless() {\n    bash -c 'echo here >&2; sleep 60' < @store.endless(\"in\")\n}\n";

#[test]
fn a_step_reads_from_and_writes_to_decorators_of_packages() {
    let opal = project(COMMANDS);
    opal.call(&["read"]).code(0).stdout("from the store\n");
    opal.call(&["write"]).code(0).stdout("");
    assert_eq!(opal.read("store/out"), "to the store\n");
    // More than a pipe holds, and more than one line of the protocol.
    let large: String = (0..400_000).map(|n| format!("{n}\n")).collect();
    opal.write("store/large", &large);
    opal.call(&["copy"]).code(0);
    assert_eq!(opal.read("store/copy"), large);
}

#[test]
fn the_plan_and_the_contract_have_what_is_at_the_streams() {
    let opal = project(COMMANDS);
    opal.call(&["-n", "write"]).code(0).says("> @store.object");
    opal.call(&["plan", "read", "-o", "c.plan"]).code(0);
    opal.call(&["plan", "show", "c.plan"]).code(0).says("acme/store").says("< @store.object");
    opal.call(&["run", "--plan", "c.plan"]).code(0).stdout("from the store\n");
    opal.call(&["explain", "@store.object"]).code(0).says("an object of the store");
    opal.write("commands.opl", "fun alone() = @store.object(\"in\")\n");
    let alone = opal.call(&["check"]);
    alone.code(65).says("`@store.object` is the target of a redirection, not a command");
}

#[test]
fn a_source_that_fails_fails_the_step() {
    let opal = project(COMMANDS);
    // The step has not run.
    opal.call(&["missing"]).code(1).says("acme/store says: the file `store/none` does not exist");
    assert!(!opal.path().join("ran").exists());
    // What it read was not all.
    opal.call(&["torn"]).code(1).says("acme/store says: the connection was lost");
    // It has what it wanted, and nobody waits for the rest.
    opal.call(&["first"]).code(0).stdout("yyyy");
}

#[test]
fn a_sink_gets_an_end_only_from_a_step_that_succeeded() {
    let opal = project(COMMANDS);
    opal.call(&["failing"]).code(3);
    assert!(!opal.path().join("store/out").exists());
    opal.call(&["full"]).code(1).says("acme/store says: the store is full");
    let hasty = opal.call(&["hasty"]);
    hasty.code(69).says("plugin `acme/store` 1.0.0, `@store.hasty`: it ended before it had read");
}

#[test]
fn ctrl_c_ends_what_is_at_the_streams_and_nothing_is_kept() {
    let opal = project(COMMANDS);
    for task in ["waiting", "endless"] {
        let mut command = opal.interruptible();
        let mut child = command.arg(task).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let errors = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut lines = std::io::BufRead::lines(errors);
        assert!(lines.any(|line| line.unwrap().contains("here")), "{task}");
        let kill = ["-INT", &child.id().to_string()];
        assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
        let code = child.wait().unwrap().code();
        let said: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(code, Some(130), "{task}: {said:?}");
    }
    assert!(!opal.path().join("store/out").exists());
    assert_eq!(fs::read_dir(opal.path().join("store")).unwrap().count(), 1);
}
