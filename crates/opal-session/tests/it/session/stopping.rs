//! Commands that are asked to stop: nothing of them is left, and nothing else is touched.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use opal_core::action::Why;
use opal_session::stop::Stop;

use opal_testing::processes::{eventually, is_alive};

use crate::session::support::{Done, Only, Place, SHELLS};

const LONG: Duration = Duration::from_secs(3_600);

/// Runs a command, and tells it to stop once it has written the file `ready`.
fn stop_when_ready(place: &Place, text: &str, tell: impl FnOnce(&Stop) + Send) -> Done {
    let stop = Stop::new();
    thread::scope(|scope| {
        let teller = stop.clone();
        let ready = place.path().join("ready");
        scope.spawn(move || {
            eventually("ready", || ready.exists());
            tell(&teller);
        });
        place.stopped(text, &stop)
    })
}

fn pids(place: &Place) -> Vec<String> {
    let files = fs::read_dir(place.path()).unwrap().flatten();
    let pids = files.filter(|it| it.file_name().to_string_lossy().starts_with("pid"));
    pids.map(|it| fs::read_to_string(it.path()).unwrap()).collect()
}

#[test]
fn an_interrupt_reaches_the_command_as_one_and_anything_else_as_an_order_to_end() {
    for only in SHELLS {
        for (number, code) in [(2, 42), (15, 43), (1, 43)] {
            let place = Place::new(only);
            let text = "trap 'exit 42' INT; trap 'exit 43' TERM; trap 'exit 44' HUP; \
                        touch ready; while :; do sleep 0.01; done";
            let done = stop_when_ready(&place, text, |stop| stop.ask(Why::Signal(number)));
            assert_eq!(done.code(), code, "{only:?}");
            assert_eq!(place.run("echo after").out(), "after\n");
        }
    }
}

#[test]
fn what_ignores_an_interrupt_gets_another_signal_once_the_others_have_ended() {
    for only in SHELLS {
        let place = Place::new(only);
        // A shell starts what is in the background deaf to interrupts.
        let following = "{ trap 'echo heard > said; exit' TERM; touch ready; \
                      while :; do sleep 0.01; done; } &";
        let text = format!("{following} trap 'sleep 0.3; ls > seen; exit 7' INT; wait");
        let done = stop_when_ready(&place, &text, |stop| stop.ask(Why::Signal(2)));
        assert_eq!(done.code(), 7, "{only:?}");
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap_or_default();
        assert_eq!(read("said"), "heard\n", "{only:?}");
        assert!(!read("seen").contains("said"), "{only:?}: who cleans up has what it started");
    }
}

#[test]
fn a_time_limit_ends_a_command_and_every_descendant() {
    let forms = [
        "sleep 1000 & echo $! > pid1; touch ready; wait",
        "sleep 1000 & echo $! > pid1; touch ready; exec sleep 1000",
        "setsid sleep 1000 & echo $! > pid1; touch ready; wait",
        "(setsid sleep 1000 & echo $! > pid1); touch ready; sleep 1000",
        "(setsid nohup sleep 1000 >/dev/null 2>&1 & echo $! > pid1); (sleep 1000 & echo $! > pid2); \
         touch ready; sleep 1000",
        "(env -i /bin/sleep 1000 & echo $! > pid1); touch ready; sleep 1000",
    ];
    for only in SHELLS {
        for text in forms {
            let place = Place::new(only);
            let begin = Instant::now();
            let done = stop_when_ready(&place, text, |stop| stop.ask(Why::TimedOut));
            assert_eq!(done.code(), 143, "{only:?} {text}");
            assert!(begin.elapsed() < LONG);
            let pids = pids(&place);
            assert!(!pids.is_empty());
            assert!(!pids.iter().any(|pid| is_alive(pid)), "{only:?} {text} {pids:?}");
        }
    }
}

#[test]
fn a_program_without_a_shell_is_ended_too() {
    let place = Place::new(Only::Bash);
    let stop = Stop::new().limited(Duration::from_millis(50), LONG);
    assert_eq!(place.stopped("sleep 1000", &stop).code(), 143);
    let stop = Stop::new().limited(Duration::from_millis(50), LONG);
    assert_eq!(place.stopped("setsid sleep 1000", &stop).code(), 143);
}

