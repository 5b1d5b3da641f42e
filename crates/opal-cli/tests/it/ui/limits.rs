//! Limits of time. Seconds are short here: what passes in two of them is waited for, not measured.

use std::io::Write as _;

use super::started::Ui;
use crate::support::Opal;

/// More connections than are served at the same time, which send nothing: whoever comes after them is answered
/// when their time is over.
#[test]
fn connections_that_say_nothing_do_not_keep_others_out_for_long() {
    if !cfg!(debug_assertions) {
        // Only a debug build has short seconds.
        return;
    }
    let opal = Opal::machine("").env("OPAL_TEST_UI_SECOND", "100");
    let ui = Ui::start(opal.command(), &["--no-open"]).entered();
    let idle: Vec<_> = (0..100).map(|_| ui.client.connect()).collect();
    ui.get("/inbox").ok();
    drop(idle);
    ui.get("/inbox").ok();
}

#[test]
fn whoever_is_slow_is_left_and_whoever_listens_is_told_that_it_goes_on() {
    if !cfg!(debug_assertions) {
        // Only a debug build has short seconds.
        return;
    }
    let opal = Opal::machine("fun main() {\n    until [ -e go ]; do sleep 0.01; done\n}\n");
    let opal = opal.env("OPAL_TEST_UI_SECOND", "200");
    let ui = Ui::start(opal.command(), &["--no-open"]).entered();
    let (mut child, id) = super::live::begun(&opal);
    let mut events = ui.client.events(&format!("/records/{id}/events"));
    let (host, base) = (&ui.client.authority, &ui.client.base);
    let head = format!("POST {base}/contracts/x/decide HTTP/1.1\r\nHost: {host}\r\n");
    let form = ui.client.form_lines("").join("\r\n").replace("Length: 0", "Length: 9");
    // Nothing, a part of a head, and a part of a body.
    let slow = [String::new(), head.clone(), format!("{head}{form}\r\n\r\ndig")].map(|begun| {
        let mut stream = ui.client.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        (begun, stream)
    });
    for (begun, mut stream) in slow {
        let mut left = Vec::new();
        // It ends, and has not been answered with a page.
        let _ = std::io::Read::read_to_end(&mut stream, &mut left);
        assert!(!left.starts_with(b"HTTP/1.1 200"), "{begun}");
    }
    // By now a request has no time left, and the stream goes on all the same.
    let pings = events.text.matches(": ping").count();
    events.until(": ping\n\n");
    assert_eq!(pings, 0);
    opal.write("go", "");
    events.until("event: over");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    ui.get("/records").ok();
}
