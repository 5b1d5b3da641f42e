//! Passes on what `ssh` asks to the person in front of the terminal: whether a host key is right, or
//! the passphrase of a key.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use opal_core::Secret;
use opal_core::wiped::Wiped;
use opal_remote::dial::Asker;
use opal_session::stop::{Order, Stop};
use rustix::event::PollFlags;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::signals::Watched;
use crate::view;

/// How often it is asked whether the run goes on.
const TICK: Duration = Duration::from_millis(100);

/// What a terminal takes in one line.
const MAX_LINE_BYTES: usize = 4096;

/// One question at a time: blocks on several targets may run in parallel.
#[derive(Debug, Default)]
pub(crate) struct Person(Mutex<()>);

impl Asker for Person {
    fn ask(&self, question: &str, is_hidden: bool, stop: &Stop) -> Option<Secret> {
        let _turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // While planning nobody else watches, and the terminal must not stay silent.
        let watched = Watched::early().ok()?;
        let stdin = io::stdin();
        let _silent = is_hidden.then(|| Silent::new(stdin.as_fd()));
        view::pass_on_question(question);
        let answer = line(stdin.as_fd(), stop, watched.stop());
        if is_hidden || answer.is_none() {
            view::say("\n");
        }
        answer
    }
}

/// What is typed in one line; none where there is no end of it, or an order to stop.
fn line(from: BorrowedFd<'_>, stop: &Stop, watched: &Stop) -> Option<Secret> {
    let mut bytes = Wiped::new([0; MAX_LINE_BYTES]);
    loop {
        if stop.order() != Order::GoOn || watched.order() != Order::GoOn {
            return None;
        }
        let ready = watched.wait(&[(from, PollFlags::IN)], Some(TICK), Order::GoOn);
        if ready.iter().all(PollFlags::is_empty) {
            continue;
        }
        match rustix::io::read(from, &mut *bytes) {
            Ok(0) => return None,
            Ok(count) => {
                let text = std::str::from_utf8(&bytes[..count]).ok()?;
                return text.strip_suffix('\n').map(Secret::new);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

/// A terminal that does not show what is typed; afterwards it is as it was.
struct Silent<'a> {
    device: BorrowedFd<'a>,
    before: Option<Termios>,
}

impl<'a> Silent<'a> {
    fn new(device: BorrowedFd<'a>) -> Self {
        let before = tcgetattr(device).ok();
        if let Some(before) = &before {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(device, OptionalActions::Now, &silent);
        }
        Self { device, before }
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(self.device, OptionalActions::Drain, before);
        }
    }
}
