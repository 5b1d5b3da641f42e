//! Two accounts in one run: the same name in both is two objects.

use super::{accepted, edit, ended, starts};
use crate::support::Opal;

const BOTH: &str = r#"
fun both() {
    @box.provider(directory="cloud") {
        let.here = @box.thing(name="web", color="red")
        @box.thing(name="more")
        echo here @let.here.color
    }
    @box.provider(directory="other") {
        let.there = @box.thing(name="web", color="blue")
        echo there @let.there.color
    }
}

fun gone() {
    @box.provider(directory="cloud", expect={account: "alice"}) {
        @box.thing.absent(name="web")
    }
    @box.provider(directory="other", expect={account: "alice"}) {
        @box.thing.absent(name="web")
    }
}
"#;

fn two() -> Option<Opal> {
    Some(accepted(BOTH)?.file("other/owner", "bob\n"))
}

#[test]
fn the_same_name_in_two_accounts_is_two_objects() {
    let Some(opal) = two() else { return };
    let ran = ended(&opal, &["both"], 0);
    assert_eq!(ran.stdout, "here red\nthere blue\n");
    assert!(opal.read("cloud/thing-web.json").contains("red"));
    assert!(opal.read("other/thing-web.json").contains("blue"));
    assert!(!opal.path().join("other/thing-more.json").exists());
    // Each has one process, and no process has both.
    assert_eq!((starts(&opal, "cloud"), starts(&opal, "other")), (1, 1));
    ended(&opal, &["verify", "both"], 0);
    // What differs in one account says nothing about the other.
    edit(&opal, "thing-web", "red", "green");
    let ran = ended(&opal, &["verify", "both"], 1);
    assert!(ran.stdout.contains("color: expected \"red\", actual \"green\""), "{ran:?}");
    assert_eq!(ran.stdout.matches("expected").count(), 1, "{ran:?}");
    ended(&opal, &["both"], 0);
    assert!(opal.read("cloud/thing-web.json").contains("red"));
    assert!(opal.read("other/thing-web.json").contains("blue"));
}

#[test]
fn a_source_with_blocks_of_a_package_is_formatted() {
    let Some(opal) = two() else { return };
    let formatted = BOTH.trim_start();
    ended(&opal, &["fmt"], 0);
    assert_eq!(opal.read("commands.opl"), formatted);
    opal.write("commands.opl", formatted.replace("    ", "\t"));
    ended(&opal, &["fmt"], 0);
    assert_eq!(opal.read("commands.opl"), formatted);
    // What the package's blocks are like is not known where it is not installed.
    opal.write("opal.lock", "");
    let ran = opal.call(&["fmt"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("opal plugin install"), "{ran:?}");
    assert_eq!(opal.read("commands.opl"), formatted);
}

#[test]
fn a_contract_has_the_account_of_each_object() {
    let Some(opal) = two() else { return };
    ended(&opal, &["both"], 0);
    ended(&opal, &["plan", "both", "-o", "own.plan"], 0);
    ended(&opal, &["run", "--plan", "own.plan"], 0);
    // Only one of the two is another account now.
    let opal = opal.file("other/owner", "mallory\n");
    let ran = ended(&opal, &["run", "--plan", "own.plan"], 76);
    let why = "not in the contract's account, region or cluster";
    assert!(ran.stderr.contains("infra_mutated") && ran.stderr.contains(why), "{ran:?}");
    assert!(ran.stderr.contains("1 difference"), "{ran:?}");
    assert!(ran.stderr.contains("nothing was run"), "{ran:?}");
}

#[test]
fn an_account_that_was_not_expected_keeps_its_object() {
    let Some(opal) = two() else { return };
    ended(&opal, &["both"], 0);
    let ran = opal.call(&["gone"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("in another account than `expect` says"), "{ran:?}");
    assert!(opal.path().join("other/thing-web.json").exists());
}
