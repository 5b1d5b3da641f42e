//! Why a target was not reached: before its helper has said hello.
//!
//! All of it is exit 69, except a refused host key ([`DialError::is_refused_key`]), which is 77.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use opal_core::message;
use opal_core::message::{Reason, Words};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::target::{Hop, HostKey, TargetName};
use opal_core::view::visible;
use opal_session::reach::words::ReachError;
use opal_session::wire::frame::Loss;

use super::said::Said;
use crate::helper::Flaw;

/// What `ssh` ends with when it was itself that failed.
pub(crate) const SSH_FAILED: i32 = 255;

/// A target that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialError {
    pub target: TargetName,
    pub hop: Hop,
    pub cause: DialCause,
    /// Whether the block gives a password.
    pub gives_password: bool,
    /// What there is to quote. It decides nothing.
    pub said: Box<Said>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialCause {
    /// Nothing can be started that leads there.
    Reach(ReachError),
    /// It can be started, and the system refuses.
    NotStarted {
        program: PathBuf,
        why: ErrorKind,
    },
    /// The transport has ended before the shell became the helper.
    Ended {
        code: Option<i32>,
    },
    /// Nothing was heard of the shell.
    Silent {
        after: Duration,
    },
    /// The login prints more than 64 KiB.
    Noise,
    /// What answers is not the shell's script.
    Strange,
    /// There is no helper for such a machine.
    NoProgram {
        system: String,
        machine: String,
    },
    /// Opal has none at all.
    NoHelper(Flaw),
    /// There is no directory in which the helper can be stored and run.
    NoPlace,
    /// It has not the programs that storing the helper needs.
    Lacks(Vec<&'static str>),
    /// The program that a package names is not in `PATH`.
    NoCarrier(String),
    /// The system of the host is Windows.
    Windows,
    /// The helper that opal has is broken.
    Broken,
    /// What runs there is not what was sent.
    Digest,
    /// The helper does not say hello.
    Hello(Loss),
    /// The password was not accepted.
    Denied,
    /// `ssh` asks something that nobody answers.
    Question,
    /// The host has a key that `ssh` refuses.
    HostKey(KeyRefusal),
    /// `ssh` accepts the key, and the contract has another one.
    OtherKey {
        expected: HostKey,
        presented: HostKey,
    },
    /// `ssh` did not say which key the host has.
    NoKey,
    System(ErrorKind),
    /// Nobody waits for it any more.
    Stopped,
    /// The target on which this one is was lost.
    Outer(Trouble),
}

/// Why a host key is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyRefusal {
    /// `known_hosts` has another key of this host. `forget` is the command that removes it.
    Changed { presented: String, forget: String },
    /// `known_hosts` lists it as revoked.
    Revoked { presented: String },
    /// The contract has another one.
    NotTheContracts { expected: String, presented: String, forget: String },
}

impl DialError {
    /// Whether the exit code is 77 and not 69.
    #[must_use]
    pub fn is_refused_key(&self) -> bool {
        matches!(self.cause, DialCause::HostKey(_))
    }

    /// Whether a server closed the connection before it knew who asks, as one with `MaxStartups` does.
    /// Only for pacing: it is read from text that anybody can write.
    #[must_use]
    pub fn is_turned_away(&self) -> bool {
        // Before OpenSSH 8.0 it was `ssh_exchange_identification`.
        const CLOSED: [&str; 2] = ["_exchange_identification", "banner exchange"];
        // This is not an SSH server.
        const OTHER: [&str; 2] = ["No SSH version received", "invalid characters"];
        let mentions = |texts: &[&str]| texts.iter().any(|text| self.said.mentions(text));
        matches!(self.cause, DialCause::Ended { .. }) && mentions(&CLOSED) && !mentions(&OTHER)
    }

