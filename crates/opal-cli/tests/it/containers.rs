//! Blocks in containers that exist, and in new ones, with a real engine.

use std::path::Path;
use std::process::Stdio;

use opal_testing::needs;
use opal_testing::podman::{NAME, Podman};
use opal_testing::processes::eventually;

use crate::support::{Opal, binary};

fn engine(source: &str) -> Option<(Podman, Opal)> {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return None;
    }
    let podman = Podman::start(&helper)?;
    let path = podman.environment().into_values().next().unwrap();
    let opal = Opal::project(source).env("PATH", path.to_str().unwrap());
    Some((podman, opal))
}

fn task(arguments: &str, block: &str) -> String {
    let arguments = format!("\"{NAME}\", engine=\"podman\", network=\"host\"{arguments}");
    format!("fun task() {{\n    @container.run({arguments}) {{\n{block}\n    }}\n}}\n")
}

#[test]
fn a_new_container_runs_the_block_and_is_removed_after_it() {
    let block = "        cat /proc/1/cmdline | tr '\\0' ' ' | head -c 13\n        echo\n        \
                 cat /src/a\n        echo made > /src/made\n        cat \"$OPAL_FILES/f\"\n        \
                 @file.copy(destination=\"/etc/x\", content=\"x\\n\")\n        cat /etc/x\n        exit 7";
    let source = task(", mounts=[\"./src:/src\"], files={\"f\": \"f\"}", block);
    let Some((podman, opal)) = engine(&source) else { return };
    let opal = opal.file("src/a", "mounted\n").file("f", "sent\n");
    let before = podman.names();
    let ran = opal.call(&["task"]);
    assert_eq!(ran.code(7).stdout, "/.opal-target\nmounted\nsent\nx\n");
    assert_eq!(opal.read("src/made"), "made\n");
    eventually("the container is removed", || podman.names() == before);
    // What is in it cannot be verified before it is there, and a plan makes none.
    opal.call(&["task", "--dry-run"]).code(0);
    opal.call(&["verify", "task"]).says("the container is created when the block runs");
    assert_eq!(podman.names(), before);
}

#[test]
fn a_container_with_few_programs_says_which_are_not_there() {
    let source = format!(
        "fun task() {{\n    @container.exec(\"{NAME}\", engine=\"podman\") {{\n        id\n    }}\n}}\n"
    );
    let Some((podman, opal)) = engine(&source) else { return };
    assert!(podman.run(&[
        "exec",
        NAME,
        "sh",
        "-c",
        "rm -f $(command -v uname) $(command -v head)"
    ]));
    let ran = opal.call(&["task"]);
    ran.code(69).says("the target helper cannot be stored without `uname`, `head`");
    ran.says("@container.run").hides("no directory");
}

