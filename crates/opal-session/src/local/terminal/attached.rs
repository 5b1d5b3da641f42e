//! A command that has the terminal: what is typed goes to it.
//!
//! Two keys mean something to opal too, as long as the command has not switched them off: the one
//! that interrupts and the one that suspends.
//!
//! A pager reads its keys where nobody has redirected anything: from the terminal of its standard
//! error. It says so by switching that one, and not the other, to single keys.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_current_process_group, kill_process_group};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::{Hold, Pty, Resized, Terminal};

/// What is typed ahead of a command that does not read, at most.
const MAX_PENDING_BYTES: usize = 64 * 1024;

/// How often to look whether opal is in front again: nothing tells.
const AWAY: Duration = Duration::from_millis(200);

/// What a command ends with that is ended by the signal.
const INTERRUPTED: i32 = 130;

/// The terminal while one command runs on it; afterwards it is as it was.
pub(in crate::local) struct Attached<'a> {
    terminal: &'a Terminal,
    /// None where opal has gone on in the background, and someone else has the terminal.
    hold: Option<Hold<'a>>,
    /// For each side of the pseudo-terminals.
    pending: [Vec<u8>; 2],
    is_open: bool,
    /// Whether the command has been interrupted from the keyboard.
    pub(in crate::local) is_interrupted: bool,
    /// Whether the key for that was typed while the command took it for a key like any other.
    is_tried: bool,
}

impl<'a> Attached<'a> {
    pub(in crate::local) fn new(terminal: &'a Terminal, pty: &Pty) -> io::Result<Self> {
        // What an earlier command has left.
        for side in pty.sides() {
            tcsetattr(side, OptionalActions::Now, &pty.usual)?;
        }
        let mut attached = Self {
            terminal,
            hold: None,
            pending: [Vec::new(), Vec::new()],
            is_open: true,
            is_interrupted: false,
            is_tried: false,
        };
        // It may have been suspended a moment ago, and gone on in the background.
        attached.come_back(pty);
        Ok(attached)
    }

    pub(in crate::local) fn bell(&self) -> Option<&'a Resized> {
        self.terminal.bell()
    }

    pub(in crate::local) fn resize(&self, pty: &Pty) {
        self.bell().into_iter().for_each(Resized::heard);
        pty.resize(self.terminal);
    }

    /// Where keys come from, as long as there is room for them.
    pub(in crate::local) fn device(&self) -> Option<BorrowedFd<'_>> {
        let is_ours = self.is_open && self.hold.is_some();
        let has_room = is_ours && self.pending.iter().all(|it| it.len() < MAX_PENDING_BYTES);
        has_room.then(|| self.terminal.keys())
    }

    /// Where keys go, where some are waiting.
    pub(in crate::local) fn waiting<'p>(
        &self,
        pty: &'p Pty,
    ) -> impl Iterator<Item = BorrowedFd<'p>> {
        let sides = pty.sides().into_iter().zip(&self.pending);
        sides.filter(|(_, pending)| !pending.is_empty()).map(|(side, _)| side.as_fd())
    }

    /// Reads what was typed.
    pub(in crate::local) fn read(&mut self, pty: &Pty, leader: Option<i32>) {
        let mut keys = [0; 1024];
        let count = match rustix::io::read(self.terminal.keys(), &mut keys) {
            Ok(count @ 1..) => count,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Ok(0) | Err(_) => {
                self.is_open = false;
                // Where opal has it on another machine, opal knows.
                if !self.terminal.is_relayed() {
                    self.terminal.signal(1);
                }
                return;
            }
        };
        for key in &keys[..count] {
            let (meaning, side) = meaning(pty, *key);
            match meaning {
                Meaning::Suspend => {
                    self.suspend(pty, leader);
                    continue;
                }
                Meaning::Interrupt => {
                    self.is_interrupted = true;
                    self.terminal.signal(2);
                }
                Meaning::Tried => self.is_tried = true,
                Meaning::Nothing => {}
            }
            self.pending[side].push(*key);
        }
        self.write(pty);
    }

    pub(in crate::local) fn write(&mut self, pty: &Pty) {
        for (side, pending) in pty.sides().into_iter().zip(&mut self.pending) {
            match rustix::io::write(side, pending) {
                Ok(count) => drop(pending.drain(..count)),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => pending.clear(),
            }
        }
    }

    /// The command has ended with this code. Where it was interrupted from the keyboard without the
    /// help of the terminal, the whole run was meant.
    pub(in crate::local) fn ended(&self, code: i32) {
        if code == INTERRUPTED && self.is_tried && !self.is_interrupted {
            self.terminal.signal(2);
        }
    }

    /// Everything stops, opal included, until the user continues it. A step on a target goes on: an
    /// opal that is suspended would be taken for lost.
    fn suspend(&mut self, pty: &Pty, leader: Option<i32>) {
        if self.terminal.is_relayed() {
            return;
        }
        let group = leader.and_then(Pid::from_raw);
        let tell = |signal| group.map(|group| kill_process_group(group, signal));
        let _ = tell(Signal::STOP);
        self.hold = None;
        let _ = kill_current_process_group(Signal::TSTP);
        self.come_back(pty);
        let _ = tell(Signal::CONT);
    }

    /// Takes the terminal again, where opal is in front of it once more.
    pub(in crate::local) fn come_back(&mut self, pty: &Pty) {
        if self.hold.is_none() {
            self.hold = self.terminal.hold();
            self.resize(pty);
        }
    }

    /// How soon to look whether it can come back.
    pub(in crate::local) fn pause(&self) -> Option<Duration> {
        self.hold.is_none().then_some(AWAY)
    }
}
enum Meaning {
    Interrupt,
    Suspend,
    /// It would interrupt, were that not switched off.
    Tried,
    Nothing,
}

/// What a key means to the terminals of the command, as they are set now, and which of them it is
/// for.
fn meaning(pty: &Pty, key: u8) -> (Meaning, usize) {
    let [Ok(first), Ok(second)] = pty.sides().map(tcgetattr) else { return (Meaning::Nothing, 0) };
    let is_by_line = |it: &Termios| it.local_modes.contains(LocalModes::ICANON);
    let side = usize::from(is_by_line(&first) && !is_by_line(&second));
    let now = if side == 0 { first } else { second };
    let is = |index| now.special_codes[index] == key && key != 0;
    // Only the first can signal anything: it is the one that the session of the command has.
    match now.local_modes.contains(LocalModes::ISIG) {
        true if is(SpecialCodeIndex::VINTR) => (Meaning::Interrupt, 0),
        true if is(SpecialCodeIndex::VSUSP) => (Meaning::Suspend, 0),
        true if is(SpecialCodeIndex::VQUIT) => (Meaning::Nothing, 0),
        false if is(SpecialCodeIndex::VINTR) => (Meaning::Tried, side),
        _ => (Meaning::Nothing, side),
    }
}
