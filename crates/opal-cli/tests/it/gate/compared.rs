//! What a contract is compared with when a person decides about it, and what the differences have.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use opal_core::contract::PluginRecord;
use serde_json::{Value, json};

use super::rewritten::rewritten;
use super::{Gate, SOURCE};
use crate::agents::Agent;

/// What a person would see before they sign, as a document.
fn shown(gate: &Gate, contract: &str, who: &str) -> Value {
    let key = gate.key(who).display().to_string();
    gate.opal.call(&["plan", "approve", contract, "--key", &key, "--show", "--json"]).code(0).json()
}

fn ledger(gate: &Gate) -> PathBuf {
    gate.opal.path().join("home/.opal/ledger")
}

/// The one contract that the ledger keeps as approved.
fn kept(gate: &Gate) -> PathBuf {
    let all = fs::read_dir(ledger(gate).join("approved")).unwrap().flatten();
    let all: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    let [one] = &all[..] else { panic!("{all:?}") };
    one.clone()
}

/// An agent of the same account plants a contract that is almost the one it wants to have approved.
#[test]
fn only_what_the_persons_own_key_has_approved_is_compared_with() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.approve("d.plan", "ann");
    let (kept, before) = (kept(&gate), shown(&gate, "d.plan", "bob")["contract"].clone());
    gate.opal.write("commands.opl", SOURCE.replace("echo deploying", "echo harm"));
    gate.plan(&["deploy", "-o", "harm.plan"]);
    gate.plan(&["deploy", "-o", "near.plan", "--expires", "2h"]);
    assert_eq!(shown(&gate, "harm.plan", "ann")["compared"], before);
    let near = shown(&gate, "near.plan", "ann")["contract"].as_str().unwrap().to_owned();
    let said = ledger(&gate).join(format!("{near}.approvals"));
    let whole = |what: &str| {
        let shown = shown(&gate, "harm.plan", "ann");
        assert_eq!(shown["compared"], Value::Null, "{what}");
        let document = shown["document"].as_str().unwrap();
        assert!(document.contains("echo harm"), "{what}: {document}");
        assert!(!document.contains("you approved last"), "{what}: {document}");
    };
    fs::copy(gate.opal.path().join("near.plan"), &kept).unwrap();
    whole("nobody has signed it");
    let line = gate.lines("d.plan");
    gate.approve("near.plan", "eve");
    let others = gate.lines("near.plan");
    let namespace = "opal-approval-v1";
    let same = |text: &str| text.to_owned();
    let rejected = |text: &str| text.replace("\"approve\"", "\"reject\"");
    let noted = |line: &str| line.replace("\"note\":null", "\"note\":\"x\"");
    for (what, text) in [
        ("signed by another key", others.clone()),
        ("signed, and about another contract", line),
        ("a rejection", gate.forge(&others, rejected, "ann", namespace)),
        ("signed for something else", gate.forge(&others, same, "ann", "file")),
        ("edited", noted(&gate.forge(&others, same, "ann", namespace))),
        ("not a line", "nonsense\n\u{0}".to_owned()),
    ] {
        fs::write(&said, text).unwrap();
        whole(what);
    }
    // With the key it is the word of that person, whoever has used the key.
    fs::write(&said, gate.forge(&others, same, "ann", namespace)).unwrap();
    assert_eq!(shown(&gate, "harm.plan", "ann")["compared"], near);
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o666)).unwrap();
    whole("others can write it");
    fs::File::create(&kept).unwrap().set_len(1 << 30).unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).unwrap();
    whole("larger than any contract");
    fs::remove_file(&kept).unwrap();
    assert!(Command::new("mkfifo").arg(&kept).status().unwrap().success());
    whole("a pipe, which is never waited for");
    fs::remove_file(&kept).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &kept).unwrap();
    whole("a device");
}

