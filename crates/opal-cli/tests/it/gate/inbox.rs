//! `opal plan submit` and `opal plan inbox`.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::process::Command;
use std::time::SystemTime;

use super::Gate;

fn states(gate: &Gate) -> Vec<String> {
    let shown = gate.opal.call(&["plan", "inbox", "--json"]).code(0).json();
    let all = shown["contracts"].as_array().unwrap().iter();
    all.map(|one| {
        format!("{} {}", one["target"].as_str().unwrap_or("-"), one["state"].as_str().unwrap())
    })
    .collect()
}

fn id(gate: &Gate) -> String {
    let shown = gate.opal.call(&["plan", "inbox", "--json"]).code(0).json();
    shown["contracts"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_contract_waits_is_approved_runs_and_is_used() {
    let gate = Gate::new();
    gate.opal.call(&["plan", "inbox"]).code(0).says("The inbox is empty");
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy("[[approval]]\nby = [ANN, BOB]\nneeded = 2\n");
    let ran = gate.opal.call(&["plan", "submit", "d.plan"]);
    ran.code(0).says("submitted deploy as").says(": waiting").says("`opal plan approve ");
    assert_eq!(states(&gate), ["deploy waiting"]);
    // The file that was submitted is no longer needed.
    fs::remove_file(gate.opal.path().join("d.plan")).unwrap();
    let id = id(&gate);
    assert_eq!(id.len(), 32);
    gate.approve(&id[..8], "ann");
    gate.opal.call(&["plan", "inbox"]).code(0).says("approved by ann; 1 more needed");
    gate.run(&id[..8]).code(77).says("needs 2 approvals and has 1 (ann)");
    gate.approve(&id, "bob");
    assert_eq!(states(&gate), ["deploy approved"]);
    gate.run(&id[..8]).code(0).stdout("deploying to eu-west-1\n");
    assert_eq!(states(&gate), ["deploy used"]);
    // Who approved it stays known when the approvals are too old for another run.
    if cfg!(debug_assertions) {
        let now = opal_session::clock::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let later = (now.as_secs() + 7 * 86_400).to_string();
        let inbox = ["plan", "inbox", "--json"];
        let shown = gate.opal.call_with(&[("OPAL_TEST_CLOCK", &later)], &inbox).code(0).json();
        let entry = &shown["contracts"][0];
        assert_eq!(entry["state"], "used", "{entry}");
        assert_eq!(entry["approved_by"], serde_json::json!(["ann", "bob"]), "{entry}");
    }
}

/// What cannot be read in the place of a contract may be the one that people have approved.
#[test]
fn a_stored_contract_that_cannot_be_read_is_neither_waited_for_nor_overwritten() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let stored = gate.opal.path().join(format!("home/.opal/inbox/{}/contract.plan", id(&gate)));
    let submit = || gate.opal.call(&["plan", "submit", "d.plan"]);
    fs::set_permissions(&stored, fs::Permissions::from_mode(0o666)).unwrap();
    submit().code(77).says("chmod go-w");
    fs::remove_file(&stored).unwrap();
    assert!(Command::new("mkfifo").arg(&stored).status().unwrap().success());
    let refused = submit();
    refused.says("contract.plan").hides("submitted deploy");
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(fs::symlink_metadata(&stored).unwrap().file_type().is_fifo());
    fs::remove_file(&stored).unwrap();
    fs::File::create(&stored).unwrap().set_len(1 << 30).unwrap();
    fs::set_permissions(&stored, fs::Permissions::from_mode(0o600)).unwrap();
    submit().code(76).says("another contract with the id");
    fs::remove_file(&stored).unwrap();
    submit().code(0);
}

/// A project can have a file of any name: the contract that was submitted is meant.
#[test]
fn a_file_with_the_name_of_an_id_is_not_taken_for_the_contract() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.plan(&["test", "-o", "t.plan"]);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let id = id(&gate);
    let key = gate.key("ann").display().to_string();
    for name in [&id[..8], &id] {
        fs::copy(gate.opal.path().join("t.plan"), gate.opal.path().join(name)).unwrap();
        let show = |name: &str| {
            let words = ["plan", "approve", name, "--key", &key, "--show"];
            gate.opal.call(&words).code(0).stdout.clone()
        };
        assert!(show(name).contains("echo deploying to"), "{name}");
        assert!(show(&format!("./{name}")).contains("echo tested"), "{name}");
    }
    gate.run(&id).code(0).stdout("deploying to eu-west-1\n");
    // Digits of no contract are the name of a file, unless they are a whole id.
    for (name, code) in [("12345678", 0), ("0123456789abcdef0123456789abcdef", 66)] {
        fs::copy(gate.opal.path().join("t.plan"), gate.opal.path().join(name)).unwrap();
        gate.run(name).code(code);
    }
}