    /// Whether commands may still run there, without a helper: it has no place, or there is none for
    /// such a machine.
    #[must_use]
    pub fn is_without_helper(&self) -> bool {
        matches!(self.cause, DialCause::NoPlace | DialCause::Lacks(_) | DialCause::NoProgram { .. })
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said.last_line();
        let quoted = |f: &mut fmt::Formatter<'_>| match &said {
            Some(line) => write!(f, ": {line}"),
            None => Ok(()),
        };
        match &self.cause {
            DialCause::Reach(error) => write!(f, "{error}"),
            DialCause::NotStarted { program, why } => {
                write!(f, "`{}` cannot be started: {}", program.display(), Reason(*why))
            }
            DialCause::Ended { code } => self.write_end(*code, f),
            DialCause::Silent { after } => {
                match &self.hop {
                    Hop::User { via, .. } => {
                        write!(f, "no answer through `{}` within {after:?}", via.program())?;
                    }
                    _ => write!(f, "host unreachable: no answer within {after:?}")?,
                }
                quoted(f)
            }
            DialCause::Noise => {
                f.write_str("the login prints more than 64 KiB")?;
                quoted(f)
            }
            DialCause::Strange => {
                f.write_str("what answers is not a shell")?;
                quoted(f)
            }
            DialCause::NoProgram { system, machine } => {
                let (system, machine) = (visible::brief(system, 32), visible::brief(machine, 32));
                write!(f, "no target helper for `{system} {machine}`")
            }
            DialCause::NoHelper(flaw) => f.write_str(&flaw.message),
            DialCause::NoPlace => {
                f.write_str("no directory in which the target helper can be stored and run")
            }
            DialCause::Lacks(programs) => {
                let names: Vec<String> = programs.iter().map(|it| format!("`{it}`")).collect();
                write!(f, "the target helper cannot be stored without {}", names.join(", "))
            }
            DialCause::NoCarrier(program) => write!(f, "`{program}` is not installed"),
            DialCause::Windows => f.write_str("a host with Windows cannot be a target"),
            DialCause::Broken => f.write_str("the target helper in opal is broken"),
            DialCause::Digest => f.write_str("the target helper was damaged on its way"),
            DialCause::Hello(loss) => match (&self.hop, self.said.error_line()) {
                (Hop::NewContainer(_), Some(line)) => {
                    write!(f, "the container does not start: {line}")
                }
                (_, Some(line)) => write!(f, "the target helper does not answer: {loss}: {line}"),
                (_, None) => write!(f, "the target helper does not answer: {loss}"),
            },
            DialCause::Denied => {
                f.write_str("the password was not accepted")?;
                quoted(f)
            }
            DialCause::Question => {
                f.write_str("ssh asks a question that is not answered")?;
                quoted(f)
            }
            DialCause::HostKey(refusal) => refusal.fmt(f),
            DialCause::OtherKey { expected, presented } => {
                write!(f, "host key is {expected} in the contract, {presented} now")
            }
            DialCause::NoKey => f.write_str("the key of the host is not known"),
            DialCause::System(why) => write!(f, "{}", Reason(*why)),
            DialCause::Stopped => f.write_str("cancelled"),
            DialCause::Outer(trouble) => write!(f, "{}", trouble.message),
        }
    }
}

impl fmt::Display for KeyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { presented, .. } => {
                write!(f, "host key is {presented} now, and another one in `known_hosts`")
            }
            Self::Revoked { presented } => write!(f, "host key {presented} is revoked"),
            Self::NotTheContracts { expected, presented, .. } => {
                write!(f, "host key is {expected} in the contract, {presented} now")
            }
        }
    }
}

impl std::error::Error for DialError {}

/// `ssh: connect to host web2 port 22: Connection timed out` names what the message names already.
fn without_address(line: &str) -> String {
    // Other words may be the server's, and are quoted as they are.
    let Some(rest) = line.strip_prefix("ssh: ") else { return line.to_owned() };
    let cut = rest.strip_prefix("connect to host ").and_then(|rest| rest.split_once(": "));
    let rest = cut.map_or(rest, |(_, why)| why);
    let mut chars = rest.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

impl From<DialError> for Trouble {
    fn from(error: DialError) -> Self {
        let label = error.target.as_str().to_owned();
        error.trouble(&label)
    }
}

impl DialError {
    /// What a transport that has ended complained about.
    fn write_end(&self, code: Option<i32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.hop, &self.said.last_line(), code) {
            (Hop::Ssh(_), Some(line), code) => {
                let is_of_ssh = code.is_none_or(|code| code == SSH_FAILED);
                if is_of_ssh && let Some(line) = self.said.setting() {
                    return write!(f, "ssh refuses its configuration: {line}");
                }
                write!(f, "{}: {}", self.said.refusal(is_of_ssh), without_address(line))
            }
            // The lines after the first are what follows from it.
            (Hop::User { .. }, Some(line), _) => {
                f.write_str(self.said.first_line().as_ref().unwrap_or(line))
            }
            (_, Some(line), _) => f.write_str(self.said.error_line().as_ref().unwrap_or(line)),
            (_, None, Some(code)) => write!(f, "the connection ended with exit code {code}"),
            (_, None, None) => f.write_str("the connection was closed"),
        }
    }

    /// With what messages call the target.
    #[must_use]
    pub fn trouble(self, label: &str) -> Trouble {
        let kind = match self.cause {
            DialCause::Denied | DialCause::HostKey(_) => TroubleKind::Denied,
            DialCause::Silent { .. } if matches!(self.hop, Hop::User { .. }) => TroubleKind::Denied,
            DialCause::NoHelper(Flaw { is_unsafe: true, .. }) => TroubleKind::Denied,
            DialCause::Outer(trouble) => return trouble,
            _ => TroubleKind::Unreachable,
        };
        let (text, help) = (self.to_string(), self.help());
        Trouble::new(kind, message!("`", label, "`: ", Words(&text)), help)
    }
}
