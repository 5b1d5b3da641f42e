//! A run that is killed at any moment leaves a record that can be read.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use opal_vault::event::Status;
use opal_vault::record::reader::{self, Found, Outputs, Run, State};
use opal_vault::root::Root;

use crate::support::Opal;

/// The task takes less than that.
const LONGEST_MICROS: u64 = 60_000;

/// Reads everything that is kept of a run; how it ended.
fn read(found: &Found) -> State {
    let run = ended(found);
    let steps = reader::steps(&found.folder).unwrap();
    let done = steps.iter().filter(|step| step.end() == "done").count();
    // One after the other: at most one has started and not finished.
    assert!(steps.len() - done <= 1, "{steps:?}");
    assert!(run.state == State::Ended(Status::Crashed) || steps.len() == done, "{run:?}");
    for printed in Outputs::open(&found.folder, None).unwrap() {
        let mut bytes = Vec::new();
        printed.unwrap().read().unwrap().read_to_end(&mut bytes).unwrap();
    }
    run.state
}

/// A command that was being started at that moment may live on for a moment, and the lock with it.
fn ended(found: &Found) -> Run {
    for _ in 0..1000 {
        let run = Run::load(found).unwrap();
        if run.state != State::Running {
            return run;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{} is running, and its process is gone", found.id);
}

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_a_record_that_can_be_read() {
    let steps = "    echo step\n    seq 1 20000\n    /bin/true\n".repeat(4);
    let opal = Opal::machine(&format!("fun many() {{\n{steps}}}\n"));
    let root = Root::new(opal.path().join("home/.opal"));
    let mut ends = BTreeSet::new();
    for round in 0..100 {
        let mut run = opal.command();
        let run = run.arg("many").stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = run.spawn().unwrap();
        // Spread over the whole run, in an order of no meaning.
        thread::sleep(Duration::from_micros(round * 7919 % LONGEST_MICROS));
        run.kill().unwrap();
        run.wait().unwrap();
        // It may have been killed before it began.
        ends.extend(reader::list(&root).unwrap().first().map(|found| read(found).name()));
    }
    assert!(ends.contains("crashed"), "{ends:?}");
    opal.call(&["many"]).code(0);
    let runs = reader::list(&root).unwrap();
    assert_eq!(read(&runs[0]), State::Ended(Status::Executed));
    assert!(runs[1..].iter().any(|found| read(found) == State::Ended(Status::Crashed)));
}
