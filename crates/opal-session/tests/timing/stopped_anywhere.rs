//! At any moment: nothing is left, and no mark of opal is shown.

use std::fs;
use std::thread;
use std::time::Duration;

use opal_session::stop::Stop;
use opal_testing::processes::is_alive;

use crate::session::seat::Seat;
use crate::session::support::{Only, Place, SHELLS};

const LONG: Duration = Duration::from_hours(1);

#[test]
fn interruptions_at_any_moment_leave_no_process() {
    let place = Place::new(Only::Bash);
    let rounds = if cfg!(debug_assertions) { 60 } else { 1_000 };
    for round in 0..rounds {
        let stop = Stop::new().limited(Duration::from_micros(round * 137 % 20_000), LONG);
        let text =
            ["sleep 1234567", "sleep 1234567 | cat", "(setsid sleep 1234567 &) ; sleep 1234567"];
        let code = place.stopped(text[(round % 3) as usize], &stop).code();
        assert_eq!(code, 143, "{round}");
    }
    let left = fs::read_dir("/proc").unwrap().flatten().filter(|it| {
        let command = fs::read_to_string(it.path().join("cmdline")).unwrap_or_default();
        command == "sleep\x001234567\0" && is_alive(&it.file_name().to_string_lossy())
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn no_mark_is_shown_whatever_a_command_is_interrupted_in() {
    for only in SHELLS {
        for round in 0..12 {
            let mut seat = Seat::new(only);
            let text = "trap '' INT TERM; echo ready; sleep 0.05; sleep 0.05";
            let done = thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(60 + round * 8));
                    seat.stop.kill();
                });
                seat.typing(text, b"\x03")
            });
            seat.stop = Stop::new();
            let next = seat.run("echo next");
            for shown in [done.out(), done.err(), next.out(), next.err()] {
                assert!(!shown.contains("opal") && !shown.contains('\u{1}'), "{shown:?}");
            }
            // A new shell is announced by the test program.
            assert!(next.out().ends_with("next\r\n"), "{}", next.out());
        }
    }
}
