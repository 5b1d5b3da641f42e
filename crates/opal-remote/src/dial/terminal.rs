//! The terminal of `ssh`, which is opal's: what it asks there, opal answers or passes on to a person.
//!
//! `ssh` has a session of its own, so that an interrupt of the user's terminal is not for it, and its
//! questions come here. So do those of the `ssh` that leads over a jump host.

use std::cell::RefCell;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use opal_core::Secret;
use opal_core::wiped::Wiped;
use opal_session::stop::{Order, Stop};
use rustix::io::Errno;
use rustix::termios::{LocalModes, tcgetattr};

use super::error::DialCause;

/// What is asked in one go.
const MAX_QUESTION_BYTES: usize = 16 * 1024;

/// Who answers what `ssh` asks.
pub trait Asker: Send + Sync {
    /// The answer to a question; `is_hidden` is whether nobody may see it. None gives up, as it does
    /// when there is an order to stop.
    fn ask(&self, question: &str, is_hidden: bool, stop: &Stop) -> Option<Secret>;
}

/// Who answers, in one connection.
pub(super) enum Answers<'a> {
    /// The password of a block: once, and to no other question.
    Password {
        beginnings: Vec<String>,
        password: RefCell<Option<&'a Secret>>,
    },
    Person(&'a dyn Asker),
}

/// What `ssh` writes to its terminal, and who answers.
pub(super) struct Questions<'a> {
    fd: OwnedFd,
    answers: Answers<'a>,
    /// Since the last answer.
    text: Vec<u8>,
    /// The terminal repeats an answer that may be seen.
    is_repeated: bool,
}

impl<'a> Questions<'a> {
    pub(super) fn new(fd: OwnedFd, answers: Answers<'a>) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self { fd, answers, text: Vec::new(), is_repeated: false })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether something was asked, and is answered now.
    pub(super) fn hear(&mut self, stop: &Stop) -> Result<bool, DialCause> {
        let mut chunk = [0; 4096];
        match rustix::io::read(&self.fd, &mut chunk) {
            Ok(count) => self.text.extend_from_slice(&chunk[..count]),
            Err(Errno::AGAIN | Errno::INTR | Errno::IO) => return Ok(false),
            Err(error) => return Err(DialCause::System(std::io::Error::from(error).kind())),
        }
        if self.text.len() > MAX_QUESTION_BYTES {
            return Err(DialCause::Question);
        }
        if self.is_repeated {
            let Some(end) = self.text.iter().position(|byte| *byte == b'\n') else {
                return Ok(false);
            };
            self.text.drain(..=end);
            self.is_repeated = false;
        }
        // A question ends where the answer begins, in its line.
        if !matches!(self.text.as_slice(), [.., b' ' | b':' | b'?' | b'>' | b']']) {
            return Ok(false);
        }
        let is_hidden =
            tcgetattr(&self.fd).is_ok_and(|it| !it.local_modes.contains(LocalModes::ECHO));
        let text = String::from_utf8_lossy(&self.text).replace('\r', "");
        let answer = self.answers.answer(&text, is_hidden, stop);
        let answer = answer.ok_or(match stop.order() {
            Order::GoOn => DialCause::Question,
            _ => DialCause::Stopped,
        })?;
        self.text.clear();
        self.is_repeated = !is_hidden;
        let line = Wiped::new(format!("{}\n", answer.expose()));
        // The line is shorter than what a terminal takes at once.
        match rustix::io::write(&self.fd, line.as_bytes()) {
            Ok(count) if count == line.len() => Ok(true),
            _ => Err(DialCause::Question),
        }
    }

    /// What was asked last, for a message.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }
}

impl Answers<'_> {
    fn answer(&self, text: &str, is_hidden: bool, stop: &Stop) -> Option<Secret> {
        match self {
            Self::Person(asker) => asker.ask(text.trim_start_matches('\n'), is_hidden, stop),
            Self::Password { beginnings, password } => {
                // All of it is one question of the target itself: what a jump host asks begins
                // otherwise, whatever follows.
                let text = text.trim_start_matches('\n');
                let is_ours = !text.contains('\n')
                    && beginnings.iter().any(|beginning| text.starts_with(beginning.as_str()));
                let password = password.borrow_mut().take().filter(|_| is_hidden && is_ours)?;
                Some(password.clone())
            }
        }
    }
}

/// What the target's own questions begin with, as OpenSSH writes them.
pub(super) fn beginnings(user: &str, host: &str) -> Vec<String> {
    vec![format!("{user}@{host}'s password:"), format!("({user}@{host}) ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_for_one_question_of_the_target_and_for_no_other() {
        let secret = Secret::new("word");
        let answers = |text: &str, is_hidden| {
            let password = RefCell::new(Some(&secret));
            let answers = Answers::Password { beginnings: beginnings("me", "web1"), password };
            let stop = Stop::new();
            let first = answers.answer(text, is_hidden, &stop).is_some();
            (first, answers.answer("me@web1's password: ", true, &stop).is_some())
        };
        assert_eq!(answers("me@web1's password: ", true), (true, false));
        assert_eq!(answers("(me@web1) Password: ", true), (true, false));
        for text in [
            "me@jump's password: ",
            "(me@jump) x\nme@web1's password: ",
            "(me@jump) me@web1's password: ",
            "Enter passphrase for key '/home/me/.ssh/id': ",
            "you@web1's password: ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        ] {
            assert_eq!(answers(text, true), (false, false), "{text}");
        }
        assert_eq!(answers("me@web1's password: ", false), (false, false), "it would be seen");
    }
}
