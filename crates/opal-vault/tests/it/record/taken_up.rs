//! Where a run that did not come to its end can be taken up.

use opal_testing::shown;
use opal_vault::event::{End, Event, Kind, Status};
use opal_vault::record::failed_path;
use opal_vault::record::reader::Run;
use opal_vault::witness::Recorder;

use crate::record::support::*;

/// The same event, of a block.
fn block(mut event: Event<'_>) -> Event<'_> {
    match &mut event.kind {
        Kind::Started(step) => step.is_block = true,
        Kind::Finished(step) => step.is_block = true,
        _ => {}
    }
    event
}

/// A block that timed out itself.
fn out_of_time(number: u64, path: &str) -> Event<'_> {
    let mut event = block(finished(number, path, End::TimedOut, 124));
    if let Kind::Finished(step) = &mut event.kind {
        step.is_own_limit = true;
        step.message = Some(shown(b"timed out after 1s"));
    }
    event
}

fn path(run: &Run) -> Option<String> {
    failed_path(run).unwrap().map(|found| found.path)
}

/// Where a run with these events can be taken up that ended in this way.
fn after(events: &[Event<'_>], status: Status) -> Option<String> {
    let place = Place::new();
    let writer = place.writer("main", 1);
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.finish(&ending(status, 1)).unwrap();
    path(&place.last())
}

#[test]
fn a_run_that_was_stopped_can_be_taken_up_where_it_was() {
    for (end, status) in [(End::Stopped, Status::Interrupted), (End::TimedOut, Status::Failed)] {
        let steps = [
            started(1, "main.shell[0]"),
            finished(1, "main.shell[0]", End::Done, 0),
            block(started(2, "main.retry[0]")),
            started(3, "main.retry[0].shell[0]"),
            finished(3, "main.retry[0].shell[0]", end, 124),
            block(finished(2, "main.retry[0]", end, 124)),
        ];
        assert_eq!(after(&steps, status).as_deref(), Some("main.retry[0].shell[0]"));
    }
}

#[test]
fn a_run_that_did_all_or_nothing_cannot_be_taken_up() {
    let whole = [started(1, "main.shell[0]"), finished(1, "main.shell[0]", End::Done, 0)];
    for status in [Status::Executed, Status::Drifted] {
        assert_eq!(after(&whole, status), None);
    }
    for status in [Status::Refused, Status::Interrupted] {
        assert_eq!(after(&[], status), None);
    }
}

#[test]
fn a_step_that_was_given_up_on_the_way_is_not_where_the_run_was() {
    let (limited, late) = ("main.try[0].timeout[0]", "main.try[0].timeout[0].shell[0]");
    let (branches, branch) = ("main.try[0].parallel[0]", "main.try[0].parallel[0].shell[0]");
    let steps = [
        // Caught by a `try`, of which no event tells.
        block(started(1, limited)),
        started(2, late),
        finished(2, late, End::TimedOut, 124),
        out_of_time(1, limited),
        // Another branch failed, and that was caught.
        block(started(3, branches)),
        started(4, branch),
        finished(4, branch, End::Stopped, 143),
        block(finished(3, branches, End::Failed, 1)),
        started(5, "main.shell[0]"),
        finished(5, "main.shell[0]", End::Stopped, 130),
        // Cleaning up was cut short as well.
        started(6, "main.finally.shell[0]"),
        finished(6, "main.finally.shell[0]", End::Stopped, 130),
    ];
    assert_eq!(after(&steps, Status::Interrupted).as_deref(), Some("main.shell[0]"));
    assert_eq!(after(&steps[..8], Status::Interrupted), None);
}

#[test]
fn the_last_attempt_counts() {
    let (retry, first) = ("main.retry[0]", "main.retry[0].shell[0]");
    let (limited, late) = ("main.retry[0].timeout[0]", "main.retry[0].timeout[0].shell[0]");
    let steps = [
        block(started(1, retry)),
        started(2, first),
        finished(2, first, End::Done, 0),
        block(started(3, limited)),
        started(4, late),
        finished(4, late, End::TimedOut, 124),
        out_of_time(3, limited),
        started(5, first),
        finished(5, first, End::Stopped, 130),
        block(finished(1, retry, End::Stopped, 130)),
    ];
    assert_eq!(after(&steps, Status::Interrupted).as_deref(), Some(first));
}

#[test]
fn between_two_attempts_it_is_the_step_that_the_last_one_failed_at() {
    let retry = |mut event| {
        if let Kind::Started(step) = &mut event {
            step.decorator = "@retry";
        }
        Event { kind: event, ..started(1, "main.retry[0]") }
    };
    let (first, second) = ("main.retry[0].shell[0]", "main.retry[0].workdir[0].shell[0]");
    let steps = [
        retry(block(started(1, "main.retry[0]")).kind),
        started(2, first),
        finished(2, first, End::Failed, 1),
        started(3, first),
        finished(3, first, End::Done, 0),
        block(started(4, "main.retry[0].workdir[0]")),
        started(5, second),
        finished(5, second, End::Failed, 1),
        block(finished(4, "main.retry[0].workdir[0]", End::Failed, 1)),
        block(finished(1, "main.retry[0]", End::Stopped, 143)),
    ];
    assert_eq!(after(&steps, Status::Interrupted).as_deref(), Some(second));
    // Killed in the pause, it had no time to say so.
    assert_eq!(after(&steps[..9], Status::Crashed).as_deref(), Some(second));
    assert_eq!(after(&steps[1..9], Status::Interrupted), None, "without another attempt to come");
}

#[test]
fn a_run_that_was_killed_can_be_taken_up_at_what_had_begun() {
    let place = Place::new();
    let writer = place.writer("main", 1);
    writer.event(&block(started(1, "main.retry[0]"))).unwrap();
    step(&writer, 2, "main.retry[0].shell[0]", b"");
    writer.event(&started(3, "main.retry[0].shell[1]")).unwrap();
    drop(writer);
    assert_eq!(path(&place.last()).as_deref(), Some("main.retry[0].shell[1]"));
}
