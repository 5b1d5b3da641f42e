//! A person in front of a terminal, played by a test.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use opal_core::action::Why;
use opal_core::resolver::ScriptPart;
use opal_core::stream::{Closed, Stream};
use opal_session::stop::Stop;
use opal_session::{Input, Session, Taker, Terminal, lead};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::session::support::{Done, Heard, Only, Place, work};

/// What starts shells here: this test program, asked to run only the test that leads.
const LEADS: [&str; 4] =
    ["session::seat::without_a_terminal_nobody_leads", "--exact", "--nocapture", "--"];

#[test]
#[expect(clippy::disallowed_methods, reason = "the test needs a process of its own")]
#[expect(clippy::exit, reason = "the leader ends with the code of its shell, as opal does")]
fn without_a_terminal_nobody_leads() {
    let mut arguments = std::env::args_os().skip_while(|it| it != "--").skip(1).peekable();
    if arguments.peek().is_some() {
        std::process::exit(i32::from(lead(arguments).unwrap()));
    }
    // After a shell: a child in another group would be buried as an orphan by sessions beside it.
    let mut alone = std::process::Command::new("/bin/sh");
    alone.args(["-c", "\"$@\"; exit $?", "sh"]).arg(std::env::current_exe().unwrap());
    alone.args(LEADS).args(["/bin/echo", "has led"]).stdin(std::process::Stdio::null());
    let output = alone.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && !said.contains("has led"), "{said}");
}

/// A person, a terminal, and a session in front of it.
pub(crate) struct Seat {
    pub(crate) place: Place,
    /// Where the person types.
    pub(crate) person: Option<OwnedFd>,
    device: OwnedFd,
    pub(crate) terminal: Arc<Terminal>,
    pub(crate) stop: Stop,
    signals: Arc<Mutex<Vec<i32>>>,
}

impl Seat {
    pub(crate) fn new(only: Only) -> Self {
        // The first session keeps low descriptors for the shell, before the terminals take them.
        drop(Place::new(only));
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
        let (asked, reported) = (stop.clone(), signals.clone());
        let own = std::env::current_exe().unwrap().into_os_string();
        let leader = std::iter::once(own).chain(LEADS.map(Into::into)).collect();
        let on_signal = Box::new(move |number| {
            reported.lock().unwrap().push(number);
            asked.ask(Why::Signal(number));
        });
        let terminal = Terminal::own(device.try_clone().unwrap(), leader, None, on_signal);
        let terminal = Arc::new(terminal);
        let place = Place::on(only, &[("TERM", "xterm")], Some(Arc::clone(&terminal)));
        let seat = Self { place, person: Some(person), device, terminal, stop, signals };
        // The test program announces its test before it starts the shell.
        assert_eq!(seat.run("true").code(), 0);
        seat
    }

    pub(crate) fn run(&self, text: &str) -> Done {
        let mut heard = Heard::default();
        let ended = self.listen(text, &mut heard);
        Done { ended, stdout: heard.stdout, stderr: heard.stderr }
    }

    pub(crate) fn listen(
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

    pub(crate) fn settings(&self) -> Termios {
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

pub(crate) fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
