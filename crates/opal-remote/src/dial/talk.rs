//! The words before the hello: noise of the login, the nonce, and sending the helper where it is
//! missing (`opal_session::reach::script`).

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::hash::Digest;
use opal_core::wiped::Wiped;
use opal_session::Ends;
use opal_session::reach::{created, script};
use opal_session::stop::{Order, Stop};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::error::DialCause;
use super::said::Said;
use super::tar;
use super::terminal::Questions;
use crate::helper::{Program, Programs};

/// What a login may print before the shell speaks.
const MAX_NOISE_BYTES: usize = 64 * 1024;

/// One line of the shell.
const MAX_LINE_BYTES: usize = 512;

/// The cache and three directories.
const MAX_UPLOADS: usize = 4;

const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes that a network passes on in a second, at least. The shell that receives them counts alike.
const SLOWEST: u64 = 32 * 1024;

/// The pipes to a transport.
#[derive(Debug)]
pub(crate) struct Wires {
    pub(crate) ends: Ends,
    pub(crate) stderr: OwnedFd,
}

/// A password that is asked for with a prompt of our own.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    pub(super) prompt: String,
    pub(super) password: Option<&'a Secret>,
}

/// Somebody who talks over a transport.
pub(super) struct Talk<'a> {
    pub(super) wires: Wires,
    pub(super) said: Said,
    nonce: String,
    stop: &'a Stop,
    /// Until when the shell has to have spoken.
    deadline: Option<Instant>,
    patience: Option<Duration>,
    asking: Option<Asking<'a>>,
    /// Printed, and not read yet.
    bytes: Vec<u8>,
    has_spoken: bool,
    is_stderr_open: bool,
    /// The ID of the image of a container that was made.
    pub(super) image: Option<String>,
    /// What the transport asks on its terminal, where somebody answers.
    pub(super) questions: Option<Questions<'a>>,
}

/// How the helper is to be sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Raw,
    Gzip,
    /// For a container that nothing runs in yet.
    Tar,
}

enum Word {
    Helper,
    Need {
        system: String,
        machine: String,
        packing: Packing,
        image: Option<String>,
    },
    /// No place, or these programs are not there.
    None(Vec<&'static str>),
}

impl<'a> Talk<'a> {
    pub(super) fn new(
        wires: Wires,
        nonce: String,
        patience: Option<Duration>,
        asking: Option<Asking<'a>>,
        stop: &'a Stop,
    ) -> Self {
        Self {
            wires,
            said: Said::default(),
            nonce,
            stop,
            deadline: patience.and_then(|it| Instant::now().checked_add(it)),
            patience,
            asking,
            bytes: Vec::new(),
            has_spoken: false,
            is_stderr_open: true,
            image: None,
            questions: None,
        }
    }

    /// Until the shell has become the helper: the digest of what was sent to it, if anything was.
    pub(super) fn reach(&mut self, programs: &Programs) -> Result<Option<Digest>, DialCause> {
        let mut sent = None;
        for _ in 0..=MAX_UPLOADS {
            match self.word()? {
                Word::Helper => return Ok(sent),
                Word::None(lacking) if lacking.is_empty() => return Err(DialCause::NoPlace),
                Word::None(lacking) => return Err(DialCause::Lacks(lacking)),
                Word::Need { system, machine, packing, image } => {
                    self.image = image;
                    let Some(program) = programs.find(&system, &machine) else {
                        let _ = self.send(b"none\n");
                        return Err(match programs.flaw() {
                            Some(flaw) => DialCause::NoHelper(flaw.clone()),
                            None => DialCause::NoProgram { system, machine },
                        });
                    };
                    self.upload(program, packing)?;
                    sent = Some(*program.digest());
                }
            }
        }
        Err(DialCause::Strange)
    }

