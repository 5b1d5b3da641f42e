//! The terminal of whoever started opal, while a command has it.
//!
//! ```text
//! keyboard ──▶ device, raw ──▶ keys ──▶ pty of the command ──▶ its standard input
//! screen   ◀── taker ◀── flow ◀── pty: standard output; a second one: standard error
//! ```
//!
//! The command has a pseudo-terminal of its own, and everything that is typed goes there as it is.
//! Two keys mean something to opal too, as long as the command has not switched them off: the one
//! that interrupts and the one that suspends.
//!
//! A pager reads its keys where nobody has redirected anything: from the terminal of its standard
//! error. It says so by switching that one, and not the other, to single keys.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpgrp, kill_current_process_group, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr, tcsetwinsize,
};

use super::lane::Duct;

/// What is typed ahead of a command that does not read, at most.
const MAX_PENDING_BYTES: usize = 64 * 1024;

/// How often to look whether opal is in front again: nothing tells.
const AWAY: Duration = Duration::from_millis(200);

/// What a command ends with that is ended by the signal.
const INTERRUPTED: i32 = 130;

/// The terminal, for commands that one sits in front of.
pub struct Terminal {
    /// To read keys from, and to set: a duplicate of the standard input.
    pub device: OwnedFd,
    /// What makes a program the first of a session with the terminal on its standard input: a
    /// program and its first arguments, which ends up in [`super::lead`].
    pub leader: Vec<OsString>,
    /// Called when a key or the end of the terminal means a signal to opal itself: 2 or 1.
    pub on_signal: Box<dyn Fn(i32) + Send + Sync>,
}

impl Terminal {
    /// Whether it is for opal to use: a connection that breaks takes it along, and a job in the
    /// background leaves it to whoever is in front.
    pub(super) fn is_in_front(&self) -> bool {
        // Where it controls nobody here, nobody is in the background of it.
        let is_own = tcgetpgrp(&self.device).map_or(true, |group| group == getpgrp());
        is_own && tcgetattr(&self.device).is_ok()
    }
}

/// The pseudo-terminals of a lane.
#[derive(Debug)]
pub(super) struct Pty {
    /// Where keys go.
    keys: OwnedFd,
    errors: OwnedFd,
    /// The side of the commands, and how they find it.
    inner: OwnedFd,
    usual: Termios,
}

impl Pty {
    /// Like the terminal itself, for standard input and output, and for standard error.
    pub(super) fn open(terminal: &Terminal) -> io::Result<(Self, Duct, Duct)> {
        let usual = tcgetattr(&terminal.device)?;
        let (keys, stdout) = pair(&usual)?;
        let (errors, stderr) = pair(&usual)?;
        let pty = Self { keys, errors, inner: stdout.write.try_clone()?, usual };
        Ok((pty, stdout, stderr))
    }

    pub(super) fn inner(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    /// Of standard input and output, and of standard error.
    fn sides(&self) -> [&OwnedFd; 2] {
        [&self.keys, &self.errors]
    }

    fn resize(&self, device: BorrowedFd<'_>) {
        if let Ok(size) = tcgetwinsize(device) {
            for side in self.sides() {
                let _ = tcsetwinsize(side, size);
            }
        }
    }
}

fn pair(usual: &Termios) -> io::Result<(OwnedFd, Duct)> {
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    let name = ptsname(&outer, Vec::new())?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let inner = rustix::fs::open(name, flags, rustix::fs::Mode::empty())?;
    tcsetattr(&inner, OptionalActions::Now, usual)?;
    rustix::io::ioctl_fionbio(&outer, true)?;
    Ok((outer.try_clone()?, Duct { read: Some(outer), write: inner }))
}

/// The terminal while one command runs on it; afterwards it is as it was.
pub(super) struct Attached<'a> {
    terminal: &'a Terminal,
    before: Termios,
    /// For each side of the pseudo-terminals.
    pending: [Vec<u8>; 2],
    is_open: bool,
    /// Whether opal has gone on in the background, and someone else has the terminal.
    is_away: bool,
    /// Whether the command has been interrupted from the keyboard.
    pub(super) is_interrupted: bool,
    /// Whether the key for that was typed while the command took it for a key like any other.
    is_tried: bool,
}

