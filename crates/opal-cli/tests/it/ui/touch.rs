//! `opal ui` without a terminal, and a hardware key: its touch answers.

use opal_testing::processes::eventually;

use super::Ui;
use super::attacks::{form, submitted};
use crate::gate::presence::with_hardware;

#[test]
fn without_a_terminal_the_touch_of_a_hardware_key_answers() {
    let Some((gate, hardware)) = with_hardware() else { return };
    let rule = format!("[[approval]]\nby = [{}]\npresence = true\n", hardware.listed());
    gate.policy(&rule);
    let [id, other] = ["deploy", "test"].map(|task| submitted(&gate, task));
    let key = hardware.key().display().to_string();
    let ui = Ui::start(gate.opal.command(), &["--no-open", "--key", &key]).entered();
    let page = |id: &str| ui.get(&format!("/contracts/{id}")).ok().body;
    let state = |id: &str| {
        let json = ui.get(&format!("/contracts/{id}.json")).ok().json();
        json["contract"]["state"].as_str().unwrap().to_owned()
    };
    let decide = |id: &str, decision: &str| {
        let answer = ui.client.post(&format!("/contracts/{id}/decide"), &form(&ui, id, decision));
        assert_eq!(answer.status, 303, "{answer:?}");
    };
    let shown = page(&id);
    assert!(shown.contains("touch your hardware key") && shown.contains("<form"), "{shown}");
    let json = ui.get(&format!("/contracts/{id}.json")).ok().json();
    assert!(shown.contains(json["digest"].as_str().unwrap()), "the whole digest: {shown}");
    // Nobody touches it, or it signs without: nothing is signed, and the page says why.
    for (how, why) in [("no", "did not sign"), ("without", "signed without a touch")] {
        hardware.touched(how);
        decide(&id, "approve");
        eventually(why, || page(&id).contains(why));
        assert!(page(&id).contains("Nothing was signed: "), "{}", page(&id));
        assert_eq!(state(&id), "waiting");
        ui.says("opal ui: nothing was signed");
    }
    hardware.touched("yes");
    decide(&id, "approve");
    eventually("it is approved", || state(&id) == "approved");
    assert!(page(&id).contains("The approval was signed with your key."), "{}", page(&id));
    gate.run(&id).code(0).stdout("deploying to eu-west-1\n");
    decide(&other, "reject");
    eventually("it is rejected", || state(&other) == "rejected");
}

#[test]
fn a_key_that_cannot_be_touched_needs_a_terminal() {
    let Some((gate, _)) = with_hardware() else { return };
    gate.policy("[[approval]]\nby = [ANN]\n");
    let id = submitted(&gate, "deploy");
    let key = gate.key("ann").display().to_string();
    let ui = Ui::start(gate.opal.command(), &["--no-open", "--key", &key]).entered();
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(page.contains("has no terminal that could ask") && !page.contains("<form"), "{page}");
}

#[test]
fn in_a_terminal_the_terminal_asks_also_for_a_hardware_key() {
    let Some((gate, hardware)) = with_hardware() else { return };
    let id = submitted(&gate, "deploy");
    let key = hardware.key().display().to_string();
    let mut ui = Ui::in_terminal(gate.opal.command(), &["--no-open", "--key", &key]).entered();
    let answer = ui.client.post(&format!("/contracts/{id}/decide"), &form(&ui, &id, "approve"));
    assert_eq!(answer.status, 303, "{answer:?}");
    ui.says("? [y/N] ");
    ui.types("y\r");
    ui.says("the signature is in");
}
