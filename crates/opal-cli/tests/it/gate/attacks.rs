//! What somebody could put beside a contract, into the ledger or into a project.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use opal_core::view::{Facts, Outline, PlanView};

use super::{BY_ANN, Gate};
use crate::agents::Agent;
use crate::ui::Ui;

fn approved() -> (Gate, String) {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.approve("d.plan", "ann");
    gate.policy(&format!("{BY_ANN}once = false\n"));
    let line = gate.lines("d.plan");
    (gate, line)
}

#[test]
fn a_file_of_approvals_may_come_from_anywhere() {
    let (gate, line) = approved();
    let reordered = {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        format!("{{\"statement\":{},\"signature\":{}}}\n", value["statement"], value["signature"])
    };
    for (what, text, code) in [
        ("ends of lines of Windows", line.replace('\n', "\r\n"), 0),
        ("no last line feed", line.trim_end().to_owned(), 0),
        ("twice", line.repeat(2), 0),
        ("a thousand times", line.repeat(1_000), 0),
        ("blank lines", format!("\n \n{line}\n\n"), 0),
        ("bytes that are not text before it", String::from("\u{fffd}\n") + &line, 0),
        ("a byte order mark", format!("\u{feff}{line}"), 77),
        ("members in another order", reordered, 77),
        ("blanks after it", format!("{} \n", line.trim_end()), 77),
        ("two on one line", line.trim_end().repeat(2) + "\n", 77),
        ("a line that is too long", format!("{{\"x\":\"{}\"}}\n", "x".repeat(20_000)), 77),
    ] {
        gate.opal.write("d.plan.approvals", text);
        let ran = gate.run("d.plan");
        assert_eq!(ran.code, code, "{what}: {ran:#?}");
    }
    gate.opal.write("d.plan.approvals", [&[0xff, 0xfe, b'\n'], line.as_bytes()].concat());
    gate.run("d.plan").code(0);
}

#[test]
fn what_is_not_a_file_of_approvals_is_named_and_never_waited_for() {
    let (gate, line) = approved();
    let path = gate.opal.path().join("d.plan.approvals");
    gate.opal.write("d.plan.approvals", line.repeat(1 + (4 << 20) / line.len()));
    gate.run("d.plan").code(65).says("is longer than 4194304 bytes");
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    gate.run("d.plan").code(66).says("d.plan.approvals").says("named pipe");
    let key = gate.key("ann").display().to_string();
    let (code, shown) = gate.says(&["plan", "approve", "d.plan", "--key", &key], "y\r");
    assert!(code == 66 && shown.contains("named pipe"), "{code} {shown}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    gate.run("d.plan").code(66).says("d.plan.approvals");
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    gate.run("d.plan").code(66).says("d.plan.approvals");
}

#[test]
fn a_damaged_ledger_does_not_forget_a_rejection() {
    let (gate, approvals) = approved();
    let key = gate.key("ann").display().to_string();
    assert_eq!(gate.says(&["plan", "reject", "d.plan", "--key", &key], "y\r").0, 0);
    gate.opal.write("d.plan.approvals", approvals);
    gate.run("d.plan").code(77).says("rejected by ann");
    let ledger = gate.opal.path().join("home/.opal/ledger");
    let kept = fs::read_dir(&ledger).unwrap().flatten().map(|entry| entry.path());
    let kept = kept.filter(|path| path.extension().is_some_and(|it| it == "rejected"));
    let kept = kept.last().unwrap();
    let line = fs::read(&kept).unwrap();
    // A line that was cut off, with half of a character, before the one that holds.
    let torn = b"{\"signature\":\"\xc3";
    fs::write(&kept, [&torn[..], b"\n", &line].concat()).unwrap();
    gate.run("d.plan").code(77).says("rejected by ann");
    // Alone it may have been the line of anybody. What comes after it has a line of its own.
    fs::write(&kept, torn).unwrap();
    gate.run("d.plan")
        .code(77)
        .says("line 1 of")
        .says(".rejected` cannot be read")
        .hides("deploying");
    let rejected = String::from_utf8(line.clone()).unwrap();
    let approvals = fs::read_to_string(gate.opal.path().join("d.plan.approvals")).unwrap();
    gate.opal.write("d.plan.approvals", format!("{approvals}{rejected}"));
    gate.run("d.plan").code(77).says("rejected by ann");
    gate.opal.write("d.plan.approvals", &approvals);
    gate.run("d.plan").code(77).says("rejected by ann");
    // One that cannot be read may say anything.
    fs::remove_file(&kept).unwrap();
    fs::create_dir(&kept).unwrap();
    gate.run("d.plan").code(77).says(".rejected").hides("deploying");
    fs::remove_dir(&kept).unwrap();
    fs::write(&kept, &line).unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o666)).unwrap();
    gate.run("d.plan").code(77).says("chmod go-w").hides("deploying");
}