    /// What was read of the helper's own words already.
    pub(super) fn begun(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_wires(self) -> Wires {
        self.wires
    }

    fn upload(&mut self, program: &Program, packing: Packing) -> Result<(), DialCause> {
        let packed = program.gzip().filter(|_| packing == Packing::Gzip);
        let (raw, archive);
        let (bytes, kind) = match packed {
            Some(packed) => (packed, "gzip"),
            None => {
                raw = program.raw().ok_or(DialCause::Broken)?;
                match packing {
                    Packing::Tar => {
                        archive = tar::archive(created::HELPER, &raw);
                        (&*archive, "tar")
                    }
                    Packing::Raw | Packing::Gzip => (&*raw, "raw"),
                }
            }
        };
        let header = format!("{} {kind} {}\n", bytes.len(), program.digest().hex());
        self.send(header.as_bytes())?;
        self.send(bytes)?;
        // They are on their way for a while.
        let way = Duration::from_secs(bytes.len() as u64 / SLOWEST);
        self.deadline = self.deadline.and_then(|it| it.checked_add(way));
        Ok(())
    }

    fn word(&mut self) -> Result<Word, DialCause> {
        loop {
            if let Some(line) = self.line()? {
                let mut words = line.split(' ');
                let mut next = || words.next().map(str::to_owned);
                let word = match next().as_deref() {
                    Some("helper") => Some(Word::Helper),
                    Some("none") => {
                        let named: Vec<&str> = words.collect();
                        let is_named = |it: &&'static str| named.contains(it);
                        Some(Word::None(script::NEEDED.into_iter().filter(is_named).collect()))
                    }
                    Some("need") => (|| {
                        let (system, machine) = (next()?, next()?);
                        let packing = match next()?.as_str() {
                            "gzip" => Packing::Gzip,
                            "tar" => Packing::Tar,
                            _ => Packing::Raw,
                        };
                        Some(Word::Need { system, machine, packing, image: next() })
                    })(),
                    _ => None,
                };
                return word.ok_or(DialCause::Strange);
            }
            self.turn(&[])?;
        }
    }

    /// The next line of the shell, without the nonce; none where it has not come yet.
    fn line(&mut self) -> Result<Option<String>, DialCause> {
        let nonce = format!("{} ", self.nonce).into_bytes();
        let found = self.bytes.windows(nonce.len()).position(|it| *it == nonce);
        let Some(at) = found else {
            let most = if self.has_spoken { MAX_LINE_BYTES } else { MAX_NOISE_BYTES };
            if self.bytes.len() > most {
                let cause = if self.has_spoken { DialCause::Strange } else { DialCause::Noise };
                self.said.noise(&self.bytes);
                return Err(cause);
            }
            return Ok(None);
        };
        if at > 0 {
            self.said.noise(&self.bytes[..at]);
            self.bytes.drain(..at);
            // After its first word the shell alone speaks.
            if self.has_spoken {
                return Err(DialCause::Strange);
            }
        }
        let end = self.bytes.iter().position(|byte| *byte == b'\n');
        let Some(end) = end else {
            return match self.bytes.len() > MAX_LINE_BYTES {
                true => Err(DialCause::Strange),
                false => Ok(None),
            };
        };
        self.has_spoken = true;
        let line = String::from_utf8_lossy(&self.bytes[nonce.len()..end]).into_owned();
        self.bytes.drain(..=end);
        self.deadline = self.patience.and_then(|it| Instant::now().checked_add(it));
        Ok(Some(line))
    }

    /// Sends all of it.
    fn send(&mut self, mut bytes: &[u8]) -> Result<(), DialCause> {
        while !bytes.is_empty() {
            let count = self.turn(bytes)?;
            bytes = &bytes[count..];
            if count > 0 {
                self.deadline = self.patience.and_then(|it| Instant::now().checked_add(it));
            }
        }
        Ok(())
    }

    /// Waits until something comes or can be sent: how much was sent.
    fn turn(&mut self, sending: &[u8]) -> Result<usize, DialCause> {
        if self.stop.order() != Order::GoOn {
            return Err(DialCause::Stopped);
        }
        let left = self.deadline.map(|it| it.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(self.silence());
        }
        let (input, output) = (self.wires.ends.input.as_fd(), self.wires.ends.output.as_fd());
        let mut fds = vec![(output, PollFlags::IN)];
        if self.is_stderr_open {
            fds.push((self.wires.stderr.as_fd(), PollFlags::IN));
        }
        let asked_at = fds.len();
        if let Some(questions) = &self.questions {
            fds.push((questions.fd(), PollFlags::IN));
        }
        if !sending.is_empty() {
            fds.push((input, PollFlags::OUT));
        }
        let ready = self.stop.wait(&fds, left, Order::GoOn);
        let is_ready = |at: usize| ready.get(at).is_some_and(|it| !it.is_empty());
        let (has_output, has_error) = (is_ready(0), self.is_stderr_open && is_ready(1));
        let is_writable = !sending.is_empty() && is_ready(fds.len() - 1);
        if self.questions.is_some() && is_ready(asked_at) {
            self.hear_question()?;
        }
        // What it complains about is known before its end is.
        if has_error {
            self.hear_complaint()?;
        }
        if has_output {
            self.hear()?;
        }
        match is_writable {
            true => self.write(sending),
            false => Ok(0),
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, DialCause> {
        match rustix::io::write(&self.wires.ends.input, &bytes[..bytes.len().min(CHUNK_BYTES)]) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            // Why it is gone is what its output ends with.
            Err(_) => Err(DialCause::Ended { code: None }),
        }
    }

    fn hear(&mut self) -> Result<(), DialCause> {
        let mut chunk = vec![0; CHUNK_BYTES];
        match rustix::io::read(&self.wires.ends.output, &mut chunk) {
            Ok(0) => {
                self.said.noise(&self.bytes);
                Err(DialCause::Ended { code: None })
            }
            Ok(count) => {
                self.bytes.extend_from_slice(&chunk[..count]);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(DialCause::System(std::io::Error::from(error).kind())),
        }
    }

    fn hear_question(&mut self) -> Result<(), DialCause> {
        let Some(questions) = &mut self.questions else { return Ok(()) };
        match questions.hear(self.stop) {
            // A person may have taken any time.
            Ok(true) => self.deadline = self.patience.and_then(|it| Instant::now().checked_add(it)),
            Ok(false) => {}
            Err(cause) => {
                self.said.complaint(questions.text());
                return Err(cause);
            }
        }
        Ok(())
    }

    fn hear_complaint(&mut self) -> Result<(), DialCause> {
        let mut chunk = vec![0; CHUNK_BYTES];
        match rustix::io::read(&self.wires.stderr, &mut chunk) {
            Ok(0) => self.is_stderr_open = false,
            Ok(count) => self.said.complaint(&chunk[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.is_stderr_open = false,
        }
        let Some(asking) = &mut self.asking else { return Ok(()) };
        if !self.said.take_prompt(&asking.prompt) {
            return Ok(());
        }
        // It asks again only if the password was wrong.
        let password = asking.password.take().ok_or(DialCause::Denied)?;
        let line = Wiped::new(format!("{}\n", password.expose()));
        self.deadline = self.patience.and_then(|it| Instant::now().checked_add(it));
        // A pipe that nobody has written to takes a line at once.
        match rustix::io::write(&self.wires.ends.input, line.as_bytes()) {
            Ok(count) if count == line.len() => Ok(()),
            _ => Err(DialCause::Denied),
        }
    }

    /// The shell has not spoken in time.
    fn silence(&self) -> DialCause {
        DialCause::Silent { after: self.patience.unwrap_or_default() }
    }

    /// What a transport that has ended complained about, up to its end.
    pub(super) fn rest(&mut self, most: Duration) {
        let end = Instant::now() + most;
        while self.is_stderr_open && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            let fds = [(self.wires.stderr.as_fd(), PollFlags::IN)];
            let ready = self.stop.wait(&fds, Some(left), self.stop.order());
            if ready.iter().all(PollFlags::is_empty) {
                return;
            }
            if self.hear_complaint().is_err() {
                return;
            }
        }
    }
}
