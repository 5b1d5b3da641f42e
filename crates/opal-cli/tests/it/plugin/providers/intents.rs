//! What a provider is about to do: recorded before, warned about, and found again after a crash.

use std::process::Stdio;

use opal_testing::processes::eventually;
use rustix::process::{Pid, Signal, kill_process};

use super::{accepted, ended, stored};
use crate::support::Opal;

const COMMANDS: &str = r#"
fun infra() {
    @box.provider(directory="cloud") {
        @box.thing(name="web", color="red")
    }
}

fun late() {
    @box.provider(directory="cloud") {
        let.name = @shell("echo web")
        @box.thing(name=@let.name)
    }
}

fun hung() {
    @box.provider(directory="cloud") {
        @box.net(name="hang-created", mark="net")
    }
}

fun twin() {
    @box.provider(directory="cloud") {
        @box.net(name="twin", mark="net")
    }
}
"#;

fn page(opal: &Opal) -> String {
    ended(opal, &["runs", "show"], 0).stdout
}

#[test]
fn a_record_names_the_objects_that_a_run_acted_on() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["infra"], 0);
    let shown = page(&opal);
    assert!(shown.contains("box_thing {name: \"web\"} (terraform/test/box)"), "{shown}");
    assert!(!shown.contains("unfinished"), "{shown}");
    let events = ended(&opal, &["runs", "show", "--events"], 0).stdout;
    let at = |kind: &str| events.find(kind).unwrap_or_else(|| panic!("{kind}: {events}"));
    assert!(at("\"deed\":\"create\"") < at("object_made"), "{events}");
}

#[test]
fn what_a_killed_run_was_about_to_create_is_in_its_record_and_found_again() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let mut command = opal.interruptible();
    command.arg("hung").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let made = opal.path().join("cloud/net-net-1.json");
    eventually("the object is there", || made.exists());
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let shown = page(&opal);
    assert!(shown.contains("unfinished") && shown.contains("create box_net"), "{shown}");
    assert!(shown.contains("tag opal=shop/net"), "{shown}");
    ended(&opal, &["verify", "hung"], 0);
    ended(&opal, &["hung"], 0);
    assert!(!opal.path().join("cloud/net-net-2.json").exists());
}

#[test]
fn two_creates_at_once_are_a_failure_that_names_both_and_deletes_none() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let ran = opal.call(&["twin"]);
    assert_ne!(ran.code, 0);
    let both = "several objects have the tag opal=shop/net: net-1, net-2";
    assert!(ran.stderr.contains(both), "{ran:?}");
    assert!(stored(&opal, "net-net-1").contains("shop/net"));
    assert!(stored(&opal, "net-net-2").contains("shop/net"));
}

/// The same, where an object that may not be read looks as if it were missing.
fn hiding() -> Option<Opal> {
    let opal = accepted(COMMANDS)?;
    let text = opal.read("opal.mod");
    let recipe = "\n[terraform.recipes.box_thing]\ndenied = \"missing\"\n";
    Some(opal.file("opal.mod", format!("{text}{recipe}")))
}

#[test]
fn before_what_may_only_be_hidden_is_created_a_direct_run_warns() {
    let Some(opal) = hiding() else { return };
    let ran = ended(&opal, &["verify", "infra"], 1);
    assert!(ran.stdout.contains("not found, or you may not read it"), "{ran:?}");
    let ran = ended(&opal, &["infra"], 0);
    let warning = "`box_thing` {name: \"web\"} is not found";
    assert!(ran.stderr.contains(warning) && ran.stderr.contains("(account alice)"), "{ran:?}");
    let again = ended(&opal, &["infra"], 0);
    assert!(!again.stderr.contains("is not found"), "{again:?}");
}

#[test]
fn a_contract_creates_what_may_only_be_hidden_if_it_saw_it_missing() {
    let Some(opal) = hiding() else { return };
    ended(&opal, &["plan", "late", "-o", "late.plan"], 0);
    let ran = opal.call(&["run", "--plan", "late.plan"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("the contract did not see it missing"), "{ran:?}");
    assert!(!opal.path().join("cloud/thing-web.json").exists());
    ended(&opal, &["plan", "infra", "-o", "own.plan"], 0);
    let ran = ended(&opal, &["run", "--plan", "own.plan"], 0);
    assert!(!ran.stderr.contains("is not found"), "{ran:?}");
    assert!(stored(&opal, "thing-web").contains("red"));
}
