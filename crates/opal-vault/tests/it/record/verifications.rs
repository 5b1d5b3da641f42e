//! Verifications of resources, as they are read back.

use opal_core::resource::{Details, Direction, Status};
use opal_testing::shown;
use opal_vault::Vault;
use opal_vault::event::{End, Event, Kind};
use opal_vault::record::reader::{StepVerification, steps};
use opal_vault::verification::ShownDetails;
use opal_vault::witness::Recorder;

use crate::record::support::{Place, at, done, finished, started};

fn verified<'e>(path: &'e str, status: Status, details: Option<&str>) -> Event<'e> {
    let message = shown(format!("it is {}", status.name()).into_bytes());
    let details = details.map(|text| {
        let written = Details::words(text).written(Direction::Report);
        ShownDetails::new(&written, &Vault::new())
    });
    Event {
        at: at(2),
        target: None,
        alike: None,
        kind: Kind::Verified { path, status, message, details },
    }
}

#[test]
fn each_start_of_a_step_has_the_looks_that_were_taken_in_it() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    let path = "deploy.retry[0].file.copy[0]";
    for event in [
        started(1, path),
        verified(path, Status::Drifted, Some("-a\n+b\n")),
        finished(1, path, End::Failed, 1),
        started(2, path),
        verified(path, Status::Satisfied, None),
        finished(2, path, End::Satisfied, 0),
    ] {
        writer.event(&event).unwrap();
    }
    let why = Some(shown(b"dependencies not satisfied: a (failed)"));
    let kind = Kind::Skipped { path: "deploy.file.copy[0]", decorator: "@file.copy", why };
    writer.event(&Event { at: at(3), target: None, alike: None, kind }).unwrap();
    writer.finish(&done()).unwrap();
    let run = place.last();
    let steps = steps(&run.folder).unwrap();
    let look = |status: &str, details: Option<&str>| StepVerification {
        status: status.into(),
        message: format!("it is {status}"),
        details: details.map(str::to_owned),
    };
    assert_eq!(steps[0].verifications, [look("drifted", Some("-a\n+b\n"))]);
    assert_eq!(steps[1].verifications, [look("satisfied", None)]);
    assert_eq!(steps[1].end(), "satisfied");
    let left_out = steps[2].finish.as_ref().unwrap();
    assert_eq!(left_out.end, "skipped");
    assert_eq!(left_out.message.as_deref(), Some("dependencies not satisfied: a (failed)"));
}
