//! What is deleted, and what is not: a fixed object in a fixed account, or what a person confirms.

use std::fs;
use std::process::{Command, Stdio};

use opal_testing::processes::eventually;

use super::{accepted, ended, real, rooted, stored};
use crate::prompts::answered;
use crate::support::Opal;

const COMMANDS: &str = r#"
fun make() {
    @box.provider(directory="cloud") {
        @box.net(name="net", mark="net")
        @box.thing(name="web", color="red")
    }
}

fun thing() {
    @box.provider(directory="cloud") {
        @box.thing.absent(name="web")
    }
}

fun gone() {
    @box.provider(directory="cloud", expect={account: "alice"}) {
        @box.thing.absent(name="web")
    }
}

fun other_account() {
    @box.provider(directory="cloud", expect={account: "bob"}) {
        @box.thing.absent(name="web")
    }
}

fun marked() {
    @box.provider(directory="cloud", expect={account: "alice"}) {
        @box.net.absent(mark="net")
    }
}

fun named() {
    @box.provider(directory="cloud", expect={account: "alice"}) {
        @box.net.absent(adopt="net-1")
    }
}

fun renamed() {
    @box.provider(directory="cloud") {
        @box.net(name="other", adopt="net-1", replace=true, ignore=["tags"])
    }
}

fun late() {
    @box.provider(directory="cloud") {
        let.name = @shell("echo web")
        @box.thing.absent(name=@let.name)
    }
}
"#;

fn made() -> Option<Opal> {
    let opal = accepted(COMMANDS)?;
    ended(&opal, &["make"], 0);
    Some(opal)
}

/// One call, to be answered or waited for.
fn command(opal: &Opal, args: &[&str]) -> Command {
    let mut command = opal.command();
    command.args(args);
    command
}

fn has(opal: &Opal, name: &str) -> bool {
    opal.path().join(format!("cloud/{name}.json")).exists()
}

#[test]
fn without_a_terminal_nothing_is_deleted_that_nobody_has_fixed() {
    let Some(opal) = made() else { return };
    for (args, expected) in [
        (&["thing"][..], "would be deleted, and there is no terminal to confirm that"),
        (&["thing", "--yes"], "expect={account: \"ID\"}"),
        (&["marked", "--yes"], "name the object with `adopt=`"),
        (&["renamed", "--yes"], "there is no terminal to confirm that"),
    ] {
        let ran = ended(&opal, args, 2);
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
    let ran = opal.call(&["other_account", "--yes"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("in another account than `expect` says"), "{ran:?}");
    // What only the run knows cannot be confirmed before it.
    let ran = ended(&opal, &["late", "--yes"], 2);
    assert!(ran.stderr.contains("is not deleted"), "{ran:?}");
    assert!(has(&opal, "thing-web") && has(&opal, "net-net-1"));
}

#[test]
fn a_named_object_in_the_expected_account_is_deleted() {
    let Some(opal) = made() else { return };
    ended(&opal, &["named"], 0);
    assert!(!has(&opal, "net-net-1"));
    assert!(has(&opal, "thing-web"));
}

#[test]
fn a_person_sees_what_is_deleted_and_decides() {
    let Some(opal) = made() else { return };
    let opal = opal.env("TERM", "xterm");
    let question = "Delete box_thing {name: \"web\"} (account alice)?";
    let (code, shown) = answered(command(&opal, &["thing"]), &[(question, "n\n")]);
    assert_eq!(code, 130, "{shown}");
    assert!(has(&opal, "thing-web"));
    let (code, shown) = answered(command(&opal, &["thing", "--yes"]), &[(question, "y\n")]);
    assert_eq!(code, 0, "{shown}");
    assert!(!has(&opal, "thing-web"));
    let question = "Delete box_net {id: \"net-1\"} (account alice)?";
    let (code, shown) = answered(command(&opal, &["marked"]), &[(question, "y\n")]);
    assert_eq!(code, 0, "{shown}");
    assert!(!has(&opal, "net-net-1"));
}

#[test]
fn a_contract_fixes_account_and_object() {
    let Some(opal) = made() else { return };
    ended(&opal, &["plan", "marked", "-o", "own.plan"], 0);
    let run = |code: i32, args: &[&str]| {
        let mut all = vec!["run", "--plan", "own.plan"];
        all.extend(args);
        ended(&opal, &all, code)
    };
    fs::write(opal.path().join("cloud/owner"), "mallory\n").unwrap();
    run(76, &[]);
    // Who forces a contract has to confirm by himself.
    assert_ne!(opal.call(&["run", "--plan", "own.plan", "--force"]).code, 0);
    assert!(has(&opal, "net-net-1"));
    fs::write(opal.path().join("cloud/owner"), "alice\n").unwrap();
    run(0, &[]);
    assert!(!has(&opal, "net-net-1"));
}

#[test]
fn objects_on_this_machine_are_deleted_without_a_question() {
    let Some(program) = real("local") else { return };
    let commands = "fun make() = @local.file(filename=\"a.txt\", content=\"hello\")\n\
                    fun gone() = @local.file.absent(filename=\"a.txt\", content=\"hello\")\n";
    let wanted =
        "[plugins]\n\"terraform/hashicorp/local\" = { path = \"bin/box\", as = \"local\" }\n";
    let opal =
        rooted(commands).file("opal.mod", wanted).file("bin/box", fs::read(program).unwrap());
    super::executable(&opal);
    super::accept_as(&opal, "terraform/hashicorp/local");
    ended(&opal, &["make"], 0);
    assert_eq!(opal.read("a.txt"), "hello");
    ended(&opal, &["verify", "make"], 0);
    ended(&opal, &["gone"], 0);
    assert!(!opal.path().join("a.txt").exists());
}

#[test]
fn runs_of_a_project_wait_for_each_other() {
    let Some(opal) = accepted(
        "fun slow() {\n    @box.provider(directory=\"cloud\") {\n        \
         @box.thing(name=\"a\")\n        touch began\n        \
         sh -c 'while [ ! -e go ]; do sleep 0.05; done'\n    }\n}\n\
         fun quick() {\n    @box.provider(directory=\"cloud\") {\n        \
         @box.thing(name=\"b\")\n    }\n}\n",
    ) else {
        return;
    };
    let mut slow = command(&opal, &["slow"]).stdout(Stdio::null()).spawn().unwrap();
    eventually("the first run acts", || opal.path().join("began").exists());
    let mut quick = command(&opal, &["quick"]);
    let said = opal.path().join("said");
    let mut quick = quick.stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let waits = || fs::read_to_string(&said).is_ok_and(|it| it.contains("waiting for another run"));
    eventually("the second run waits", waits);
    assert!(!has(&opal, "thing-b"));
    fs::write(opal.path().join("go"), "").unwrap();
    assert!(slow.wait().unwrap().success() && quick.wait().unwrap().success());
    assert!(stored(&opal, "thing-b").contains('b'));
}

#[test]
fn a_read_that_fails_is_blocked_and_never_gone() {
    let Some(opal) = made() else { return };
    let whole = stored(&opal, "thing-web");
    let opal = opal.file("cloud/thing-web.json", "{");
    let ran = ended(&opal, &["verify", "gone"], 1);
    assert!(ran.stdout.contains("blocked") && !ran.stdout.contains("satisfied"), "{ran:?}");
    assert_ne!(opal.call(&["gone"]).code, 0);
    let opal = opal.file("cloud/thing-web.json", whole);
    ended(&opal, &["gone"], 0);
    assert!(!has(&opal, "thing-web"));
}
