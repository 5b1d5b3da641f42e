//! Decisions: a page asks, the terminal shows and asks, a key signs.

use opal_testing::processes::eventually;

use super::Ui;
use super::attacks::{form, submitted};
use crate::gate::Gate;

fn gate() -> Gate {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate
}

fn started(gate: &Gate) -> Ui {
    let key = gate.key("ann").display().to_string();
    Ui::in_terminal(gate.opal.interruptible(), &["--no-open", "--key", &key]).entered()
}

fn decide(ui: &Ui, id: &str, decision: &str) -> super::Answer {
    ui.client.post(&format!("/contracts/{id}/decide"), &form(ui, id, decision))
}

fn state(ui: &Ui, id: &str) -> String {
    let json = ui.get(&format!("/contracts/{id}.json")).ok().json();
    json["contract"]["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_page_asks_the_terminal_shows_the_contract_and_a_person_signs() {
    let gate = gate();
    let id = submitted(&gate, "deploy");
    let mut ui = started(&gate);
    let answer = decide(&ui, &id, "approve");
    assert_eq!(answer.status, 303, "{answer:?}");
    let place = format!("{}/contracts/{id}", ui.client.base);
    assert_eq!(answer.header("location"), Some(&*place));
    ui.says("? [y/N] ");
    // The terminal has shown the whole digest and the steps, and the page cannot answer for it.
    let digest = ui.get(&format!("/contracts/{id}.json")).ok().json()["digest"].clone();
    let digest = digest.as_str().unwrap().trim_start_matches("sha256:").to_owned();
    let said = ui.said().replace(['\r', '\n'], "");
    assert!(said.contains(&digest) && said.contains("echo deploying to"), "{said}");
    assert!(said.contains("You approve these unseen:"), "{said}");
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(
        page.contains("The terminal of <code>opal ui</code> asks whether to approve"),
        "{page}"
    );
    assert!(!page.contains("<form"), "{page}");
    assert_eq!(state(&ui, &id), "waiting");
    let mut events = ui.client.events(&format!("/contracts/{id}/events"));
    ui.types("y\r");
    events.until("event: over");
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(page.contains("The approval was signed in the terminal."), "{page}");
    assert_eq!(state(&ui, &id), "approved");
    gate.run(&id).code(0).stdout("deploying to eu-west-1\n");
}

#[test]
fn a_file_of_the_project_with_the_name_of_the_id_is_not_what_is_asked_about() {
    let gate = gate();
    let [id, other] = ["deploy", "test"].map(|task| submitted(&gate, task));
    let of = |id: &str| gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan"));
    std::fs::copy(of(&other), gate.opal.path().join(&id)).unwrap();
    let mut ui = started(&gate);
    assert_eq!(decide(&ui, &id, "approve").status, 303);
    ui.says("? [y/N] ");
    assert!(ui.said().contains("echo deploying to"), "{}", ui.said());
    ui.types("y\r");
    eventually("it is approved", || state(&ui, &id) == "approved");
    assert_eq!(state(&ui, &other), "waiting");
}

#[test]
fn who_says_no_in_the_terminal_signs_nothing_and_the_pages_go_on() {
    let gate = gate();
    let id = submitted(&gate, "deploy");
    let mut ui = started(&gate);
    // No; and Ctrl+C, which answers the question and does not end the pages.
    for keys in ["n\r", "\x03"] {
        let before = ui.said().matches("? [y/N] ").count();
        assert_eq!(decide(&ui, &id, "approve").status, 303);
        eventually("it asks", || ui.said().matches("? [y/N] ").count() > before);
        if keys == "\x03" {
            ui.signal("INT");
        }
        ui.types(keys);
        eventually("it is answered", || {
            let page = ui.get(&format!("/contracts/{id}")).ok().body;
            page.contains("Declined in the terminal; nothing was signed.") && page.contains("<form")
        });
        assert_eq!(state(&ui, &id), "waiting");
    }
    let approvals = gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan.approvals"));
    assert!(!approvals.exists());
    ui.signal("INT");
    assert_eq!(ui.ends(), Some(0), "{}", ui.said());
}

/// Nobody can have meant a question that they had not seen, whether they typed ahead or something else did.
#[test]
fn what_was_typed_before_the_question_is_not_its_answer() {
    let gate = gate();
    let id = submitted(&gate, "deploy");
    let mut ui = started(&gate);
    ui.types("y\r");
    eventually("the terminal has it", || ui.said().ends_with("y\r\n"));
    assert_eq!(decide(&ui, &id, "approve").status, 303);
    ui.says("? [y/N] ");
    ui.types("n\r");
    eventually("it is answered", || {
        let page = ui.get(&format!("/contracts/{id}")).ok().body;
        page.contains("Declined in the terminal; nothing was signed.")
    });
    assert_eq!(state(&ui, &id), "waiting");
    let approvals = gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan.approvals"));
    assert!(!approvals.exists());
}

#[test]
fn a_rejection_is_signed_in_the_same_way() {
    let gate = gate();
    let id = submitted(&gate, "deploy");
    let mut ui = started(&gate);
    assert_eq!(decide(&ui, &id, "reject").status, 303);
    ui.says("Reject `deploy`");
    ui.types("y\r");
    eventually("it is rejected", || state(&ui, &id) == "rejected");
    gate.run(&id).code(77).says("rejected");
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(page.contains("rejected by ann") && !page.contains("<form"), "{page}");
}

#[test]
fn the_terminal_asks_one_question_at_a_time() {
    let gate = gate();
    let [one, other] = ["deploy", "test"].map(|task| submitted(&gate, task));
    let mut ui = started(&gate);
    assert_eq!(decide(&ui, &one, "approve").status, 303);
    ui.says("? [y/N] ");
    let second = decide(&ui, &other, "approve");
    assert!(second.status == 409 && second.body.contains("another contract"), "{second:?}");
    assert_eq!(ui.said().matches("a page asks").count(), 1, "{}", ui.said());
    ui.types("y\r");
    eventually("it is approved", || state(&ui, &one) == "approved");
    assert_eq!(state(&ui, &other), "waiting");
    assert_eq!(decide(&ui, &other, "approve").status, 303);
    ui.says("Approve `test`");
}

#[test]
fn without_a_terminal_no_form_is_shown_and_none_is_taken() {
    let gate = gate();
    let id = submitted(&gate, "deploy");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(page.contains("has no terminal that could ask") && !page.contains("<form"), "{page}");
    let json = ui.get(&format!("/contracts/{id}.json")).ok().json();
    let digest = json["digest"].as_str().unwrap().trim_start_matches("sha256:").to_owned();
    let body = format!("digest={digest}&token={}&decision=approve", "0".repeat(32));
    assert_eq!(ui.client.post(&format!("/contracts/{id}/decide"), &body).status, 403);
    assert_eq!(state(&ui, &id), "waiting");
}
