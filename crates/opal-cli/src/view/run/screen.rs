//! Where a run is shown: the steps' bytes as they are, lines of opal's own between them, and, on a
//! terminal, a few lines that are drawn anew while one waits.

use std::borrow::Cow;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use opal_core::stream::{Closed, Stream};
use opal_session::stop::{Order, Stop};
use rustix::event::PollFlags;
use rustix::fs::{FileType, OFlags};
use rustix::termios::{OutputModes, tcgetattr, tcgetwinsize};

use super::words;

pub(super) struct Screen {
    out: Sink,
    err: Sink,
    /// Behind standard error.
    terminal: Option<Box<dyn Terminal>>,
    /// Standard output is a terminal too, and so most likely the same one.
    shared: bool,
    /// The lines at the end that are drawn anew.
    drawn: Vec<String>,
}

/// A terminal that can move its cursor.
pub(super) trait Terminal: Send {
    fn columns(&self) -> usize;

    /// A step has it to itself: a line feed alone does not go back to the beginning of a line.
    fn is_raw(&self) -> bool;
}

/// The one behind standard error.
#[derive(Debug)]
pub(super) struct OwnTerminal;

/// As much of a line as fits on the terminal without wrapping.
pub(crate) fn fitting(line: &str) -> Cow<'_, str> {
    words::cut(line, OwnTerminal.columns().saturating_sub(1))
}

impl Terminal for OwnTerminal {
    fn columns(&self) -> usize {
        let size = tcgetwinsize(io::stderr()).map(|size| usize::from(size.ws_col));
        // One that does not tell its width is taken for an ordinary one.
        size.ok().filter(|width| *width > 0).unwrap_or(80)
    }

    fn is_raw(&self) -> bool {
        let modes = tcgetattr(io::stderr()).map(|modes| modes.output_modes);
        modes.is_ok_and(|modes| !modes.contains(OutputModes::OPOST))
    }
}

struct Sink {
    to: Box<dyn Write + Send>,
    /// Why nothing can be written any more.
    broken: Option<io::Error>,
    /// The last line has no end yet.
    is_open: bool,
}

impl Sink {
    fn new(to: Box<dyn Write + Send>) -> Self {
        Self { to, broken: None, is_open: false }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        if self.broken.is_some() {
            return Err(Closed);
        }
        if let Some(last) = bytes.last() {
            self.is_open = *last != b'\n';
        }
        self.to.write_all(bytes).map_err(|error| {
            self.broken = Some(error);
            Closed
        })
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("drawn", &self.drawn).finish_non_exhaustive()
    }
}