#[test]
fn what_an_engine_says_is_quoted() {
    let source = task("", "        id").replace("podman", "docker");
    for (create, start, said) in [
        (
            "echo 'Error: no such image: x' >&2; echo \"See 'docker create --help'.\" >&2; exit 1",
            "exit 1",
            "Error: no such image: x",
        ),
        (
            "exit 0",
            "echo 'Error: crun: cannot start' >&2; exit 126",
            "the container does not start: Error: crun: cannot start",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("docker");
        let text = format!(
            "#!/bin/sh\ncase $1 in\ncreate) {create};;\ncontainer) echo sha256:ab;;\nimage) echo linux amd64;;\n\
             cp) cat >/dev/null;;\nstart) {start};;\nesac\n"
        );
        std::fs::write(&engine, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&engine, mode).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let opal = Opal::project(&source).env("PATH", &path);
        opal.call(&["task"]).code(69).says(said);
    }
}

#[test]
fn two_blocks_of_one_image_have_two_containers() {
    let block = "        test ! -e /here\n        echo x > /here";
    let one = format!(
        "    @container.run(\"{NAME}\", engine=\"podman\", network=\"host\") {{\n{block}\n    }}\n"
    );
    let source = format!("fun task() {{\n{one}{one}}}\n");
    let Some((podman, opal)) = engine(&source) else { return };
    let before = podman.names();
    opal.call(&["task"]).code(0);
    eventually("both are removed", || podman.names() == before);
}

#[test]
fn a_new_container_is_removed_after_opal_is_killed() {
    let block = "        echo started > /src/started\n        sleep 54321";
    let source = task(", mounts=[\"./src:/src\"], lost=3s", block);
    let Some((podman, opal)) = engine(&source) else { return };
    let opal = opal.file("src/a", "");
    let before = podman.names();
    let mut command = opal.command();
    let mut child =
        command.arg("task").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the step runs", || opal.path().join("src/started").exists());
    assert_eq!(podman.names().len(), before.len() + 1);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the container is removed", || podman.names() == before);
}

#[test]
fn a_new_container_is_removed_after_opal_is_killed_while_it_is_made() {
    let source = task("", "        id");
    let Some((podman, opal)) = engine(&source) else { return };
    let before = podman.names();
    for _ in 0..3 {
        let mut command = opal.command();
        let mut child =
            command.arg("task").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("it is made", || podman.names() != before);
        child.kill().unwrap();
        child.wait().unwrap();
        eventually("the container is removed", || podman.names() == before);
    }
}

#[test]
fn what_a_new_container_is_made_of_has_closed_grammars() {
    for (arguments, said) in [
        ("\"--privileged\"", "must not begin with `-`"),
        ("\"a b\"", "must not contain ` `"),
        ("\"a\", network=\"--x\"", "must not begin with `-`"),
        ("\"a\", mounts=[\"/:/host,readonly=false\"]", "invalid mount"),
        ("\"a\", mounts=[\"~/x:/x\"]", "`~` is not replaced"),
    ] {
        let source =
            format!("fun task() {{\n    @container.run({arguments}) {{\n        id\n    }}\n}}\n");
        Opal::project(&source).call(&["plan", "task"]).code(65).says("E1501").says(said);
    }
    // An image that does not exist says what the engine says.
    let source = "fun task() {\n    @container.run(\"localhost/nothing\", engine=\"podman\") {\n        id\n    }\n}\n";
    let Some((_podman, opal)) = engine(source) else { return };
    opal.call(&["task"]).code(69).says("nothing");
}

#[test]
fn values_inside_a_new_container_are_not_read_while_planning() {
    let source = task("", "        echo @env.HOME");
    let opal = Opal::project(&source);
    assert!(Path::new(&opal.path()).exists());
    opal.call(&["task"]).code(65).says("the container is created when the block runs");
}

#[test]
fn a_contract_with_a_new_container_runs_and_is_verified() {
    let block = "        @file.copy(destination=\"/etc/x\", content=\"x\\n\")\n        cat /etc/x\n        \
                 @file.directory(\"/etc/app\")";
    let Some((podman, opal)) = engine(&task("", block)) else { return };
    let before = podman.names();
    let call = |words: &[&str]| opal.call(&[&["--root", "root"], words].concat());
    call(&["plan", "task", "-o", "c.plan"]).code(0);
    assert_eq!(podman.names(), before, "a contract makes no container");
    for _ in 0..2 {
        let ran = call(&["run", "--plan", "c.plan"]);
        assert_eq!(ran.code(0).stdout, "x\n");
    }
    eventually("the containers are removed", || podman.names() == before);
    let verified = call(&["verify", "task"]);
    verified.says("the container is created when the block runs");
    // An image that is not there any more.
    assert!(podman.run(&["rmi", "--force", NAME]));
    call(&["run", "--plan", "c.plan"]).code(69);
}

#[test]
fn a_contract_has_the_image_of_a_new_container() {
    let first = "fun task() {\n    sh ./first\n";
    let source = task(", mounts=[\"./src:/src\"]", "        echo ran > /src/ran");
    let Some((podman, opal)) = engine(&source.replace("fun task() {\n", first)) else { return };
    let opal = opal.file("src/.keep", "").file("first", "true\n");
    let ran = || std::fs::remove_file(opal.path().join("src/ran")).is_ok();
    let call = |words: &[&str]| opal.call(&[&["--root", "root"], words].concat());
    assert!(podman.run(&["tag", NAME, "first"]));
    assert!(podman.run(&["commit", "--change", "ENV OTHER=1", NAME, "other"]));
    let before = podman.names();
    call(&["plan", "task", "-o", "c.plan"]).code(0);
    let shown = call(&["plan", "show", "c.plan"]);
    shown.code(0).says(" network=host, linux ").says(", image <70:sha256:");

    // Moved before the run: nothing runs.
    assert!(podman.run(&["tag", "other", NAME]));
    let refused = call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("infra_mutated").says("image");
    assert!(!ran());
    call(&["run", "--plan", "c.plan", "--force"]).code(0);
    assert!(ran());
    assert!(podman.run(&["tag", "first", NAME]));
    call(&["run", "--plan", "c.plan"]).code(0);
    assert!(ran());

    // Moved by the first step: the container is made, and nothing runs in it.
    std::fs::write(opal.path().join("first"), format!("podman tag other {NAME}\n")).unwrap();
    let refused = call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("another machine or image answers now than in the contract");
    assert!(!ran());
    // An image that was not there when the contract was made may be any one.
    assert!(podman.run(&["rmi", NAME]));
    call(&["plan", "task", "-o", "d.plan"]).code(0);
    call(&["run", "--plan", "d.plan"]).code(0);
    assert!(ran());
    eventually("the containers are removed", || podman.names() == before);
}
