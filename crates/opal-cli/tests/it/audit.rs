//! `opal audit`: records of contracts as evidence.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::gate::Gate;
use crate::support::Opal;

/// A machine with a run of a contract, a refusal and a direct run.
fn machine() -> Opal {
    let opal = Opal::machine("fun deploy() {\n    echo deployed\n}\n");
    opal.call(&["keys", "generate", "release"]).code(0);
    opal.call(&["plan", "deploy", "-o", "d.plan", "--once"]).code(0);
    opal.call(&["run", "--plan", "d.plan"]).code(0);
    opal.call(&["run", "--plan", "d.plan"]).code(76);
    opal.call(&["deploy"]).code(0);
    opal
}

fn chain(opal: &Opal) -> PathBuf {
    opal.path().join("home/.opal/logs/chain.jsonl")
}

fn faults(opal: &Opal) -> Vec<String> {
    let shown = opal.call(&["audit", "verify", "--json"]).json();
    let all = shown["findings"].as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["line"], one["fault"].as_str().unwrap())).collect()
}

#[test]
fn what_was_edited_or_removed_is_found() {
    let opal = machine();
    opal.call(&["audit", "verify"]).code(0).stdout("2 records: nothing is missing or edited\n");
    let lines = fs::read_to_string(chain(&opal)).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let record = opal.path().join("home/.opal/logs/run").join(first["record"].as_str().unwrap());
    let summary = fs::read_to_string(record.join("summary.json")).unwrap();
    fs::write(record.join("summary.json"), summary.replace("deploy", "deplay")).unwrap();
    assert_eq!(faults(&opal), ["1 record_changed"]);
    opal.call(&["audit", "verify"]).code(1).says("the record was edited").says("1 finding");
    fs::remove_dir_all(&record).unwrap();
    assert_eq!(faults(&opal), ["1 record_missing"]);
    // Also together with its line.
    fs::write(chain(&opal), lines.lines().nth(1).unwrap().to_owned() + "\n").unwrap();
    assert_eq!(faults(&opal), ["1 gap"]);
    fs::write(chain(&opal), "nonsense\n").unwrap();
    assert_eq!(faults(&opal), ["1 malformed"]);
    fs::write(chain(&opal), lines.replace("deploy/", "../../")).unwrap();
    assert!(faults(&opal).contains(&"1 malformed".to_owned()));
}

/// A limit: nothing here shows that the end of the chain is gone. An export that has left the machine does.
#[test]
fn what_is_removed_at_the_end_leaves_no_trace_here_and_stays_in_an_export() {
    let opal = machine();
    let exported = opal.call(&["audit", "export", "--sign", "release"]).code(0).stdout.clone();
    let lines = fs::read_to_string(chain(&opal)).unwrap();
    let (first, last) = lines.trim_end().split_once('\n').unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let record = opal.path().join("home/.opal/logs/run").join(last["record"].as_str().unwrap());
    fs::remove_dir_all(record).unwrap();
    fs::write(chain(&opal), format!("{first}\n")).unwrap();
    opal.call(&["audit", "verify"]).code(0).stdout("1 record: nothing is missing or edited\n");
    opal.write("audit.jsonl", &exported);
    let kept = opal.call(&["audit", "verify", "audit.jsonl", "--key", "release"]);
    kept.code(0).says("2 records: nothing is missing or edited");
}

#[test]
fn an_export_has_runs_and_refusals_and_its_last_line_signs_them() {
    let opal = machine();
    let exported = opal.call(&["audit", "export", "--sign", "release"]).code(0).stdout.clone();
    let lines: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run", "refusal", "signature"], "{exported}");
    assert_eq!(lines[1]["run"]["refused"]["reason"], "used");
    opal.write("audit.jsonl", &exported);
    opal.call(&["audit", "verify", "audit.jsonl"])
        .code(0)
        .says("2 records")
        .says("signed by ed25519:");
    opal.call(&["audit", "verify", "audit.jsonl", "--key", "release"]).code(0);
    opal.call(&["keys", "generate", "other"]).code(0);
    let ran = opal.call(&["audit", "verify", "audit.jsonl", "--key", "other"]);
    ran.code(77).says("signed by another key");
    opal.write("edited.jsonl", exported.replace("\"used\"", "\"fine\""));
    opal.call(&["audit", "verify", "edited.jsonl"]).code(77).says("does not match the lines");
    let unsigned = opal.call(&["audit", "export"]).code(0).stdout.clone();
    opal.write("unsigned.jsonl", &unsigned);
    opal.call(&["audit", "verify", "unsigned.jsonl"]).code(0).says("not signed");
    opal.call(&["audit", "verify", "unsigned.jsonl", "--key", "release"])
        .code(77)
        .says("it is not signed");
    // Without its first line the rest still follows; without one in the middle it does not.
    opal.call(&["plan", "deploy", "-o", "e.plan"]).code(0);
    opal.call(&["run", "--plan", "e.plan"]).code(0);
    let three = opal.call(&["audit", "export"]).code(0).stdout.clone();
    let all: Vec<&str> = three.lines().collect();
    opal.write("rest.jsonl", all[1..].join("\n") + "\n");
    opal.call(&["audit", "verify", "rest.jsonl"]).code(0);
    opal.write("gap.jsonl", [all[0], all[2]].join("\n") + "\n");
    opal.call(&["audit", "verify", "gap.jsonl"]).code(1).says("was edited or removed");
    opal.call(&["audit", "export", "--since", "2020-01-01"]).code(0).stdout(&three);
}

