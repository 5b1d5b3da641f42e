//! Commands on a terminal.

use std::thread;
use std::time::Duration;

use opal_core::action::Why;
use opal_core::stream::{Closed, Stream};
use opal_session::Taker;
use opal_session::stop::Stop;
use opal_testing::processes::{eventually, is_alive};
use rustix::termios::{LocalModes, Termios, tcsetwinsize};

use crate::session::seat::{Seat, size};
use crate::session::support::{Only, SHELLS};

fn same(a: &Termios, b: &Termios) -> bool {
    (a.input_modes, a.output_modes, a.local_modes) == (b.input_modes, b.output_modes, b.local_modes)
}

#[test]
fn a_command_has_a_terminal_on_every_descriptor_and_two_streams() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let text =
            "test -t 0 && test -t 1 && test -t 2 && echo out && echo err >&2 && echo tty >/dev/tty";
        let done = seat.run(text);
        assert_eq!(done.code(), 0, "{only:?}");
        assert_eq!((done.out(), done.err()), ("out\r\ntty\r\n".to_owned(), "err\r\n".to_owned()));
        assert_eq!(seat.run("ls nosuch").code(), 2);
        assert_eq!(seat.run("exit 9").code(), 9);
        assert_eq!(seat.run("kill -9 $$").code(), 137);
    }
}

#[test]
fn nothing_of_the_output_is_lost_or_added_at_its_end() {
    let seat = Seat::new(Only::Bash);
    for count in [1, 10, 1_000, 20_000] {
        let lines: String = (1..=count).map(|n| format!("{n}\r\n")).collect();
        assert!(seat.run(&format!("seq {count}")).out() == lines, "{count}");
        assert!(seat.run(&format!("seq {count} >&2")).err() == lines, "{count}");
    }
}

#[test]
fn what_is_typed_reaches_the_command() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let done = seat.typing("echo ready; read x; echo \"got $x\"", b"hello\n");
        assert_eq!(done.out(), "ready\r\nhello\r\ngot hello\r\n", "{only:?}");
        let done = seat.typing("echo ready; cat; echo end", b"a\n\x04");
        assert_eq!(done.out(), "ready\r\na\r\na\r\nend\r\n", "{only:?}");
    }
}

#[test]
fn the_terminal_is_raw_while_a_command_runs_and_as_it_was_afterwards() {
    struct Look<'a>(&'a Seat, Vec<bool>);
    impl Taker for Look<'_> {
        fn take(&mut self, _: Stream, _: &[u8]) -> Result<(), Closed> {
            self.1.push(self.0.settings().local_modes.contains(LocalModes::ICANON));
            Ok(())
        }
    }
    let seat = Seat::new(Only::Bash);
    let before = seat.settings();
    let mut look = Look(&seat, Vec::new());
    seat.listen("echo x", &mut look).unwrap();
    assert_eq!(look.1, [false]);
    assert!(same(&seat.settings(), &before));
    seat.run("stty raw -echo; kill -9 $$");
    assert!(same(&seat.settings(), &before));
    let panicked = thread::scope(|scope| {
        struct Panic;
        impl Taker for Panic {
            fn take(&mut self, _: Stream, _: &[u8]) -> Result<(), Closed> {
                panic!("on purpose");
            }
        }
        scope.spawn(|| seat.listen("echo x", &mut Panic).is_ok()).join().is_err()
    });
    assert!(panicked && same(&seat.settings(), &before));
}

#[test]
fn what_a_command_sets_ends_with_it() {
    let seat = Seat::new(Only::Bash);
    seat.run("stty raw -echo");
    assert_eq!(
        seat.typing("echo ready; read x; echo \"got $x\"", b"y\n").out(),
        "ready\r\ny\r\ngot y\r\n"
    );
}

#[test]
fn the_size_of_the_terminal_is_passed_on() {
    let seat = Seat::new(Only::Bash);
    assert_eq!(seat.run("stty size").out(), "30 90\r\n");
    let text = "echo ready; touch ready; until [ \"$(stty size)\" = '50 120' ]; do sleep 0.01; done; echo now";
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            eventually("it is ready", || seat.place.path().join("ready").exists());
            tcsetwinsize(seat.person.as_ref().unwrap(), size(50, 120)).unwrap();
            seat.terminal.resized();
        });
        seat.run(text)
    });
    assert_eq!(done.out(), "ready\r\nnow\r\n");
}