#[test]
fn clocks_may_differ_by_five_minutes_and_no_more() {
    let (gate, line) = approved();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    let at = value["statement"]["at"].as_i64().unwrap();
    for (by, code) in [(250, 0), (400, 77), (-86_000, 0), (-86_500, 77), (i64::MAX - at, 77)] {
        let moved = |text: &str| text.replace(&format!(":{at},"), &format!(":{},", at + by));
        let forged = gate.forge(&line, moved, "ann", "opal-approval-v1");
        gate.opal.write("d.plan.approvals", forged);
        let ran = gate.run("d.plan");
        assert_eq!(ran.code, code, "{by}: {ran:#?}");
    }
}

const RISKY: &str = "\
fun deploy() {
    @confirm(\"Really deploy?\")
    echo deploying
}
";

const RISKIER: &str = "\
fun deploy() {
    echo deploying
    sh -c @raw(@env.REGION)
    @script(\"python3\") { print(1) }
}
";

/// Whoever hides something in a long plan does not get past these lines.
#[test]
fn what_a_reviewer_must_not_miss_is_marked_wherever_a_plan_is_shown() {
    let gate = Gate::with(RISKY);
    gate.plan(&["deploy", "-o", "one.plan"]);
    gate.approve("one.plan", "ann");
    gate.opal.write("commands.opl", RISKIER);
    gate.plan(&["deploy", "-o", "two.plan"]);
    let raw = "`@raw` pastes a value into a command, and the shell interprets it: deploy.shell[1]";
    let script = "`@script` runs a program in another language, which opal does not check: \
                  deploy.script[0]";
    let asked = "nobody is asked any more: `@confirm(message=\"Really deploy?\")` is gone";
    let differences = gate.approve("two.plan", "ann").replace(['\r', '\n'], "");
    let diff = |more: &[&str]| {
        let words = [&["plan", "diff", "one.plan", "two.plan"], more].concat();
        gate.opal.call(&words).code(1).stdout.clone()
    };
    let page = diff(&["--format", "html"]).replace("&quot;", "\"");
    let json = diff(&["--json"]).replace("\\\"", "\"");
    for shown in [&differences, &diff(&[]), &page, &json] {
        for mark in [raw, script, asked] {
            assert!(shown.contains(mark), "{mark}: {shown}");
        }
    }
    // The same step with another value is other code.
    let elsewhere = [("REGION", "echo elsewhere")];
    gate.opal.call_with(&elsewhere, &["plan", "deploy", "-o", "three.plan"]).code(0);
    let values = gate.opal.call(&["plan", "diff", "two.plan", "three.plan"]).code(1).stdout.clone();
    assert!(values.contains(raw) && !values.contains(script), "{values}");
    // The whole plan, for somebody who approved none before.
    let whole = gate.approve("two.plan", "bob").replace(['\r', '\n'], "");
    let show = |more: &[&str]| {
        gate.opal.call(&[&["plan", "show", "two.plan"], more].concat()).code(0).stdout.clone()
    };
    for shown in [&whole, &show(&[]), &show(&["--format", "html"]), &show(&["--json"])] {
        for mark in [raw, script] {
            assert!(shown.contains(mark), "{mark}: {shown}");
        }
    }
}

