//! A process that is killed leaves a record that can be read.

use std::fs;

use opal_core::stream::Stream;
use opal_testing::shown;
use opal_vault::event::Status;
use opal_vault::record::reader::{self, Found, Run, State, Unread};
use opal_vault::record::{failed_path, reader::Events};
use opal_vault::witness::Recorder;

use crate::record::support::*;

/// A run that was dropped in the middle, and its events.
fn cut_short(place: &Place) -> (Found, Vec<u8>) {
    let writer = place.writer("deploy", 1);
    step(&writer, 1, "deploy.shell[0]", "grün\n".as_bytes());
    writer.event(&started(2, "deploy.shell[1]")).unwrap();
    writer.output(2, Stream::Stderr, &shown(b"half")).unwrap();
    drop(writer);
    let found = reader::list(&place.root).unwrap().remove(0);
    let events = fs::read(found.folder.join("events.jsonl")).unwrap();
    (found, events)
}

#[test]
fn who_goes_without_a_word_has_crashed() {
    let place = Place::new();
    let (found, _) = cut_short(&place);
    let run = Run::load(&found).unwrap();
    assert_eq!(run.state, State::Ended(Status::Crashed));
    let steps = reader::steps(&found.folder).unwrap();
    assert_eq!([steps[0].end(), steps[1].end()], ["done", "started"]);
    assert_eq!(printed(&found.folder, 2), b"half");
    assert_eq!(failed_path(&run).unwrap().unwrap().path, "deploy.shell[1]");
}

#[test]
fn events_that_are_cut_at_any_byte_can_be_read() {
    let place = Place::new();
    let (found, whole) = cut_short(&place);
    for length in 0..=whole.len() {
        fs::write(found.folder.join("events.jsonl"), &whole[..length]).unwrap();
        let lines = whole[..length].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(events(&found.folder).len(), lines);
        let run = Run::load(&found).unwrap();
        assert_eq!(run.state, State::Ended(Status::Crashed));
        assert_eq!(run.target(), if lines > 0 { "deploy" } else { "" });
        let steps = reader::steps(&found.folder).unwrap();
        let ends: Vec<&str> = steps.iter().map(|step| step.end()).collect();
        let expected: &[&str] = match lines {
            0 | 1 => &[],
            2 | 3 => &["started"],
            4 => &["done"],
            _ => &["done", "started"],
        };
        assert_eq!(ends, expected, "{length}");
        failed_path(&run).unwrap();
        printed(&found.folder, 1);
    }
}

#[test]
fn a_line_that_has_only_begun_is_read_when_it_is_whole() {
    let place = Place::new();
    let (found, whole) = cut_short(&place);
    let path = found.folder.join("events.jsonl");
    let cut = whole.len() - 9;
    fs::write(&path, &whole[..cut]).unwrap();
    let mut events = Events::open(&found.folder).unwrap();
    while events.next_event().unwrap().is_some() {}
    assert_eq!(events.next_event().unwrap(), None);
    fs::write(&path, &whole).unwrap();
    assert_eq!(events.next_event().unwrap().unwrap()["text"], "half");
    assert_eq!(events.next_event().unwrap(), None);
}

#[test]
fn a_line_that_was_changed_is_named() {
    let place = Place::new();
    let (found, mut whole) = cut_short(&place);
    let second = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    whole[second] = b'?';
    fs::write(found.folder.join("events.jsonl"), &whole).unwrap();
    let error = reader::steps(&found.folder).unwrap_err();
    assert!(matches!(error.why, Unread::Malformed { line: 2 }), "{error}");
    assert!(error.to_string().contains("line 2 of the record `"), "{error}");
    fs::write(found.folder.join("summary.json"), "{}").unwrap();
    let error = Run::load(&found).unwrap_err();
    assert!(error.to_string().contains("summary.json"), "{error}");
    assert!(error.help().contains("changed"), "{error:?}");
}
