use std::fmt::Write as _;
use std::fs;

use super::super::{attributes, metrics};
use super::*;

const ID: &str = "run-20261115T080000Z-00000102";

/// A record of these events, which ended as the summary says.
fn reported(events: &str, summary: &str) -> Reported {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join(ID);
    fs::create_dir(&folder).unwrap();
    let head =
        "{\"at\":\"2026-11-15T08:00:00.000000Z\",\"kind\":\"run_started\",\"target\":\"task\"}\n";
    fs::write(folder.join("events.jsonl"), format!("{head}{events}")).unwrap();
    if !summary.is_empty() {
        fs::write(folder.join("summary.json"), summary).unwrap();
    }
    read(&Found { id: ID.parse().unwrap(), folder }).unwrap()
}

const DONE: &str = "{\"status\":\"executed\",\"code\":0,\"target\":\"task\",\
                    \"started_at\":\"2026-11-15T08:00:00.000000Z\",\
                    \"finished_at\":\"2026-11-15T08:00:09.500000Z\"}";

fn started(number: u64, path: &str, more: &str) -> String {
    let second = number.min(9);
    format!(
        "{{\"at\":\"2026-11-15T08:00:0{second}.000000Z\",\"attempt\":1,\"decorator\":\"@shell\",\
         \"kind\":\"step_started\",\"number\":{number},\"path\":\"{path}\"{more}}}\n"
    )
}

fn finished(number: u64, path: &str, more: &str) -> String {
    let second = number.min(9);
    format!(
        "{{\"at\":\"2026-11-15T08:00:0{second}.500000Z\",\"attempt\":1,\"decorator\":\"@shell\",\
         \"kind\":\"step_finished\",\"number\":{number},\"path\":\"{path}\"{more}}}\n"
    )
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|it| it.key == key)?;
    Some(format!("{:?}", found.value.as_ref()?.value.as_ref()?))
}

#[test]
fn times_are_those_of_the_events() {
    let events =
        started(1, "task.shell[0]", "") + &finished(1, "task.shell[0]", ",\"end\":\"done\"");
    let reported = reported(&events, DONE);
    let [run, step] = &reported.spans[..] else { panic!("{:?}", reported.spans) };
    assert_eq!(run.end_time_unix_nano - run.start_time_unix_nano, 9_500_000_000);
    assert_eq!(step.start_time_unix_nano - run.start_time_unix_nano, 1_000_000_000);
    assert_eq!(step.end_time_unix_nano - step.start_time_unix_nano, 500_000_000);
    assert_eq!(step.parent_span_id, run.span_id);
}

#[test]
fn a_fleet_has_the_steps_of_its_targets_inside() {
    let target = |name: &str| format!(",\"target\":\"{name}\"");
    let events = started(1, "task.fleet[0]", ",\"block\":true")
        + &started(2, "task.fleet[0].block[0]", &format!(",\"block\":true{}", target("a")))
        + &started(3, "task.fleet[0].block[0]", &format!(",\"block\":true{}", target("b")))
        + &started(4, "task.fleet[0].block[0].shell[0]", &target("b"))
        + &started(5, "task.fleet[0].block[0].shell[0]", &target("a"));
    let reported = reported(&events, DONE);
    let parents: Vec<usize> = (reported.spans[1..].iter())
        .map(|span| reported.spans.iter().position(|it| it.span_id == span.parent_span_id).unwrap())
        .collect();
    assert_eq!(parents, [0, 1, 1, 3, 2]);
}

#[test]
fn targets_that_nobody_reached_are_errors_of_those_targets() {
    let row = |name: &str, more: &str| {
        format!(
            "{{\"kind\":\"target_finished\",\"path\":\"task.fleet[0]\",\"row\":{{\"target\":\"{name}\"{more}}}}}\n"
        )
    };
    let events = started(1, "task.shell[0]", ",\"target\":\"a\"")
        + &finished(1, "task.shell[0]", ",\"code\":4,\"end\":\"failed\",\"target\":\"a\"")
        + &row("a", ",\"status\":\"failed\",\"code\":4")
        + &row("b", ",\"status\":\"unreachable\"")
        + &row("c", ",\"status\":\"ok\"")
        + &row("d", ",\"status\":\"lost\",\"earlier\":true");
    let reported = reported(&events, DONE);
    let errors: Vec<(&str, &str, u64)> = reported
        .errors
        .iter()
        .map(|((target, error), count)| (&**target, &**error, *count))
        .collect();
    assert_eq!(errors, [("a", "4", 1), ("b", "unreachable", 1)]);
    assert_eq!(metrics::of(&reported).0, 3);
}

#[test]
fn a_killed_run_ends_with_the_last_that_was_written() {
    let reported = reported(&(started(3, "task.shell[0]", "") + "{\"kind\":\"step_fin"), "");
    assert_eq!(reported.result.name, "error");
    let [run, step] = &reported.spans[..] else { panic!("{:?}", reported.spans) };
    assert_eq!(run.end_time_unix_nano - run.start_time_unix_nano, 3_000_000_000);
    assert_eq!(step.status.as_ref().unwrap().message, "not finished");
}

#[test]
fn there_is_a_limit_to_what_is_sent_and_it_is_said() {
    let text = format!(",\"text\":\"{}\"", "x".repeat(2_000));
    let mut events = String::new();
    for number in 1..=8_000 {
        write!(events, "{}", started(number, &format!("task.shell[{number}]"), &text)).unwrap();
        write!(events, "{}", finished(number, "task", ",\"code\":1,\"end\":\"failed\"")).unwrap();
    }
    let reported = reported(&events, DONE);
    let dropped = 8_001 - reported.spans.len();
    assert!(dropped > 0);
    assert_eq!(
        attribute(&reported.spans[0], "opal.spans.dropped"),
        Some(format!("IntValue({dropped})"))
    );
    // What was not sent is counted all the same.
    assert_eq!(reported.errors.values().sum::<u64>(), 8_000);
    let bytes = message(reported).encoded_len();
    assert!((MOST_BYTES / 2..2 * MOST_BYTES).contains(&bytes), "{bytes}");
}

#[test]
fn a_text_is_cut_between_two_characters() {
    let long = "é".repeat(600);
    let cut = attributes::cut(&long);
    assert!(cut.len() <= 1024 && cut.ends_with('…') && long.starts_with(cut.trim_end_matches('…')));
    assert_eq!(attributes::cut("short"), "short");
}

#[test]
fn hostile_events_change_nothing_but_the_trace() {
    let events = "{\"kind\":\"step_started\"}\n{\"kind\":\"step_finished\",\"number\":7}\n\
                  {\"kind\":\"step_retrying\",\"path\":\"x\"}\n{\"kind\":\"step_verified\",\"path\":\"...\"}\n\
                  {\"kind\":\"step_undone\"}\n{\"kind\":\"target_finished\"}\n{\"kind\":\"step_started\",\
                  \"number\":18446744073709551615,\"path\":\"..\",\"attempt\":18446744073709551615,\"at\":\"x\"}\n";
    let reported =
        reported(events, "{\"status\":\"failed\",\"finished_at\":\"1066-01-01T00:00:00Z\"}");
    assert_eq!(reported.result.name, "failure");
    assert!(reported.spans.iter().all(|it| it.end_time_unix_nano >= it.start_time_unix_nano));
}