impl<'a> Attached<'a> {
    pub(super) fn new(terminal: &'a Terminal, pty: &Pty) -> io::Result<Self> {
        let before = tcgetattr(&terminal.device)?;
        // What an earlier command has left.
        for side in pty.sides() {
            tcsetattr(side, OptionalActions::Now, &pty.usual)?;
        }
        let mut attached = Self {
            terminal,
            before,
            pending: [Vec::new(), Vec::new()],
            is_open: true,
            is_away: true,
            is_interrupted: false,
            is_tried: false,
        };
        // It may have been suspended a moment ago, and gone on in the background.
        attached.come_back(pty);
        Ok(attached)
    }

    fn take(&mut self, pty: &Pty) -> io::Result<()> {
        // Meanwhile someone else may have set it.
        self.before = tcgetattr(&self.terminal.device)?;
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(&self.terminal.device, OptionalActions::Now, &raw)?;
        self.resize(pty);
        Ok(())
    }

    fn give_back(&self) {
        // It may be gone.
        let _ = tcsetattr(&self.terminal.device, OptionalActions::Drain, &self.before);
    }

    pub(super) fn resize(&self, pty: &Pty) {
        pty.resize(self.terminal.device.as_fd());
    }

    /// Where keys come from, as long as there is room for them.
    pub(super) fn device(&self) -> Option<BorrowedFd<'_>> {
        let is_ours = self.is_open && !self.is_away;
        let has_room = is_ours && self.pending.iter().all(|it| it.len() < MAX_PENDING_BYTES);
        has_room.then(|| self.terminal.device.as_fd())
    }

    /// Where keys go, where some are waiting.
    pub(super) fn waiting<'p>(&self, pty: &'p Pty) -> impl Iterator<Item = BorrowedFd<'p>> {
        let sides = pty.sides().into_iter().zip(&self.pending);
        sides.filter(|(_, pending)| !pending.is_empty()).map(|(side, _)| side.as_fd())
    }

    /// Reads what was typed.
    pub(super) fn read(&mut self, pty: &Pty, leader: Option<i32>) {
        let mut keys = [0; 1024];
        let count = match rustix::io::read(&self.terminal.device, &mut keys) {
            Ok(count @ 1..) => count,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Ok(0) | Err(_) => {
                self.is_open = false;
                (self.terminal.on_signal)(1);
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
                    (self.terminal.on_signal)(2);
                }
                Meaning::Tried => self.is_tried = true,
                Meaning::Nothing => {}
            }
            self.pending[side].push(*key);
        }
        self.write(pty);
    }

    pub(super) fn write(&mut self, pty: &Pty) {
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
    pub(super) fn ended(&self, code: i32) {
        if code == INTERRUPTED && self.is_tried && !self.is_interrupted {
            (self.terminal.on_signal)(2);
        }
    }

    /// Everything stops, opal included, until the user continues it.
    fn suspend(&mut self, pty: &Pty, leader: Option<i32>) {
        let group = leader.and_then(Pid::from_raw);
        let tell = |signal| group.map(|group| kill_process_group(group, signal));
        let _ = tell(Signal::STOP);
        self.give_back();
        let _ = kill_current_process_group(Signal::TSTP);
        self.is_away = true;
        self.come_back(pty);
        let _ = tell(Signal::CONT);
    }

    /// Takes the terminal again, where opal is in front of it once more.
    pub(super) fn come_back(&mut self, pty: &Pty) {
        if self.is_away && self.terminal.is_in_front() {
            self.is_away = false;
            let _ = self.take(pty);
        }
    }

    /// How soon to look whether it can come back.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.is_away.then_some(AWAY)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        // Whoever has it now has set it for themselves, and who is in the background may not.
        if !self.is_away {
            self.give_back();
        }
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

/// Wakes who waits for a terminal to change its size.
#[derive(Debug)]
pub(super) struct Resized {
    read: File,
    write: OwnedFd,
}

impl Resized {
    pub(super) fn new() -> io::Result<Self> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (read, write) = rustix::pipe::pipe_with(flags)?;
        Ok(Self { read: read.into(), write })
    }

    pub(super) fn ring(&self) {
        // A full pipe rings already.
        let _ = rustix::io::write(&self.write, b"!");
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    pub(super) fn heard(&self) {
        let _ = rustix::io::read(&self.read, &mut [0; 64]);
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("leader", &self.leader).finish_non_exhaustive()
    }
}