impl Screen {
    pub(super) fn new(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        terminal: Option<Box<dyn Terminal>>,
        shared: bool,
    ) -> Self {
        Self { out: Sink::new(out), err: Sink::new(err), terminal, shared, drawn: Vec::new() }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    pub(super) fn columns(&self) -> Option<usize> {
        self.terminal.as_ref().map(|terminal| terminal.columns())
    }

    /// What a step has printed: one write and nothing else.
    pub(super) fn output(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        let (sink, other) = match stream {
            Stream::Stdout => {
                if self.shared {
                    self.erase();
                }
                (&mut self.out, &mut self.err)
            }
            Stream::Stderr => {
                self.erase();
                (&mut self.err, &mut self.out)
            }
        };
        // On one terminal both write the same line.
        if self.shared && !bytes.is_empty() {
            other.is_open = false;
        }
        sink.write(bytes)
    }

    /// Whole lines of steps that run side by side.
    pub(super) fn lines(&mut self, stream: Stream, lines: &[u8]) -> Result<(), Closed> {
        let is_open = match stream {
            _ if self.shared => self.out.is_open || self.err.is_open,
            Stream::Stdout => self.out.is_open,
            Stream::Stderr => self.err.is_open,
        };
        let mut whole = if is_open { vec![b'\n'] } else { Vec::new() };
        whole.extend(lines);
        self.output(stream, &whole)
    }

    /// The reader has closed standard output.
    pub(super) fn is_unread(&self) -> bool {
        self.out.broken.as_ref().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Lines of opal's own, without the last line feed.
    pub(super) fn line(&mut self, text: &str) {
        let mut whole = self.erasure();
        if self.err.is_open || self.shared && self.out.is_open {
            whole.push('\n');
            self.out.is_open = false;
        }
        whole.push_str(text);
        whole.push('\n');
        if self.terminal.as_ref().is_some_and(|terminal| terminal.is_raw()) {
            whole = whole.replace('\n', "\r\n");
        }
        let _ = self.err.write(whole.as_bytes());
    }

    /// Draws `lines` at the end, in place of those drawn before. What is in the middle of a line
    /// is left in peace, and so is a program that has the terminal to itself.
    pub(super) fn draw(&mut self, lines: &[String]) {
        let Some(terminal) = &self.terminal else { return };
        let is_open = self.err.is_open || self.shared && self.out.is_open;
        if self.drawn == lines || is_open || terminal.is_raw() {
            return;
        }
        let columns = terminal.columns();
        let mut whole = self.erasure();
        for (index, line) in lines.iter().enumerate() {
            whole.push_str(if index == 0 { "" } else { "\n" });
            // A full last column would break the line.
            whole.push_str(&words::cut(line, columns.saturating_sub(1)));
        }
        if !whole.is_empty() {
            let _ = self.err.write(whole.as_bytes());
        }
        self.err.is_open = false;
        self.drawn = lines.to_vec();
    }

    pub(super) fn erase(&mut self) {
        let erasure = self.erasure();
        if !erasure.is_empty() {
            let _ = self.err.write(erasure.as_bytes());
            self.err.is_open = false;
        }
    }

    /// What takes the drawn lines away.
    fn erasure(&mut self) -> String {
        match std::mem::take(&mut self.drawn).len() {
            0 => String::new(),
            lines => format!("\r\x1b[2K{}", "\x1b[1A\x1b[2K".repeat(lines - 1)),
        }
    }

    /// Why standard output cannot be written. Readers that have gone away are no trouble.
    pub(super) fn trouble(&self) -> Option<&io::Error> {
        self.out.broken.as_ref().filter(|error| {
            // A terminal that has gone away.
            let is_gone = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
            error.kind() != io::ErrorKind::BrokenPipe && !is_gone
        })
    }
}

/// A descriptor of the process, without a buffer. Whoever does not read holds the run up, but does
/// not keep it from ending.
#[derive(Debug)]
pub(super) struct Direct {
    to: File,
    stop: Stop,
}

/// How long a run that is to end waits for a reader.
const PATIENCE: Duration = Duration::from_secs(1);

impl Direct {
    pub(super) fn new(of: impl AsFd, stop: &Stop) -> io::Result<Self> {
        let of = of.as_fd();
        let to = match reopened(of) {
            Some(file) => file,
            None => of.try_clone_to_owned()?.into(),
        };
        Ok(Self { to, stop: stop.clone() })
    }
}

impl AsFd for Direct {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

/// The same pipe or terminal, opened once more: that it does not wait must not hold for other
/// processes that have it. None where the system cannot.
fn reopened(of: BorrowedFd<'_>) -> Option<File> {
    let is_pipe =
        rustix::fs::fstat(of).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_fifo());
    if !is_pipe && !rustix::termios::isatty(of) {
        return None;
    }
    let path = format!("/proc/self/fd/{}", of.as_raw_fd());
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().write(true).custom_flags(flags.bits() as i32).open(path).ok()
}

impl Write for Direct {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut since = None;
        loop {
            match self.to.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            let order = self.stop.order();
            if order != Order::GoOn {
                let waited = since.get_or_insert_with(Instant::now).elapsed();
                if waited >= PATIENCE || order == Order::Kill {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
            }
            let _ = self.stop.wait(&[(self.to.as_fd(), PollFlags::OUT)], None, order);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
