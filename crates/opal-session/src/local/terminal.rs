//! The terminal of whoever started opal, while a command has it.
//!
//! ```text
//! keyboard ──▶ device, raw ──▶ keys ──▶ pty of the command ──▶ its standard input
//! screen   ◀── taker ◀── flow ◀── pty: standard output; a second one: standard error
//! ```
//!
//! The command has a pseudo-terminal of its own, and everything that is typed goes there as it is.
//! On a target the same happens: only the keys come from opal over the connection, where the device
//! is raw meanwhile.
//!
//! | what | where |
//! |---|---|
//! | the pseudo-terminals of commands | `pty` |
//! | keys on their way to a command, and what they mean | `attached` |

mod attached;
mod pty;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{
    InputModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

pub(super) use attached::Attached;
pub(super) use pty::Pty;

/// The name of a kind of terminal is not longer.
const MAX_KIND_BYTES: usize = 64;

/// The keys that mean something to a terminal, in the order in which they are sent to a target.
const KEYS: [SpecialCodeIndex; 6] = [
    SpecialCodeIndex::VINTR,
    SpecialCodeIndex::VQUIT,
    SpecialCodeIndex::VERASE,
    SpecialCodeIndex::VKILL,
    SpecialCodeIndex::VEOF,
    SpecialCodeIndex::VSUSP,
];

/// The terminal, for commands that one sits in front of.
pub struct Terminal {
    device: Device,
    /// What makes a program the first of a session with the terminal on its standard input: a
    /// program and its first arguments, which ends up in [`super::lead`].
    leader: Vec<OsString>,
    /// What `TERM` is.
    kind: Option<String>,
    /// Called when a key or the end of the terminal means a signal to opal itself: 2 or 1.
    on_signal: OnSignal,
    /// Made when it is needed: a session first keeps low descriptors for its shell.
    resized: OnceLock<Option<Resized>>,
}

/// Who hears of a signal.
pub type OnSignal = Box<dyn Fn(i32) + Send + Sync>;

enum Device {
    /// To read keys from, and to set.
    Own(OwnedFd),
    /// Opal has it, on another machine. Keys come through a pipe.
    Relayed { keys: OwnedFd, face: Mutex<Face> },
}

/// What a command on a target sees of opal's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    pub size: Size,
    /// See [`KEYS`].
    pub keys: [u8; KEYS.len()],
    /// Whether an erased character may have several bytes.
    pub is_utf8: bool,
    /// What `TERM` is.
    pub kind: Option<String>,
}

/// Of a terminal: in characters, and in pixels where it knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
    pub width: u16,
    pub height: u16,
}

impl Terminal {
    /// The one that opal is on. `device` is a duplicate of its standard input.
    pub fn own(
        device: OwnedFd,
        leader: Vec<OsString>,
        kind: Option<String>,
        on_signal: OnSignal,
    ) -> Self {
        let (device, kind) = (Device::Own(device), kind.filter(|it| is_kind(it)));
        Self { device, leader, kind, on_signal, resized: OnceLock::new() }
    }

    /// One that opal has, on another machine. What is typed there comes out of `keys`.
    pub(crate) fn relayed(
        keys: OwnedFd,
        face: Face,
        leader: Vec<OsString>,
        on_signal: OnSignal,
    ) -> Self {
        let kind = face.kind.clone();
        let device = Device::Relayed { keys, face: Mutex::new(face) };
        Self { device, leader, kind, on_signal, resized: OnceLock::new() }
    }

    /// It has another size. Safe to call at any time, from any thread.
    pub fn resized(&self) {
        self.bell().into_iter().for_each(Resized::ring);
    }

    /// The same, where the size has come from another machine.
    pub(crate) fn resize(&self, size: Size) {
        if let Device::Relayed { face, .. } = &self.device {
            face.lock().unwrap_or_else(PoisonError::into_inner).size = size;
            self.resized();
        }
    }

    /// What wakes who waits for another size.
    pub fn bell(&self) -> Option<&Resized> {
        self.resized.get_or_init(|| Resized::new().ok()).as_ref()
    }

    /// A key, or the end of the terminal, means a signal to opal.
    pub fn signal(&self, number: i32) {
        (self.on_signal)(number);
    }

