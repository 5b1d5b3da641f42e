//! What happens where the record cannot be written, or nobody reads.

use opal_core::action::Halt;
use opal_testing::{Answer, LoggedSession};

use opal_testing::running::{Running, millis};

#[test]
fn a_step_that_cannot_be_recorded_does_not_run_and_finally_does() {
    let source = "try {\n    a\n    b\n} catch {\n    c\n} finally {\n    d\n    e\n}\nf\n";
    for (room, ran) in [(0, "d e"), (1, "a d e"), (2, "a d e"), (3, "a b d e"), (5, "a b d e")] {
        let session = LoggedSession::new();
        let running = Running { room: Some(room), ..Running::new(source, &session) };
        let outcome = running.run().outcome;
        assert_eq!(outcome.halt, Some(Halt::Unrecorded), "{room}");
        let log = session.log();
        let names = log.iter().map(|line| line.split('`').nth(1).unwrap_or_default());
        assert_eq!(names.collect::<Vec<_>>().join(" "), ran, "{room}: {log:?}");
    }
}

#[test]
fn no_branch_starts_a_step_once_the_record_is_full() {
    let session = LoggedSession::new().on("a {}", Answer::default().takes(millis(5)));
    let source = "@parallel(max=2) { for i in 1...20 { a @var.i } }\n";
    let running = Running { room: Some(6), ..Running::new(source, &session) };
    assert_eq!(running.run().outcome.halt, Some(Halt::Unrecorded));
    assert!(session.log().len() <= 4, "{:?}", session.log());
}

#[test]
fn who_writes_to_nobody_gets_to_know_and_the_record_has_it() {
    let session = LoggedSession::new().on("a", Answer::prints("hello\n"));
    let running = Running { closed: true, ..Running::new("a\nb\n", &session) };
    let ran = running.run();
    assert_eq!(ran.failure(), "script.shell[0] 141");
    assert!(ran.record.contains(&"out 1> hello\n".to_owned()));
    assert_eq!(session.log(), ["run `a` in /p"]);
}