#[test]
fn the_key_that_interrupts_reaches_the_command_once_and_opal() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let text = "n=0; trap 'n=$((n+1)); [ $n = 1 ] && late=1' INT; echo ready; i=0; \
                    while [ $i -lt 30 ]; do sleep 0.01; [ -n \"$late\" ] && i=$((i+1)); done; echo \"n=$n\"; exit 5";
        let done = seat.typing(text, b"\x03");
        assert_eq!(done.code(), 5, "{only:?} {}", done.out());
        assert!(done.out().ends_with("n=1\r\n"), "{}", done.out());
        assert_eq!(seat.signals(), [2]);
    }
}

#[test]
fn a_command_that_takes_keys_as_they_are_gets_that_one_too() {
    let seat = Seat::new(Only::Bash);
    let text = "stty raw -echo; printf ready; head -c 2 | cat -v";
    let done = seat.typing(text, b"\x03\x1a");
    assert_eq!(done.out(), "ready^C^Z");
    assert_eq!(seat.signals(), Vec::<i32>::new());
}

#[test]
fn what_stays_in_the_background_does_not_hold_the_terminal() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let done = seat.run("sleep 1000 & echo $!");
        assert!(is_alive(&done.out()));
        assert_eq!(seat.run("echo next").out(), "next\r\n");
        seat.place.session.end_all(Duration::from_secs(60), &Stop::new());
        assert!(!is_alive(&done.out()));
    }
}

#[test]
fn a_terminal_that_goes_away_ends_the_command() {
    let mut seat = Seat::new(Only::Bash);
    let person = seat.person.take().unwrap();
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            eventually("it is ready", || seat.place.path().join("ready").exists());
            drop(person);
        });
        seat.run("touch ready; sleep 1000")
    });
    // Asked to end, so that it can save what it has.
    assert_eq!(done.code(), 143);
    eventually("a hangup", || seat.signals() == [1]);
}

#[test]
fn an_order_from_elsewhere_reaches_the_command_too() {
    let seat = Seat::new(Only::Bash);
    let text = "trap 'exit 6' INT; touch ready; while :; do sleep 0.01; done";
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            eventually("it is ready", || seat.place.path().join("ready").exists());
            seat.stop.ask(Why::Signal(2));
        });
        seat.run(text)
    });
    assert_eq!(done.code(), 6);
}

#[test]
fn a_server_outlives_the_session_and_its_terminal() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let server = seat.run("sleep 1000 & echo $!").out();
        let held = seat.run("trap '' HUP; sleep 1000 & echo $!").out();
        let quick = seat.run("exec sleep 0").code();
        drop(seat);
        thread::sleep(Duration::from_millis(100));
        assert_eq!(quick, 0);
        assert!(is_alive(&server), "{only:?}");
        assert!(is_alive(&held), "{only:?}");
        for pid in [server, held] {
            kill(&pid);
        }
    }
}

#[test]
fn a_server_outlives_a_later_command_that_is_killed() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let server = seat.run("sleep 1000 & echo $!").out();
        seat.stop.kill();
        assert_eq!(seat.run("trap '' TERM INT; sleep 1000; sleep 1000").code(), 137);
        assert!(is_alive(&server), "{only:?}");
        kill(&server);
    }
}

#[test]
fn no_leader_and_no_shell_is_left_of_a_session() {
    for only in SHELLS {
        let seat = Seat::new(only);
        let pids = seat.run("cat /proc/$PPID/stat; cat /proc/$$/stat").out();
        let parents: Vec<String> = pids
            .lines()
            .flat_map(|stat| {
                let number = |field: Option<&str>| field.unwrap().to_owned();
                let (own, rest) = stat.split_once(' ').unwrap();
                let parent = rest.rsplit_once(')').unwrap().1.split_whitespace().nth(1);
                [own.to_owned(), number(parent)]
            })
            .filter(|pid| *pid != std::process::id().to_string())
            .collect();
        assert!(parents.len() >= 3, "{pids}");
        drop(seat);
        assert!(!parents.iter().any(|pid| is_alive(pid)), "{only:?} {pids}");
    }
}

fn kill(pid: &str) {
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}