    /// Takes the terminal, until this is dropped; none where opal is not in front of it.
    pub fn hold(&self) -> Option<Hold<'_>> {
        match &self.device {
            Device::Own(device) if self.is_in_front() => {
                let before = tcgetattr(device).ok()?;
                let mut raw = before.clone();
                raw.make_raw();
                tcsetattr(device, OptionalActions::Now, &raw).ok()?;
                Some(Hold { terminal: self, before: Some(before) })
            }
            Device::Own(_) => None,
            Device::Relayed { .. } => Some(Hold { terminal: self, before: None }),
        }
    }

    #[must_use]
    pub fn size(&self) -> Option<Size> {
        match &self.device {
            Device::Own(device) => tcgetwinsize(device).ok().map(Size::from),
            Device::Relayed { face, .. } => {
                Some(face.lock().unwrap_or_else(PoisonError::into_inner).size)
            }
        }
    }

    /// Whether it is for opal to use: a connection that breaks takes it along, and a job in the
    /// background leaves it to whoever is in front.
    pub(super) fn is_in_front(&self) -> bool {
        let Device::Own(device) = &self.device else { return true };
        // Where it controls nobody here, nobody is in the background of it.
        let is_own = tcgetpgrp(device).map_or(true, |group| group == getpgrp());
        is_own && tcgetattr(device).is_ok()
    }

    /// Whether opal has it on another machine.
    fn is_relayed(&self) -> bool {
        matches!(self.device, Device::Relayed { .. })
    }

    fn keys(&self) -> BorrowedFd<'_> {
        match &self.device {
            Device::Own(device) => device.as_fd(),
            Device::Relayed { keys, .. } => keys.as_fd(),
        }
    }

    /// How a pseudo-terminal is set that resembles it; `fresh` is how the system makes one.
    fn usual(&self, fresh: Termios) -> io::Result<Termios> {
        let Device::Relayed { face, .. } = &self.device else {
            return Ok(tcgetattr(self.keys())?);
        };
        let face = face.lock().unwrap_or_else(PoisonError::into_inner);
        let mut usual = fresh;
        usual.input_modes.set(InputModes::IUTF8, face.is_utf8);
        for (index, key) in KEYS.into_iter().zip(face.keys) {
            usual.special_codes[index] = key;
        }
        Ok(usual)
    }
}

/// A terminal that passes keys on as they are; afterwards it is as it was.
#[derive(Debug)]
pub struct Hold<'a> {
    terminal: &'a Terminal,
    before: Option<Termios>,
}

impl Hold<'_> {
    /// Where keys come from.
    #[must_use]
    pub fn keys(&self) -> BorrowedFd<'_> {
        self.terminal.keys()
    }

    #[must_use]
    pub fn terminal(&self) -> &Terminal {
        self.terminal
    }

    /// What a command on a target sees of it.
    #[must_use]
    pub fn face(&self) -> Option<Face> {
        let (before, size) = (self.before.as_ref()?, self.terminal.size()?);
        Some(Face {
            size,
            keys: KEYS.map(|index| before.special_codes[index]),
            is_utf8: before.input_modes.contains(InputModes::IUTF8),
            kind: self.terminal.kind.clone(),
        })
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It may be gone.
            let _ = tcsetattr(self.terminal.keys(), OptionalActions::Drain, before);
        }
    }
}

impl Face {
    /// The key that interrupts.
    #[must_use]
    pub fn interrupt(&self) -> u8 {
        self.keys[0]
    }

    /// Whether what another machine says can be.
    pub(crate) fn is_valid(&self) -> bool {
        self.kind.as_ref().is_none_or(|kind| is_kind(kind))
    }
}

/// Whether it can be the name of a kind of terminal.
fn is_kind(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
    (1..=MAX_KIND_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

impl From<Winsize> for Size {
    fn from(size: Winsize) -> Self {
        let Winsize { ws_row: rows, ws_col: columns, ws_xpixel: width, ws_ypixel: height } = size;
        Self { rows, columns, width, height }
    }
}

/// Wakes who waits for a terminal to change its size.
#[derive(Debug)]
pub struct Resized {
    read: File,
    write: OwnedFd,
}

impl Resized {
    fn new() -> io::Result<Self> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (read, write) = rustix::pipe::pipe_with(flags)?;
        Ok(Self { read: read.into(), write })
    }

    fn ring(&self) {
        // A full pipe rings already.
        let _ = rustix::io::write(&self.write, b"!");
    }

    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    pub fn heard(&self) {
        let _ = rustix::io::read(&self.read, &mut [0; 64]);
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("leader", &self.leader).finish_non_exhaustive()
    }
}