#[test]
fn every_state_is_derived_and_a_changed_file_is_refused() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate.plan(&["test", "-o", "t.plan", "--expires", "30m"]);
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.opal.call(&["plan", "submit", "t.plan"]).code(0);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    // The same file again is the same entry.
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let mut found = states(&gate);
    found.sort();
    assert_eq!(found, ["deploy waiting", "test waiting"]);
    let key = gate.key("ann").display().to_string();
    let (code, shown) = gate.says(&["plan", "reject", "d.plan", "--key", &key], "y\r");
    assert_eq!(code, 0, "{shown}");
    // The rejection was made elsewhere, and is known here.
    let gate = Gate { opal: gate.opal.later() };
    let mut found = states(&gate);
    found.sort();
    assert_eq!(found, ["deploy rejected", "test expired"]);
    let inbox = gate.opal.path().join("home/.opal/inbox");
    for entry in fs::read_dir(&inbox).unwrap().flatten() {
        fs::write(entry.path().join("contract.plan"), "x").unwrap();
    }
    assert_eq!(states(&gate), ["- changed", "- changed"]);
    let id = id(&gate);
    gate.run(&id).code(76).says("has changed since it was submitted");
    gate.opal
        .call(&["run", "--plan", "0123456789abcdef"])
        .code(66)
        .says("there is no contract 0123456789abcdef");
}

#[test]
fn a_key_that_no_rule_lists_counts_for_nothing_and_is_called_unknown() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let id = id(&gate);
    gate.approve(&id, "eve");
    // Neither without a rule nor with one.
    for policy in ["", "[[approval]]\nby = [ANN]\n"] {
        gate.policy(policy);
        assert_eq!(states(&gate), ["deploy waiting"], "{policy}");
        let shown = gate.opal.call(&["plan", "inbox"]);
        shown.code(0).says("no approval").says("unknown key SHA256:");
        let json = gate.opal.call(&["plan", "inbox", "--json"]).json();
        let entry = &json["contracts"][0];
        assert_eq!(entry["approved_by"], serde_json::json!([]), "{entry}");
        assert_eq!(entry["unknown_keys"].as_array().unwrap().len(), 1, "{entry}");
    }
    gate.approve(&id, "ann");
    assert_eq!(states(&gate), ["deploy approved"]);
}

#[test]
fn what_cannot_be_read_is_said_and_is_neither_approved_nor_changed() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let id = id(&gate);
    gate.approve(&id, "ann");
    // A project that anybody may write cannot take the inbox away, nor weaken a rule.
    gate.opal.write("opal.mod", "nonsense = 1\n");
    gate.opal.call(&["plan", "inbox"]).code(0).says("opal.mod").says("waiting");
    fs::remove_file(gate.opal.path().join("opal.mod")).unwrap();
    assert_eq!(states(&gate), ["deploy approved"]);
    let folder = format!("home/.opal/inbox/{id}");
    let approvals = format!("{folder}/contract.plan.approvals");
    gate.opal.write(&approvals, "x".repeat(5 << 20));
    gate.opal.call(&["plan", "inbox"]).code(0).says("is longer than").says("waiting");
    // The rules of the machine are another matter: without them nothing is known.
    gate.policy("nonsense = 1\n");
    gate.opal.call(&["plan", "inbox"]).code(78).says("unknown key `nonsense`");
}

#[test]
fn an_id_is_long_and_what_is_not_unique_is_refused() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.plan(&["test", "-o", "t.plan"]);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let id = id(&gate);
    let inbox = gate.opal.path().join("home/.opal/inbox");
    // Somebody found a second contract whose digest begins the same way.
    let other = format!("{}{}", &id[..8], "0".repeat(24));
    fs::create_dir(inbox.join(&other)).unwrap();
    fs::copy(gate.opal.path().join("t.plan"), inbox.join(&other).join("contract.plan")).unwrap();
    gate.run(&id[..8]).code(2).says("several contracts of the inbox begin with");
    gate.run(&other).code(76).says("has changed since it was submitted");
    gate.run(&id[..16]).code(0);
    // Another file is not taken for the one that was submitted.
    fs::write(inbox.join(&id).join("contract.plan"), "other").unwrap();
    gate.opal.call(&["plan", "submit", "d.plan"]).code(76).says("another contract with the id");
}