#[test]
fn a_contract_that_was_approved_elsewhere_and_ran_here_is_compared_with() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy("[[approval]]\nby = [ANN]\n");
    let key = gate.key("ann").display().to_string();
    let elsewhere = gate.opal.path().join("elsewhere").display().to_string();
    let words = ["plan", "approve", "d.plan", "--key", &key, "--root", &elsewhere];
    assert_eq!(gate.says(&words, "y\r").0, 0);
    gate.plan(&["deploy", "-o", "e.plan"]);
    assert_eq!(shown(&gate, "e.plan", "ann")["compared"], Value::Null);
    gate.run("d.plan").code(0);
    let ran = shown(&gate, "d.plan", "bob")["contract"].clone();
    assert_eq!(shown(&gate, "e.plan", "ann")["compared"], ran);
    // Approving and rejecting need no key of a runner.
    let (code, said) =
        gate.says(&["plan", "reject", "e.plan", "--key", &key, "--root", &elsewhere], "y\r");
    assert_eq!(code, 0, "{said}");
    let credentials = gate.opal.path().join("elsewhere/credentials");
    assert!(!credentials.exists(), "{:?}", fs::read_dir(credentials).map(Iterator::count));
}

fn package(checksum: char, capabilities: &[&str]) -> PluginRecord {
    PluginRecord {
        name: "acme/house".to_owned(),
        version: "1.0.0".to_owned(),
        source: "local+./plugins/house".to_owned(),
        verification: "none".to_owned(),
        signed_by: None,
        schema: None,
        checksum: Some(format!("sha256:{}", checksum.to_string().repeat(64))),
        engine: Some("native".to_owned()),
        capabilities: capabilities.iter().map(|&it| it.to_owned()).collect(),
    }
}

/// The steps only name a decorator: what it does is in the package.
#[test]
fn another_package_is_named_wherever_contracts_are_compared() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate.plan(&["deploy", "-o", "d.plan"]);
    let with = |all: Vec<PluginRecord>| rewritten(&gate, "d.plan", |_, made| made.plugins = all);
    // A record for each decorator.
    gate.opal.write("one.plan", with(vec![package('a', &["shell"]), package('a', &["shell"])]));
    gate.opal.write("two.plan", with(vec![package('b', &["shell", "web"])]));
    let [a, b] = ['a', 'b'].map(|one| format!("sha256:{}", one.to_string().repeat(64)));
    gate.approve("one.plan", "ann");
    let approving = shown(&gate, "two.plan", "ann");
    let document = approving["document"].as_str().unwrap();
    for line in [
        "the plans are the same, but their packages are not".to_owned(),
        format!("package acme/house checksum: {a} (approved), {b} (new)"),
        "package acme/house capabilities: shell (approved), shell, web (new)".to_owned(),
        format!("Packages    acme/house 1.0.0  {b}; engine native; may use shell, web"),
    ] {
        assert!(document.lines().any(|it| it == line), "{line}: {document}");
    }
    let diff = |files: [&str; 2], more: &[&str], code: i32| {
        let words = [&["plan", "diff", files[0], files[1]], more].concat();
        gate.opal.call(&words).code(code).stdout.clone()
    };
    let files = ["one.plan", "two.plan"];
    assert!(diff(files, &[], 1).contains(&format!("checksum: {a} (first), {b} (second)")));
    let page = diff(files, &["--format", "html"], 1);
    assert!(page.contains("Packages") && page.contains("2 differences"), "{page}");
    // Both begin with the same letters.
    let rest = |digest: &str| digest.trim_start_matches("sha256:").to_owned();
    assert!(page.contains(&rest(&a)) && page.contains(&rest(&b)), "{page}");
    let document: Value = serde_json::from_str(&diff(files, &["--json"], 1)).unwrap();
    assert_eq!(document["same"], false, "{document:#}");
    let checksum = json!({"name": "package acme/house checksum", "before": a, "after": b});
    assert!(document["packages"].as_array().unwrap().contains(&checksum), "{document:#}");
    // One that is only in one of them; and the same on both sides is none.
    assert!(diff(["d.plan", "one.plan"], &[], 1).contains(&format!("checksum: none (first), {a}")));
    assert!(diff(["one.plan", "one.plan"], &[], 0).contains("the plans are the same\n"));
    let ids = files.map(|file| {
        let entry = gate.opal.call(&["plan", "submit", file, "--json"]).code(0).json();
        entry["id"].as_str().unwrap().to_owned()
    });
    let mut agent = Agent::start(&gate);
    let said = agent.call("diff", json!({"contract": ids[0], "other": ids[1]})).done();
    let packages = said["result"]["packages"].to_string();
    assert!(packages.contains(&a) && packages.contains(&b), "{said:#}");
}

