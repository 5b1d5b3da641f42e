//! Contracts about objects of providers: what is refused, and with which code.

use super::{COMMANDS, accept, accepted, edit, ended, exchange, stored};
use crate::support::{Opal, Ran};

fn plan(opal: &Opal, task: &str) {
    ended(opal, &["plan", task, "-o", "own.plan"], 0);
}

fn run(opal: &Opal, code: i32) -> Ran {
    ended(opal, &["run", "--plan", "own.plan"], code)
}

fn refused(opal: &Opal, expected: &[&str]) {
    let ran = run(opal, 76);
    for expected in expected {
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
    assert!(ran.stderr.contains("nothing was run"), "{ran:?}");
}

#[test]
fn a_contract_runs_as_long_as_nothing_has_changed() {
    let Some(opal) = accepted(COMMANDS) else { return };
    plan(&opal, "infra");
    let shown = ended(&opal, &["plan", "show", "own.plan", "--json"], 0);
    assert!(shown.stdout.contains("terraform/test/box"), "{shown:?}");
    run(&opal, 0);
    assert!(stored(&opal, "thing-web").contains("red"));
    // Its own run is not drift.
    run(&opal, 0);
}

#[test]
fn another_program_is_another_source_even_where_it_is_accepted() {
    let Some(opal) = accepted(COMMANDS) else { return };
    plan(&opal, "infra");
    exchange(&opal);
    accept(&opal);
    refused(&opal, &["source_changed", "terraform/test/box"]);
    assert!(!opal.path().join("cloud/thing-web.json").exists());
}

#[test]
fn what_is_gone_or_changed_since_is_refused() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["infra"], 0);
    plan(&opal, "infra");
    edit(&opal, "thing-web", "red", "green");
    refused(&opal, &["infra_mutated", "color: expected \"red\", actual \"green\""]);
    std::fs::remove_file(opal.path().join("cloud/thing-web.json")).unwrap();
    refused(&opal, &["infra_missing", "not found"]);
}

#[test]
fn another_account_is_refused_even_where_all_is_satisfied() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["infra"], 0);
    plan(&opal, "infra");
    let opal = opal.file("cloud/owner", "mallory\n");
    refused(&opal, &["infra_mutated", "not in the contract's account, region or cluster"]);
    let opal = opal.file("cloud/owner", "alice\n");
    run(&opal, 0);
}

#[test]
fn a_data_source_without_a_match_is_an_infrastructure_that_is_missing() {
    let source = "fun read() {\n    @box.provider(directory=\"cloud\") {\n        \
                  var nets = @box.data.nets(tag=\"shop/none\")\n        echo @var.nets.ids[0]\n    }\n}\n";
    let Some(opal) = accepted(source) else { return };
    let net = r#"{"ID": "net-4", "Name": "n", "Size": "small", "Tags": {"opal": "shop/none"}}"#;
    let opal = opal.file("cloud/net-net-4.json", net);
    plan(&opal, "read");
    assert_eq!(run(&opal, 0).stdout, "net-4\n");
    std::fs::remove_file(opal.path().join("cloud/net-net-4.json")).unwrap();
    let ran = run(&opal, 76);
    let all = ["infra_missing", "box says: no matching network found"];
    assert!(all.iter().all(|it| ran.stderr.contains(it)), "{ran:?}");
}

#[test]
fn plans_and_contracts_say_where_nobody_checks_the_account() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let resolve = ["infra", "--dry-run", "--resolve"];
    let checked = ended(&opal, &resolve, 0);
    assert!(!checked.stderr.contains("account not checked"), "{}", checked.stderr);
    let ran = ended(&opal, &["plan", "infra", "-o", "own.plan"], 0);
    assert!(!ran.stderr.contains("account not checked"), "{ran:?}");
    let text = opal.read("opal.mod");
    let opal = opal.file("opal.mod", text.replace("where = \"box_owner\"", "denied = \"missing\""));
    let note = "note: account not checked: no recipe says which data source reports the account of `box_thing`";
    let ran = ended(&opal, &resolve, 0);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = ended(&opal, &["plan", "infra", "-o", "own.plan"], 0);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

#[test]
fn another_object_with_our_mark_is_refused_even_where_it_is_as_described() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["net"], 0);
    plan(&opal, "net");
    run(&opal, 0);
    // Somebody moves our tag to an object of his own.
    let text = stored(&opal, "net-net-1");
    std::fs::remove_file(opal.path().join("cloud/net-net-1.json")).unwrap();
    let opal = opal.file("cloud/net-net-7.json", text.replace("net-1", "net-7"));
    refused(&opal, &["infra_mutated", "another object than the contract's"]);
    assert!(stored(&opal, "net-net-7").contains("shop/net"));
}
