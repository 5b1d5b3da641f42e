//! Commands on a terminal, with a test in the place of a person.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use opal_core::action::Why;
use opal_core::resolver::ScriptPart;
use opal_core::stream::{Closed, Stream};
use opal_session::stop::Stop;
use opal_session::{Input, Session, Taker, Terminal, lead};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::session::support::{Done, Heard, Only, Place, SHELLS, is_alive, until, work};

/// What starts shells here: this test program, told to run only the test that leads.
const LEADS: [&str; 4] =
    ["session::terminal::without_a_terminal_nobody_leads", "--exact", "--nocapture", "--"];

#[test]
#[expect(clippy::disallowed_methods, reason = "the test needs a process of its own")]
#[expect(clippy::exit, reason = "the leader ends with the code of its shell, as opal does")]
fn without_a_terminal_nobody_leads() {
    let mut arguments = std::env::args_os().skip_while(|it| it != "--").skip(1).peekable();
    if arguments.peek().is_some() {
        std::process::exit(i32::from(lead(arguments).unwrap()));
    }
    // Behind a shell: a child in another group would be buried as an orphan by sessions beside it.
    let mut alone = std::process::Command::new("/bin/sh");
    alone.args(["-c", "\"$@\"; exit $?", "sh"]).arg(std::env::current_exe().unwrap());
    alone.args(LEADS).args(["/bin/echo", "has led"]).stdin(std::process::Stdio::null());
    let output = alone.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && !said.contains("has led"), "{said}");
}

/// A person, a terminal, and a session in front of it.
pub(crate) struct Seat {
    place: Place,
    /// Where the person types.
    person: Option<OwnedFd>,
    device: OwnedFd,
    pub(crate) stop: Stop,
    signals: Arc<Mutex<Vec<i32>>>,
}

impl Seat {
    pub(crate) fn new(only: Only) -> Self {
        let person =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let flags =
            rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let name = ptsname(&person, Vec::new()).unwrap();
        let device = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        tcsetwinsize(&person, size(30, 90)).unwrap();
        let (stop, signals) = (Stop::new(), Arc::new(Mutex::new(Vec::new())));
        let (asked, told) = (stop.clone(), signals.clone());
        let own = std::env::current_exe().unwrap().into_os_string();
        let terminal = Terminal {
            device: device.try_clone().unwrap(),
            leader: std::iter::once(own).chain(LEADS.map(Into::into)).collect(),
            on_signal: Box::new(move |number| {
                told.lock().unwrap().push(number);
                asked.ask(Why::Signal(number));
            }),
        };
        let place = Place::on(only, &[("TERM", "xterm")], Some(terminal));
        let seat = Self { place, person: Some(person), device, stop, signals };
        // The test program announces its test before it starts the shell.
        assert_eq!(seat.run("true").code(), 0);
        seat
    }

    pub(crate) fn run(&self, text: &str) -> Done {
        let mut heard = Heard::default();
        let ended = self.listen(text, &mut heard);
        Done { ended, stdout: heard.stdout, stderr: heard.stderr }
    }

    fn listen(
        &self,
        text: &str,
        taker: &mut dyn Taker,
    ) -> Result<opal_session::Ended, opal_core::resolver::Trouble> {
        let (script, path) = ([ScriptPart::Text(text.to_owned())], self.place.path());
        let mut work = work(&script, &path);
        work.stdin = Input::Own;
        self.place.session.run(work, &self.stop, taker)
    }

    /// Types once the command has said that it is ready.
    pub(crate) fn typing(&self, text: &str, keys: &[u8]) -> Done {
        self.typing_until("ready", text, keys)
    }

    /// Types once the command has said something.
    pub(crate) fn typing_until(&self, said: &str, text: &str, keys: &[u8]) -> Done {
        let mut typist = Typist { seat: self, said, keys, heard: Heard::default(), is_done: false };
        let ended = self.listen(text, &mut typist);
        Done { ended, stdout: typist.heard.stdout, stderr: typist.heard.stderr }
    }

    fn settings(&self) -> Termios {
        tcgetattr(&self.device).unwrap()
    }

    pub(crate) fn signals(&self) -> Vec<i32> {
        self.signals.lock().unwrap().clone()
    }
}

struct Typist<'a> {
    seat: &'a Seat,
    said: &'a str,
    keys: &'a [u8],
    heard: Heard,
    is_done: bool,
}

impl Taker for Typist<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        self.heard.take(stream, bytes)?;
        if !self.is_done && String::from_utf8_lossy(&self.heard.stdout).contains(self.said) {
            self.is_done = true;
            rustix::io::write(self.seat.person.as_ref().unwrap(), self.keys).unwrap();
        }
        Ok(())
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

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
    let text = "echo ready; until [ \"$(stty size)\" = '50 120' ]; do sleep 0.01; done; echo now";
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            tcsetwinsize(seat.person.as_ref().unwrap(), size(50, 120)).unwrap();
            seat.place.session.resized();
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
            thread::sleep(Duration::from_millis(100));
            drop(person);
        });
        seat.run("sleep 1000")
    });
    // Asked to end, so that it can save what it has.
    assert_eq!(done.code(), 143);
    until("told", || seat.signals() == [1]);
}

#[test]
fn an_order_from_elsewhere_reaches_the_command_too() {
    let seat = Seat::new(Only::Bash);
    let text = "trap 'exit 6' INT; echo ready; while :; do sleep 0.01; done";
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
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
