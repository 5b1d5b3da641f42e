//! The events of a run for another program.

use std::io::{self, Write};

use opal_core::stream::Stream;
use opal_testing::shown;
use opal_vault::event::End;
use opal_vault::record::Lines;
use opal_vault::witness::{Recorder, Unrecorded};

use crate::record::support::*;

/// A writer that fails from the second line on.
struct Failing(Vec<u8>, io::ErrorKind);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.is_empty() { self.0.write(bytes) } else { Err(self.1.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_are_those_of_the_record() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    let mut out = Vec::new();
    let lines = Lines::new(&mut out);
    lines.start(&header("deploy", 1), &VAULT).unwrap();
    for recorder in [&writer as &dyn Recorder, &lines] {
        step(recorder, 1, "p", b"x\n");
        recorder.event(&started(2, "p")).unwrap();
        for byte in "ü".as_bytes().chunks(1) {
            recorder.output(2, Stream::Stderr, &shown(byte)).unwrap();
        }
        print(recorder, 2, b"\xe2\x82");
        recorder.event(&finished(2, "p", End::Failed, 1)).unwrap();
    }
    lines.finish(&done()).unwrap();
    drop(lines);
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    assert_eq!(out, std::fs::read(folder.join("events.jsonl")).unwrap());
}

#[test]
fn a_reader_that_has_gone_away_does_not_end_a_run() {
    let lines = Lines::new(Failing(Vec::new(), io::ErrorKind::BrokenPipe));
    for number in 1..4 {
        step(&lines, number, "p", b"x");
    }
    assert!(lines.trouble().is_none());
}

#[test]
fn a_full_disk_ends_it() {
    let lines = Lines::new(Failing(Vec::new(), io::ErrorKind::StorageFull));
    lines.event(&started(1, "p")).unwrap();
    assert_eq!(lines.event(&started(2, "p")), Err(Unrecorded));
    assert_eq!(lines.event(&started(3, "p")), Err(Unrecorded));
    assert_eq!(lines.trouble().unwrap().kind(), io::ErrorKind::StorageFull);
}
