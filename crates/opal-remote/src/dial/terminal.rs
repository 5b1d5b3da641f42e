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
        prompts: Prompts,
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
            Self::Password { prompts, password } => {
                let text = text.trim_start_matches('\n');
                if is_hidden && prompts.is_for_other_key(text) {
                    // `ssh` goes on with the next key, and then with the password.
                    return Some(Secret::new(""));
                }
                let is_ours = prompts.is_ours(text);
                let password = password.borrow_mut().take().filter(|_| is_hidden && is_ours)?;
                Some(password.clone())
            }
        }
    }
}

/// The questions that a password answers.
pub(super) struct Prompts {
    /// What those of the target itself begin with, as OpenSSH writes them.
    beginnings: [String; 2],
    /// The whole question about the key that the block names.
    passphrase: Option<String>,
}

/// What `ssh` asks about a key on this machine, around the name of its file.
const PASSPHRASE: (&str, &str) = ("Enter passphrase for key '", "': ");

/// Bytes of the name of a file in such a question.
const MAX_KEY_BYTES: usize = 100;

impl Prompts {
    /// `key` is the file of the key that the block names, as `ssh` calls it.
    pub(super) fn new(user: &str, host: &str, key: Option<&str>) -> Self {
        let beginnings = [format!("{user}@{host}'s password:"), format!("({user}@{host}) ")];
        let passphrase = key.map(|key| {
            let shown = String::from_utf8_lossy(&key.as_bytes()[..key.len().min(MAX_KEY_BYTES)]);
            format!("{}{shown}{}", PASSPHRASE.0, PASSPHRASE.1)
        });
        Self { beginnings, passphrase }
    }

    /// All of it is one question of the target itself, or about the key: what a jump host asks begins
    /// otherwise, whatever follows.
    fn is_ours(&self, text: &str) -> bool {
        let begins = |beginning: &String| text.starts_with(beginning.as_str());
        let is_of_key = self.passphrase.as_deref() == Some(text);
        !text.contains('\n') && (is_of_key || self.beginnings.iter().any(begins))
    }

    fn is_for_other_key(&self, text: &str) -> bool {
        let is_of_key = text.starts_with(PASSPHRASE.0) && text.ends_with(PASSPHRASE.1);
        is_of_key && !text.contains('\n') && self.passphrase.as_deref() != Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_for_one_question_of_the_target_and_for_no_other() {
        let secret = Secret::new("word");
        let key = "/home/me/.ssh/id";
        let answers = |text: &str, is_hidden| {
            let password = RefCell::new(Some(&secret));
            let prompts = Prompts::new("me", "web1", Some(key));
            let answers = Answers::Password { prompts, password };
            let stop = Stop::new();
            let first = answers.answer(text, is_hidden, &stop).is_some();
            (first, answers.answer("me@web1's password: ", true, &stop).is_some())
        };
        assert_eq!(answers("me@web1's password: ", true), (true, false));
        assert_eq!(answers("(me@web1) Password: ", true), (true, false));
        assert_eq!(answers("Enter passphrase for key '/home/me/.ssh/id': ", true), (true, false));
        for text in [
            "me@jump's password: ",
            "(me@jump) x\nme@web1's password: ",
            "(me@jump) me@web1's password: ",
            "Enter passphrase for key '/home/me/.ssh/id': \nEnter passphrase for key '/home/me/.ssh/id': ",
            "Enter passphrase for /home/me/.ssh/id: ",
            "Enter PIN for 'card': ",
            "you@web1's password: ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        ] {
            assert_eq!(answers(text, true), (false, false), "{text}");
        }
        assert_eq!(answers("me@web1's password: ", false), (false, false), "it would be seen");
    }

    #[test]
    fn a_key_that_the_block_does_not_name_is_passed_over_without_the_password() {
        let (secret, stop, long) = (Secret::new("word"), Stop::new(), "k".repeat(120));
        for key in [None, Some("/home/me/.ssh/id"), Some(long.as_str())] {
            let prompts = Prompts::new("me", "web1", key);
            let answers = Answers::Password { prompts, password: RefCell::new(Some(&secret)) };
            let said = |text: &str| answers.answer(text, true, &stop);
            let other = said("Enter passphrase for key '/home/me/.ssh/other': ");
            assert_eq!(other.as_ref().map(Secret::expose), Some(""));
            assert!(answers.answer("Enter passphrase for key 'x': ", false, &stop).is_none());
        }
        // OpenSSH cuts a long name.
        let prompts = Prompts::new("me", "web1", Some(&long));
        assert!(prompts.is_ours(&format!("Enter passphrase for key '{}': ", "k".repeat(100))));
    }
}
