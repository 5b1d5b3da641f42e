//! Blocks that run where a package says: over a real SSH server, and by programs of the machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::OnceLock;

use opal_testing::guest;
use opal_testing::needs;
use opal_testing::sshd::Sshd;

use super::rooted;
use crate::support::{Opal, binary};

const TOML: &str = "[package]\nname = \"acme/reach\"\nversion = \"1.0.0\"\n\
                    [plugins]\nwasm = \"plugins/reach.wasm\"\n";

const CAPABILITIES: &str = "[\"read:data/**\", \"write:data/**\", \"set:REACHED\", \"transport:through\", \
                            \"ssh:*\", \"run:sh -e\", \"run:test -e\"]";

fn manifest(capabilities: &str) -> String {
    let decorator = |name: &str, rest: &str| {
        format!(
            "- name: reach.{name}\n  summary: run a block elsewhere\n  params:\n    type: object\n    \
             properties:\n      from: {{type: string}}\n      object: {{type: string}}\n      \
             then: {{type: string}}\n      interpreter: {{type: string}}\n      ready: {{type: string}}\n      \
             within: {{type: string}}\n      password: {{type: string}}\n    required: [from]\n    \
             additionalProperties: false\n  x-opal-block: required\n  x-opal-transport: true\n  \
             x-opal-capabilities: {capabilities}\n{rest}"
        )
    };
    format!(
        "x-opal-plugin: {{name: acme/reach, version: 1.0.0}}\nx-opal-decorators:\n{}{}",
        decorator("to", "  x-opal-effect: read\n"),
        decorator("made", "  x-opal-resource: {key: [object]}\n"),
    ) + GIVE
        + &GIVE.replace("give", "random")
        + &GIVE.replace("give", "send").replace("  x-opal-effect", SEND)
}

const SEND: &str = "  params:\n    type: object\n    properties: {from: {type: string}}\n    \
     additionalProperties: false\n  x-opal-capabilities: [\"net:http://127.0.0.1:NUMBER private\"]\n  x-opal-effect";

/// It gives its text.
const GIVE: &str = "- name: reach.give\n  summary: give a result\n  x-opal-block: text\n  x-opal-effect: act\n  \
     returns:\n    version: 1.0.0\n    type: object\n    additionalProperties: false\n    required: [items]\n    \
     properties:\n      items:\n        type: array\n        description: what was found\n        \
     items:\n          type: object\n          additionalProperties: false\n          properties:\n            \
     name: {type: string, description: its name}\n            size: {type: integer}\n            \
     token: {type: string, x-opal-secret: true}\n";

const GIVES: &str = "fun task() {\n    let.r = @reach.give() {\n        {\"items\": [{\"name\": \"a b\", \"size\": 7}, \
     {\"name\": \"$HOME\", \"token\": \"k9-Zq7-swordfish\"}]}\n    }\n    \
     echo @let.r.items[0].name @let.r.items[0].size\n    echo @let.r.items[1].name | wc -c\n    \
     test -n @let.r.items[1].token\n    echo @let.r.items[1].token\n}\n\
     fun absent() {\n    let.r = @reach.give() {\n        {\"items\": []}\n    }\n    echo @let.r.items[3].name\n}\n\
     fun other() {\n    let.r = @reach.give() {\n        {\"items\": 3}\n    }\n    echo @let.r.items[0].name\n}\n";

#[test]
fn a_text_block_reaches_a_package_as_it_is_and_its_result_has_fields() {
    let opal = project(GIVES, "");
    let ran = opal.call(&["task"]);
    let lines: Vec<&str> = ran.code(0).stdout.lines().collect();
    assert_eq!(lines[..2], ["a b 7", "6"]);
    assert!(
        !ran.stdout.contains("swordfish") && !ran.stderr.contains("swordfish"),
        "{}",
        ran.stdout
    );
    opal.call(&["absent"]).code(1).says("items");
    opal.call(&["other"]).code(69).says("is not what its manifest promises");
    let page = opal.call(&["explain", "@reach.give"]);
    page.code(0).says("give a result").says("items").says("what was found").says("its name");
    opal.call(&["explain", "@reach.to"])
        .code(0)
        .says("run a block elsewhere")
        .says("from: String, required");
}

/// A project in which `through` leads to a shell of this machine.
fn project(commands: &str, targets: &str) -> Opal {
    static REACH: OnceLock<Vec<u8>> = OnceLock::new();
    let opal = rooted(commands)
        .file("opal.mod", "name = \"shop\"\n")
        .file("package/opal.toml", TOML)
        .file("package/dim.yaml", manifest(CAPABILITIES).replace("NUMBER", "9"))
        .file("package/plugins/reach.wasm", REACH.get_or_init(|| guest::example("reach")))
        .file("data/targets", targets)
        .file(
            "bin/through",
            "#!/bin/sh\necho \"$1 ${SSH_AUTH_SOCK-none}\" >> \"$(dirname \"$0\")/../log\"\n\
             ON=$1 exec sh\n",
        );
    fs::set_permissions(opal.path().join("bin/through"), fs::Permissions::from_mode(0o755))
        .unwrap();
    opal.call(&["plugin", "trust", "package"]).code(0);
    opal.call(&["plugin", "add", "./package"]).code(0);
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", opal.path().display());
    opal.env("PATH", &path).env("SSH_AUTH_SOCK", "/agent")
}