#[test]
fn a_contract_of_a_newer_opal_cannot_be_approved() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let mut bytes = gate.opal.bytes("d.plan");
    // After the magic, the major version: little end first.
    bytes[6] += 1;
    gate.opal.write("newer.plan", bytes);
    let key = gate.key("ann").display().to_string();
    let ran = gate.opal.call(&["plan", "approve", "newer.plan", "--key", &key]);
    ran.code(65).says("has parts that this one cannot show").says("approve it with that version");
    assert!(!gate.opal.path().join("newer.plan.approvals").exists());
}

#[test]
fn a_key_in_an_agent_that_others_reach_is_warned_about() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let shown = gate.approve("d.plan", "ann");
    assert!(!shown.contains("SSH agent"), "{shown}");
    let socket = gate.opal.path().join("agent.sock").display().to_string();
    let gate = Gate { opal: gate.opal.env("SSH_AUTH_SOCK", &socket) };
    let shown = gate.approve("d.plan", "ann");
    assert!(shown.contains("every process that reaches your SSH agent"), "{shown}");
    assert!(shown.contains("ssh-add -c"), "{shown}");
}

/// One function makes the facts of every view: none has one that another lacks.
#[test]
fn all_views_of_a_contract_have_the_same_facts() {
    let gate = Gate::new();
    gate.opal.call(&["keys", "generate", "ci"]).code(0);
    let words = ["deploy", "-o", "d.plan", "--expires", "2h", "--once", "--sign", "ci"];
    gate.plan(&words);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let show = |more: &[&str]| {
        gate.opal.call(&[&["plan", "show", "d.plan"], more].concat()).code(0).stdout.clone()
    };
    let json = gate.opal.call(&["plan", "show", "d.plan", "--json"]).json();
    let ci = gate.opal.call(&["keys", "show", "ci"]).stdout.trim().to_owned();
    let hash = json["header"]["plan_hash"].as_str().unwrap().to_owned();
    let all = [hash, ci.clone(), "echo deploying to".to_owned(), "env.REGION".to_owned()];
    let key = gate.key("ann").display().to_string();
    let approve = ["plan", "approve", "d.plan", "--key", &key, "--show"];
    let approved = gate.opal.call(&approve).code(0).stdout.clone();
    let entry = gate.opal.call(&["plan", "inbox", "--json"]).json();
    let id = entry["contracts"][0]["id"].as_str().unwrap().to_owned();
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    let own = ui.get(&format!("/contracts/{id}")).ok().body;
    let mut agent = Agent::start(&gate);
    let told = agent.call("contracts", serde_json::json!({"contract": id})).done().to_string();
    let views = [
        ("tree", show(&[])),
        ("page", show(&["--format", "html"])),
        ("approve", approved),
        ("page of `opal ui`", own),
    ];
    let documents = [("json", show(&["--json"])), ("tool of `opal mcp`", told)];
    for (view, shown) in views.iter().chain(&documents) {
        for text in &all {
            assert!(shown.contains(text.as_str()), "{text} is not in the {view}: {shown}");
        }
    }
    // Every fact, as that one function has it.
    let contract = opal_trust::contracts::peek(&gate.opal.bytes("d.plan")).unwrap();
    let facts = Facts { signed_by: vec![ci], ..Facts::of(&contract) };
    let view = PlanView::new(contract.plan(), contract.plan_hash()).with_facts(facts);
    let facts = Outline::new(&view).facts();
    assert!(facts.len() >= 6, "{facts:?}");
    for (view, shown) in &views {
        for (name, text) in &facts {
            assert!(shown.contains(text.as_str()), "{name}: {text} is not in the {view}: {shown}");
        }
    }
}
