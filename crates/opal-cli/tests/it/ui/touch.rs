//! `opal ui` without a terminal, and a hardware key: its touch answers.

use opal_testing::processes::eventually;

use super::Ui;
use super::attacks::{form, submitted, submitted_with};
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
    assert!(shown.contains("You approve these unseen:") || shown.contains("Checkout"), "{shown}");
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
fn a_touch_signs_what_the_page_has_shown_and_nothing_that_was_not() {
    let Some((gate, hardware)) = with_hardware() else { return };
    gate.policy(&format!("[[approval]]\nby = [{}]\npresence = true\n", hardware.listed()));
    let ids = ["2h", "3h"].map(|end| submitted_with(&gate, &["deploy", "--expires", end]));
    let key = hardware.key().display().to_string();
    let ui = Ui::start(gate.opal.command(), &["--no-open", "--key", &key]).entered();
    let page = |id: &str| ui.get(&format!("/contracts/{id}")).ok().body;
    // What a terminal would show before it asks, with what no plan shows.
    let words = ["plan", "approve", &ids[1], "--show", "--key", &key];
    let document = gate.opal.call(&words).code(0).stdout.clone();
    let shown = page(&ids[1]);
    for line in
        document.lines().filter(|line| line.starts_with("Checkout") || line.starts_with("Key"))
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // The form of the second is older than what the key has approved since.
    let [first, second] = ids.each_ref().map(|id| form(&ui, id, "approve"));
    let post = |id: &str, form: &str| {
        let answer = ui.client.post(&format!("/contracts/{id}/decide"), form);
        assert_eq!(answer.status, 303, "{answer:?}");
    };
    post(&ids[0], &first);
    eventually("it is approved", || {
        page(&ids[0]).contains("The approval was signed with your key.")
    });
    post(&ids[1], &second);
    let why = "the key has approved another contract since this one was shown";
    eventually(why, || page(&ids[1]).contains(why));
    assert!(page(&ids[1]).contains("Differences from the contract of"), "{}", page(&ids[1]));
    post(&ids[1], &form(&ui, &ids[1], "approve"));
    eventually("it is approved too", || page(&ids[1]).contains("The approval was signed"));
}

#[test]
fn a_key_that_nobody_touches_ends_the_question() {
    let Some((gate, hardware)) = with_hardware() else { return };
    let id = submitted(&gate, "deploy");
    let key = hardware.key().display().to_string();
    let mut command = gate.opal.command();
    command.env("OPAL_TEST_UI_SECOND", "100");
    let ui = Ui::start(command, &["--no-open", "--key", &key]).entered();
    hardware.touched("wait");
    let decide = format!("/contracts/{id}/decide");
    assert_eq!(ui.client.post(&decide, &form(&ui, &id, "approve")).status, 303);
    let page = || ui.get(&format!("/contracts/{id}")).ok().body;
    eventually("it ends", || page().contains("nobody has touched the key in time"));
    assert!(page().contains("<form"), "the next question can be asked: {}", page());
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