/// Nothing is cut where a person decides: neither the uses of a value, nor marks, nor a script.
#[test]
fn every_use_of_a_value_every_mark_and_every_line_is_shown() {
    let uses: String = (0..10).map(|step| format!("    echo use-{step} @env.REGION\n")).collect();
    let raw = "    sh -c @raw(@env.REGION)\n".repeat(30);
    let lines: String = (0..500).map(|line| format!("        print({line})\n")).collect();
    let source =
        format!("fun deploy() {{\n{uses}{raw}    @script(\"python3\") {{\n{lines}    }}\n}}\n");
    let gate = Gate::with(&source);
    gate.plan(&["deploy", "-o", "one.plan"]);
    let document = shown(&gate, "one.plan", "ann")["document"].as_str().unwrap().to_owned();
    for line in 0..500 {
        assert!(document.contains(&format!("print({line})")), "{line}: {document}");
    }
    let mark = |from: usize| {
        let paths: Vec<String> =
            (from..from + 30).map(|it| format!("deploy.shell[{it}]")).collect();
        format!("the shell interprets it: {}", paths.join(", "))
    };
    assert!(document.contains(&mark(10)), "{document}");
    let plan_show = gate.opal.call(&["plan", "show", "one.plan"]).code(0).stdout.clone();
    let page = ["plan", "show", "one.plan", "--format", "html"];
    let page = gate.opal.call(&page).code(0).stdout.clone();
    for shown in [&plan_show, &page] {
        assert!(shown.contains("print(499)") && !shown.contains("more line"), "{shown}");
    }
    gate.approve("one.plan", "ann");
    let elsewhere = [("REGION", "us-east-1")];
    gate.opal.call_with(&elsewhere, &["plan", "deploy", "-o", "two.plan"]).code(0);
    let document = shown(&gate, "two.plan", "ann")["document"].as_str().unwrap().to_owned();
    assert!(document.contains("you approved last") && document.contains(&mark(10)), "{document}");
    let diff = ["plan", "diff", "one.plan", "two.plan", "--format", "html"];
    let page = gate.opal.call(&diff).code(1).stdout.clone();
    let (differ, same) = page.split_once("The same in both").unwrap();
    for step in 0..40 {
        let path = format!("deploy.shell[{step}]");
        assert!(document.lines().any(|line| line.trim() == path), "{path}: {document}");
        assert!(differ.contains(&path) && !same.contains(&path), "{path}: {page}");
    }
    assert!(!document.contains("and in") && same.contains("deploy.script[0]"), "{document}");
}

/// A line far down in a script is a difference with its text, not another digest.
#[test]
fn both_scripts_are_shown_where_one_has_changed() {
    let source = |last: &str| {
        let lines: String = (0..40).map(|line| format!("        print({line})\n")).collect();
        format!("fun deploy() {{\n    @script(\"python3\") {{\n{lines}        {last}\n    }}\n}}\n")
    };
    let gate = Gate::with(&source("print('good')"));
    gate.plan(&["deploy", "-o", "one.plan"]);
    gate.approve("one.plan", "ann");
    gate.opal.write("commands.opl", source("print('harm')"));
    gate.plan(&["deploy", "-o", "two.plan"]);
    let document = shown(&gate, "two.plan", "ann")["document"].as_str().unwrap().to_owned();
    let diff = ["plan", "diff", "one.plan", "two.plan", "--format", "html"];
    let page = gate.opal.call(&diff).code(1).stdout.clone();
    for (view, shown) in [("approve", &document), ("page", &page)] {
        for line in ["print(39)", "good", "harm"] {
            assert!(shown.contains(line), "{line} is not in the {view}: {shown}");
        }
        assert!(!shown.contains("lines, sha256:"), "{view}: {shown}");
    }
}