const TASK: &str =
    "fun task() {\n    @reach.to(\"data/targets\") {\n        echo on $ON\n    }\n}\n";
const TWO: &str = "one program through one\ntwo program through two\n";

fn has_helper() -> bool {
    let helper = binary().with_file_name("opal-target");
    needs::has("the target helper (`cargo build -p opal-target`)", helper.exists())
}

#[test]
fn a_block_runs_by_the_program_that_a_package_returns_and_the_plan_shows_it() {
    if !has_helper() {
        return;
    }
    let opal = project(TASK, TWO);
    opal.call(&["-n", "task"]).code(0).says("@reach.to");
    assert!(!opal.path().join("log").exists(), "a quick plan connects to nothing");
    opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    let plan = opal.call(&["plan", "show", "c.plan"]);
    plan.code(0).says("→ one (by through one) two (by through two)");
    let ran = opal.call(&["task"]);
    assert_eq!(ran.code(0).stdout, "on one\non two\n");
    ran.says("TARGET").says("ok");
    // Nobody granted the agent.
    assert!(opal.read("log").lines().all(|it| it.ends_with(" none")), "{}", opal.read("log"));
    opal.call(&["task", "--limit", "two"]).code(0).stdout("on two\n");
}

#[test]
fn a_contract_has_the_targets_of_a_package() {
    if !has_helper() {
        return;
    }
    let opal = project(TASK, TWO);
    opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    opal.call(&["plan", "show", "c.plan"]).code(0).says("one").says("by through two");
    opal.call(&["run", "--plan", "c.plan"]).code(0).stdout("on one\non two\n");
    opal.write("data/targets", "one program through one\n");
    let refused = opal.call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("infra_missing:two").stdout("");
    opal.write("data/targets", "one program through one\ntwo program through three\n");
    opal.call(&["run", "--plan", "c.plan"]).code(76).stdout("");
}

#[test]
fn a_block_runs_over_ssh_where_a_package_says() {
    if !has_helper() {
        return;
    }
    let source = "fun task() {\n    @reach.to(\"data/targets\") {\n        id -un\n        \
                  @file.line(\"marks\", line=\"x\")\n    }\n}\n";
    let Some(mut sshd) = Sshd::start() else { return };
    sshd.name_hosts(&["web1"]);
    let opal = project(source, "first ssh web1\n").env("PATH", sshd.path().to_str().unwrap());
    let user = sshd.account().name.clone();
    opal.call(&["task"]).code(0).stdout(&format!("{user}\n"));
    assert_eq!(fs::read_to_string(sshd.account().home.join("marks")).unwrap(), "x\n");
    opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    opal.call(&["plan", "show", "c.plan"]).code(0).says("first: ssh web1");
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    sshd.change_host_key(&[]);
    opal.call(&["run", "--plan", "c.plan"]).code(77);
}

#[test]
fn what_a_package_returns_is_bound_by_what_it_was_granted() {
    for (targets, more, said) in [
        ("one program sh -c id", "", "not granted `transport:sh`"),
        ("one program through/../sh", "", "is not the name of a program"),
        ("one program /bin/sh", "", "is not the name of a program"),
        ("one ssh a.example", "", "not granted `ssh:a.example`"),
        ("one ssh -oProxyCommand=id", "", "invalid host name `-oProxyCommand=id`"),
        ("../x program through x", "", "`../x`"),
        ("one program through a\none program through b", "", "names the target `one` twice"),
        ("", "", "it gives no targets"),
        ("one program through x", ", interpreter=\"python3\"", "not granted `run:python3`"),
        ("one program through x", ", ready=\"rm -rf x\"", "not granted `run:rm`"),
        ("one program through \u{202e}x", "", "invisible characters"),
    ] {
        let source = format!(
            "fun task() {{\n    @reach.to(\"data/targets\"{more}) {{\n        touch ran\n    }}\n}}\n"
        );
        let opal = project(&source, targets);
        let ran = opal.call(&["task"]);
        ran.code(65).says("plugin `acme/reach` 1.0.0, `@reach.to`").says(said);
        assert!(!opal.path().join("log").exists(), "{targets}");
    }
}

