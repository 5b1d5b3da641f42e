//! A run while it goes on.

use opal_testing::processes::eventually;

use super::Ui;
use crate::support::Opal;

const SOURCE: &str = "\
fun main() {
    printf '\\033[31mred\\033[0m <b>bold</b>\\n'
    printf 'begun'; until [ -e go ]; do sleep 0.01; done; echo ' and gone'
    sh -c 'exit 3'
}
";

/// A run that goes on until the file `go` is there, and its id.
pub(super) fn begun(opal: &Opal) -> (std::process::Child, String) {
    let child = opal.command().arg("main").spawn().unwrap();
    let id = opal.running();
    (child, id)
}

#[test]
fn a_page_hears_of_steps_and_output_as_they_come_and_of_the_end() {
    let opal = Opal::machine(SOURCE);
    let ui = Ui::start(opal.command(), &[]).entered();
    let (mut child, id) = begun(&opal);
    let page = ui.get(&format!("/records/{id}")).ok().body;
    assert!(page.contains("running") && page.contains("Live output"), "{page}");
    let nonce = page.split_once("<script nonce=\"").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(page.matches(&format!("nonce=\"{nonce}\"")).count(), 2, "style and script");
    let mut events = ui.client.events(&format!("/records/{id}/events"));
    assert_eq!(events.status(), 200);
    assert!(
        events.text.to_lowercase().contains("content-type: text/event-stream"),
        "{}",
        events.text
    );
    // Text is sent as text: without colours, and the page sets it as such.
    events.until("red <b>bold</b>\\n");
    // A line that has only begun is there too.
    events.until("\"text\":\"begun\"");
    assert!(!events.text.contains("event: over"), "{}", events.text);
    opal.write("go", "");
    events.until("\"text\":\" and gone\\n\"");
    events.until("event: over");
    let all = events.rest();
    assert_eq!(all.matches("event: step").count(), 3, "{all}");
    assert!(all.contains("\"end\":\"failed\""), "{all}");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // Whoever asks later hears everything again, and reads the report.
    let mut again = ui.client.events(&format!("/records/{id}/events"));
    again.until("event: over");
    assert!(
        again.text.contains("begun") && again.text.contains(" and gone\\n\""),
        "{}",
        again.text
    );
    let report = ui.get(&format!("/records/{id}")).ok().body;
    assert!(
        report.contains("failed") && report.contains("Timeline") && !report.contains("<script")
    );
}

/// A step that has printed much and has ended: its output comes in parts, all of it before its end.
#[test]
fn all_of_a_long_output_comes_before_the_end_of_its_step() {
    let opal = Opal::machine("fun main() {\n    seq 1 400000\n    echo last\n}\n");
    opal.call(&["main", "-q"]).code(0);
    let ui = Ui::start(opal.command(), &[]).entered();
    let run = ui.get("/records.json").ok().json()["runs"][0]["id"].as_str().unwrap().to_owned();
    let events = ui.client.events(&format!("/records/{run}/events")).rest();
    let (mut text, mut ends) = (String::new(), Vec::new());
    for event in events.split("\n\n") {
        let Some((name, data)) = event.trim_start().split_once("\ndata: ") else { continue };
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        match name.rsplit_once("event: ").unwrap().1 {
            "output" => text.push_str(data["text"].as_str().unwrap()),
            "ended" => ends.push(text.len()),
            _ => {}
        }
    }
    let expected: String = (1..=400_000).map(|number| format!("{number}\n")).collect();
    assert!(text == format!("{expected}last\n"), "{} of {} bytes", text.len(), expected.len());
    assert_eq!(ends, [expected.len(), text.len()]);
}

#[test]
fn at_most_sixteen_pages_listen_at_the_same_time() {
    let opal = Opal::machine(SOURCE);
    let ui = Ui::start(opal.command(), &[]).entered();
    let (mut child, id) = begun(&opal);
    let path = format!("/records/{id}/events");
    let mut all: Vec<_> = (0..16).map(|_| ui.client.events(&path)).collect();
    for one in &mut all {
        assert_eq!(one.status(), 200);
        one.until("begun");
    }
    let one_more = ui.get(&path);
    assert!(one_more.status == 403 && one_more.body.contains("too many"), "{one_more:?}");
    // Pages that only show something are still answered.
    ui.get("/records").ok();
    drop(all.pop());
    eventually("its place is free", || ui.client.events(&path).status() == 200);
    opal.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    for mut one in all {
        one.until("event: over");
    }
}

#[test]
fn a_run_that_nobody_knows_has_no_events() {
    let opal = Opal::machine("");
    let ui = Ui::start(opal.command(), &[]).entered();
    for id in ["last", "run-20261118T154341Z-0a1b2c3d", "..%2f..%2fx"] {
        assert_eq!(ui.get(&format!("/records/{id}/events")).status, 404, "{id}");
    }
}