#[test]
fn a_machine_without_contracts_has_nothing_to_show() {
    let opal = Opal::machine("fun a() {\n    echo a\n}\n");
    opal.call(&["audit", "verify"]).code(0).stdout("0 records: nothing is missing or edited\n");
    opal.call(&["audit", "export"]).code(0).stdout("");
    opal.call(&["audit", "verify", "missing.jsonl"]).code(66);
    opal.call(&["audit", "export", "--since", "soon"]).code(2);
}

/// A line that was cut off is a call that nobody can read any more: it is named, not left out.
#[test]
fn a_call_of_an_agent_that_was_cut_off_is_in_the_export_as_damaged() {
    let opal = machine();
    let calls = "{\"at\":\"2026-11-18T15:43:41Z\",\"tool\":\"tasks\"}\n{\"at\":\"2026-11-18T15";
    opal.write("home/.opal/logs/mcp", calls);
    let exported = opal.call(&["audit", "export"]).code(0).stdout.clone();
    let of = |kind: &str| exported.matches(&format!("\"kind\":\"{kind}\"")).count();
    assert_eq!((of("agent_call"), of("damaged")), (1, 1), "{exported}");
    opal.write("audit.jsonl", &exported);
    let verified = opal.call(&["audit", "verify", "audit.jsonl", "--json"]).code(1).json();
    let finding = &verified["findings"][0];
    assert_eq!((&finding["fault"], &finding["record"]), (&"damaged".into(), &"logs/mcp".into()));
}

/// Contracts, and what people signed about them, with their digests and signatures: also of files that are not in
/// the inbox any more.
#[test]
fn an_export_has_contracts_and_what_people_signed_and_each_signature_is_checked() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN, BOB]\n");
    for plan in ["a.plan", "b.plan"] {
        gate.plan(&["deploy", "-o", plan]);
    }
    let note = "ticket \u{1b}\u{7f}\u{202e}\"4711\"\\ \u{1f512}\n";
    let key = gate.key("ann").display().to_string();
    let words = ["plan", "approve", "a.plan", "--key", &key, "--note", note];
    assert_eq!(gate.says(&words, "y\r").0, 0);
    gate.run("a.plan").code(0);
    for file in ["a.plan", "a.plan.approvals"] {
        fs::remove_file(gate.opal.path().join(file)).unwrap();
    }
    let bob = gate.key("bob").display().to_string();
    assert_eq!(gate.says(&["plan", "reject", "b.plan", "--key", &bob], "y\r").0, 0);
    gate.opal.call(&["plan", "submit", "b.plan"]).code(0);
    gate.run("b.plan").code(77);
    let export = |more: &[&str]| {
        gate.opal.call(&[&["audit", "export"], more].concat()).code(0).stdout.clone()
    };
    let exported = export(&[]);
    let lines: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kind = |name: &str| lines.iter().filter(|line| line["kind"] == name).collect::<Vec<_>>();
    let (contracts, runs) = (kind("contract"), kind("run"));
    assert_eq!((contracts.len(), runs.len(), kind("refusal").len()), (2, 1, 1), "{exported}");
    let digest = |line: &Value| line["run"]["contract"]["file_digest"].as_str().unwrap().to_owned();
    let approval = kind("approval")[0];
    let signed = approval["contract"].as_str().unwrap();
    assert!(digest(runs[0]).ends_with(signed), "{exported}");
    assert!(contracts.iter().any(|it| it["contract"] == signed && it["target"] == "deploy"));
    assert_eq!(approval["approval"]["statement"]["note"], note);
    assert_eq!(kind("rejection")[0]["rejection"]["statement"]["decision"], "reject");
    let verify = |name: &str, text: &str| {
        gate.opal.write(name, text);
        gate.opal.call(&["audit", "verify", name])
    };
    verify("audit.jsonl", &exported).code(0);
    // Whatever is edited in what a person signed, or about which contract it is.
    let line = exported.lines().find(|it| it.contains("\"kind\":\"approval\"")).unwrap();
    let other = contracts.iter().find(|it| it["contract"] != signed).unwrap()["contract"].clone();
    for (from, to) in [
        ("4711", "4712"),
        ("\"approve\"", "\"reject\""),
        (signed, other.as_str().unwrap()),
        ("\"kind\":\"approval\"", "\"kind\":\"rejection\""),
        ("-----BEGIN SSH", "-----BEGIN"),
    ] {
        let edited = exported.replace(line, &line.replace(from, to));
        assert_ne!(edited, exported, "{from}");
        let found = verify("edited.jsonl", &edited);
        found.code(1).says("what a person signed was edited");
    }
    // Nothing of it is older than what is asked for.
    assert_eq!(export(&["--since", "2099-01-01"]), "");
    // What is damaged is not left out in silence.
    let root = gate.opal.path().join("home/.opal");
    let submitted = fs::read_dir(root.join("inbox")).unwrap().next().unwrap().unwrap();
    fs::write(submitted.path().join("contract.plan"), "not a contract").unwrap();
    let kept = root.join("ledger").join(format!("{signed}.approvals"));
    fs::write(&kept, [&fs::read(&kept).unwrap()[..], b"{\"signature\""].concat()).unwrap();
    let exported = export(&[]);
    let damaged = exported.lines().filter(|line| line.contains("\"kind\":\"damaged\""));
    let damaged: Vec<&str> = damaged.collect();
    let of = |id: &str| damaged.iter().any(|line| line.contains(&format!("\"of\":\"{id}\"")));
    let id = submitted.file_name().into_string().unwrap();
    assert!(damaged.len() == 2 && of(signed) && of(&id), "{damaged:?}");
    // Nor does the check of the export call it whole.
    verify("damaged.jsonl", &exported)
        .code(1)
        .says(&format!("{signed}: it could not be read"))
        .says("2 findings")
        .hides("nothing is missing");
}