#[test]
fn a_target_is_waited_for_and_its_interpreter_runs_the_steps() {
    if !has_helper() {
        return;
    }
    let source = "fun task() {\n    @reach.to(\"data/targets\", ready=\"test -e data/up\", within=\"60000\", \
                  interpreter=\"sh -e\") {\n        false; echo after\n    }\n}\n\
                  fun late() {\n    @reach.to(\"data/targets\", ready=\"test -e data/never\", \
                  within=\"700\") {\n        echo ran\n    }\n}\n";
    let opal = project(source, "one program through one\n");
    opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    let shown = opal.call(&["plan", "show", "c.plan"]);
    fs::remove_file(opal.path().join("log")).unwrap();
    shown.code(0).says("interpreter: sh -e; ready: test -e data/up, within 1m");
    let late = opal.call(&["late"]);
    late.code(69).says("it is not ready after 700ms: `test -e data/never`").stdout("");
    let mut command = opal.interruptible();
    let mut child = command.arg("task").spawn().unwrap();
    let connected =
        || fs::read_to_string(opal.path().join("log")).is_ok_and(|it| it.lines().count() >= 2);
    opal_testing::processes::eventually("it has connected", connected);
    opal.write("data/up", "");
    // With `-e` a failing command ends the step.
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

const MADE: &str = "fun task(then: String = \"data/targets\") {\n    @reach.made(\"data/targets\", \
                    object=\"data/object\", then=then) {\n        echo $REACHED on $ON\n    }\n}\n";

#[test]
fn an_object_is_created_used_and_removed_and_one_of_somebody_else_stays() {
    if !has_helper() {
        return;
    }
    let opal = project(MADE, "one program through one\n");
    opal.call(&["task"]).code(0).stdout("yes on one\n");
    assert!(!opal.path().join("data/object").exists(), "`end` has removed it");
    // It is there, and is of this package: it was not made by this run.
    for content in ["own", "foreign"] {
        opal.write("data/object", content);
        let ran = opal.call(&["task"]);
        ran.code(0).says("info: adopted object data/object").stdout("yes on one\n");
        assert_eq!(opal.read("data/object"), content);
        let record = opal.call(&["runs", "show", "last"]);
        assert!(!record.code(0).stdout.contains("not closed"), "{}", record.stdout);
    }
}

#[test]
fn targets_that_are_others_when_the_block_runs_are_refused_and_the_object_is_removed() {
    if !has_helper() {
        return;
    }
    for (then, said) in [
        ("one program through two\n", "infra_mutated:one"),
        ("two program through one\n", "infra_missing:one"),
        (TWO, "the plan has 1 targets, and there are 2 now"),
    ] {
        let opal = project(MADE, "one program through one\n").file("data/then", then);
        let ran = opal.call(&["task", "data/then"]);
        ran.code(76).says(said).stdout("");
        assert!(!opal.path().join("data/object").exists(), "`end` has removed it");
        assert!(!opal.path().join("log").exists());
    }
}

#[test]
fn a_program_that_is_no_shell_is_a_target_that_is_not_reached() {
    let opal = project(TASK, "one program through one\n");
    opal.write("bin/through", "#!/bin/sh\necho broken >&2\nexit 3\n");
    opal.call(&["task"]).code(69).says("broken");
    fs::remove_file(opal.path().join("bin/through")).unwrap();
    opal.call(&["task"]).code(69).says("`through` is not installed");
    // What is not absolute in `PATH` is not looked at.
    opal.write("through", "#!/bin/sh\nexec sh\n");
    fs::set_permissions(opal.path().join("through"), fs::Permissions::from_mode(0o755)).unwrap();
    let opal = opal.env("PATH", ".:/usr/bin:/bin");
    opal.call(&["task"]).code(69).says("`through` is not installed");
}

#[test]
fn ctrl_c_ends_a_request_of_a_plugin_at_once() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let source = format!(
        "fun task() {{\n    @reach.send(from=\"http://127.0.0.1:{port}/\") {{\n        x\n    }}\n}}\n"
    );
    let opal = project(&source, "");
    opal.write("package/dim.yaml", manifest(CAPABILITIES).replace("NUMBER", &port));
    opal.call(&["plugin", "install"]).code(0);
    let mut command = opal.interruptible();
    let mut child = command.arg("task").spawn().unwrap();
    // It has sent its request, and nobody answers.
    let (_connection, _) = server.accept().unwrap();
    let since = std::time::Instant::now();
    opal_testing::processes::signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // The request itself would wait for 30 s.
    assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn random_numbers_repeat_in_a_contract_and_nowhere_else() {
    let give = "    let.NAME = @reach.random(public=true) {\n        x\n    }\n"
        .replace("(public=true)", "");
    let source = format!(
        "fun task() {{\n{}{}    bash -c 'echo \"$0\" \"$1\" >> out' @let.a.items[0].name @let.b.items[0].name\n}}\n",
        give.replace("NAME", "a"),
        give.replace("NAME", "b"),
    );
    let opal = project(&source, "");
    let run = |words: &[&str]| {
        opal.call(words).code(0);
        let text = opal.read("out");
        fs::remove_file(opal.path().join("out")).unwrap();
        text
    };
    let (first, second) = (run(&["task"]), run(&["task"]));
    assert_ne!(first, second);
    // Two steps are two seeds.
    let mut words = first.split_whitespace();
    assert_ne!(words.next(), words.next());
    opal.call(&["plan", "task", "-o", "one.plan"]).code(0);
    opal.call(&["plan", "task", "-o", "two.plan"]).code(0);
    let one = run(&["run", "--plan", "one.plan"]);
    assert_eq!(one, run(&["run", "--plan", "one.plan"]));
    assert_ne!(one, run(&["run", "--plan", "two.plan"]));
    assert_ne!(one, first);
}