#[test]
fn who_does_not_listen_is_ended_after_the_grace_period() {
    for only in SHELLS {
        let place = Place::new(only);
        let text = "trap '' TERM INT HUP; sleep 1000 & echo $! > pid1; touch ready; \
                    while :; do sleep 0.02; done";
        let done = stop_when_ready(&place, text, |stop| {
            stop.be_patient(Duration::from_millis(200));
            stop.ask(Why::TimedOut);
        });
        assert_eq!(done.code(), 137, "{only:?}");
        assert!(!pids(&place).iter().any(|pid| is_alive(pid)));
        assert_eq!(place.run("echo after").out(), "after\n");
    }
}

#[test]
fn the_order_to_kill_waits_for_nobody() {
    for only in SHELLS {
        let place = Place::new(only);
        let text =
            "trap '' TERM INT HUP; (setsid sleep 1000 & echo $! > pid1); touch ready; sleep 1000";
        let done = stop_when_ready(&place, text, |stop| {
            stop.ask(Why::Signal(2));
            thread::sleep(Duration::from_millis(50));
            stop.kill();
        });
        assert_eq!(done.code(), 137, "{only:?}");
        assert!(!pids(&place).iter().any(|pid| is_alive(pid)));
    }
}

#[test]
fn a_server_of_an_earlier_step_survives_a_later_time_limit_and_not_the_end_of_all() {
    for only in SHELLS {
        let place = Place::new(only);
        let servers: Vec<String> = ["sleep 1000 & echo $!", "(setsid sleep 1000 & echo $!)"]
            .map(|text| place.run(text).out())
            .into();
        let stop = Stop::new().limited(Duration::from_millis(30), Duration::from_secs(60));
        place.stopped("(sleep 1000 & echo $! > pid1); sleep 1000", &stop);
        assert!(!pids(&place).iter().any(|pid| is_alive(pid)));
        assert!(servers.iter().all(|pid| is_alive(pid)), "{only:?}");
        place.session.end_all(Duration::from_secs(60), &Stop::new());
        assert!(!servers.iter().any(|pid| is_alive(pid)), "{only:?}");
    }
}

#[test]
fn one_branch_is_stopped_and_the_others_go_on() {
    let place = Place::new(Only::Bash);
    let stop = Stop::new();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let late = "setsid bash -c 'until [ -e stopped ]; do sleep 0.01; done; echo late'";
            place.run(&format!("touch begun; {late} > kept; cat kept"))
        });
        eventually("the other runs", || place.path().join("begun").exists());
        let limited = stop.limited(Duration::from_millis(100), LONG);
        let stopped = place.stopped("(setsid sleep 1000 & echo $! > pid1); sleep 1000", &limited);
        assert_eq!(stopped.code(), 143);
        assert!(!pids(&place).iter().any(|pid| is_alive(pid)));
        fs::write(place.path().join("stopped"), "").unwrap();
        assert_eq!(other.join().unwrap().out(), "late\n");
    });
}

#[test]
fn what_was_printed_before_the_end_is_heard() {
    for only in SHELLS {
        let place = Place::new(only);
        let text = "trap 'echo cleaned; exit 3' TERM; echo begun; touch ready; \
                    while :; do sleep 0.01; done";
        let done = stop_when_ready(&place, text, |stop| stop.ask(Why::Cancelled));
        assert_eq!((done.out().as_str(), done.code()), ("begun\ncleaned\n", 3), "{only:?}");
    }
}

#[test]
fn the_end_of_all_hears_the_order_to_kill() {
    let place = Place::new(Only::Bash);
    let server = place.run("(trap '' TERM; while :; do sleep 0.01; done) & echo $!").out();
    let (stop, begin) = (Stop::new(), Instant::now());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            stop.kill();
        });
        place.session.end_all(LONG, &stop);
    });
    assert!(begin.elapsed() < LONG && !is_alive(&server));
}
