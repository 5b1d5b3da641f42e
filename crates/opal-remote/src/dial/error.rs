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
use opal_core::target::{Hop, HostKey, Ssh, TargetName, Via};
use opal_core::view::visible;
use opal_session::reach::words::ReachError;
use opal_session::wire::frame::Loss;

use super::said::Said;
use crate::helper::Flaw;

/// A target that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialError {
    pub target: TargetName,
    pub hop: Hop,
    pub cause: DialCause,
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
    /// The password was not accepted, or nothing asked for it in time.
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
    /// `known_hosts` has another key of this host.
    Changed { presented: String },
    /// `known_hosts` lists it as revoked.
    Revoked { presented: String },
    /// The contract has another one.
    NotTheContracts { expected: String, presented: String },
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
        matches!(self.cause, DialCause::Ended { .. })
            && (self.said.mentions("kex_exchange_identification")
                || self.said.mentions("banner exchange"))
    }

    /// Whether commands may still run there, without a helper: it has no place, or there is none for
    /// such a machine.
    #[must_use]
    pub fn is_without_helper(&self) -> bool {
        matches!(self.cause, DialCause::NoPlace | DialCause::NoProgram { .. })
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match (&self.cause, &self.hop) {
            (DialCause::Ended { .. }, Hop::Ssh(ssh)) => ssh_help(ssh, &self.said),
            (DialCause::Ended { .. }, Hop::User { user, via }) => {
                format!("check that this user may run commands as `{user}`: `{via} -u {user} true`")
            }
            (DialCause::Ended { .. }, Hop::Container { name, .. }) => {
                format!("check that the container `{name}` is running and has `sh`")
            }
            (DialCause::Ended { .. }, Hop::NewContainer(new)) => {
                let image = &new.image;
                format!(
                    "check the image `{image}`, its mounts and its network: `docker pull {image}`"
                )
            }
            (DialCause::Ended { .. }, Hop::Pod(pod)) => {
                let name = &pod.name;
                format!(
                    "check that the pod `{name}` is running and has `sh`: `kubectl get pod {name}`"
                )
            }
            (DialCause::Reach(ReachError::Missing { program }), _) => {
                format!("install `{program}` where the target is reached from")
            }
            (DialCause::NoCarrier(program), _) => {
                format!("install `{program}` on opal's machine, in a directory of `PATH`")
            }
            (DialCause::Ended { .. }, Hop::Program(carrier)) => {
                format!("run `{}` in a terminal: its input must be a shell", carrier.program)
            }
            (DialCause::Denied, Hop::User { via: Via::Sudo, .. }) => {
                "check the password, or allow the user with `NOPASSWD` in sudoers".to_owned()
            }
            (DialCause::NoProgram { .. }, _) => {
                "opal has a helper only for Linux, and for machines like its own".to_owned()
            }
            (DialCause::NoHelper(flaw), _) => flaw.help.clone(),
            (DialCause::NoPlace, _) => {
                "make space in the home directory, or in a directory that is \
                                        not mounted `noexec`: `/dev/shm` or `/tmp`"
                    .to_owned()
            }
            (DialCause::Windows, _) => {
                "run the steps in a Linux machine there, such as WSL with an SSH server".to_owned()
            }
            (DialCause::Noise | DialCause::Strange, _) => {
                "keep the start-up files of the login shell quiet: they must print little"
                    .to_owned()
            }
            (DialCause::HostKey(refusal), hop) => key_help(refusal, hop),
            (DialCause::Question, Hop::Ssh(ssh)) => {
                format!("`password=` answers only the question of `{}` for its password", ssh.host)
            }
            (DialCause::NoKey, _) => {
                "contracts need OpenSSH 8.5 or newer on opal's machine".to_owned()
            }
            (DialCause::OtherKey { .. }, hop) => {
                format!("if `{hop}` was reinstalled, make a new contract")
            }
            (DialCause::Outer(trouble), _) => {
                trouble.help.first().map(ToString::to_string).unwrap_or_default()
            }
            _ => "check that the target is reachable, and that this user may run programs there"
                .to_owned(),
        }
    }
}

/// By what ssh says. A wrong guess costs a wrong hint, nothing else.
fn ssh_help(ssh: &Ssh, said: &Said) -> String {
    let address = match ssh.port {
        Some(port) => format!("-p {port} {}", Ssh { port: None, ..ssh.clone() }),
        None => ssh.to_string(),
    };
    let hints: [(&str, String); 8] = [
        (
            "REMOTE HOST IDENTIFICATION HAS CHANGED",
            format!(
                "if the host was reinstalled, remove its old key: `ssh-keygen -R {}`",
                ssh.host
            ),
        ),
        (
            "Host key verification failed",
            format!("verify the key of the host and store it: connect once with `ssh {address}`"),
        ),
        (
            "Permission denied",
            format!(
                "check the user and its keys: `ssh {address} true` must work without a question"
            ),
        ),
        ("Could not resolve hostname", "check the name of the host".to_owned()),
        ("Connection refused", "check the port, and that an SSH server runs there".to_owned()),
        ("timed out", "check the network and the firewall between here and the host".to_owned()),
        ("not available", "give the user a login shell".to_owned()),
        // What `cmd.exe` and PowerShell say.
        ("is not recognized", "a host with Windows cannot be a target".to_owned()),
    ];
    let hint = hints.into_iter().find(|(text, _)| said.mentions(text)).map(|(_, hint)| hint);
    hint.unwrap_or_else(|| format!("check that `ssh {address} true` works"))
}

fn key_help(refusal: &KeyRefusal, hop: &Hop) -> String {
    let host = match hop {
        Hop::Ssh(ssh) => ssh.host.to_string(),
        other => other.to_string(),
    };
    match refusal {
        KeyRefusal::Changed { .. } => format!(
            "if `{host}` was reinstalled, check its new key and remove the old one: `ssh-keygen -R {host}`"
        ),
        KeyRefusal::Revoked { .. } => {
            format!(
                "do not connect to `{host}` before it has a new key: this one was stolen or retired"
            )
        }
        KeyRefusal::NotTheContracts { .. } => format!(
            "if `{host}` was reinstalled, check its new key, remove the old one with \
             `ssh-keygen -R {host}`, and make a new contract"
        ),
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
            DialCause::Ended { code } => match (&self.hop, &said, code) {
                (Hop::Ssh(_), Some(line), _) => {
                    write!(f, "host unreachable: {}", without_address(line))
                }
                (_, Some(line), _) => f.write_str(line),
                (_, None, Some(code)) => write!(f, "the connection ended with exit code {code}"),
                (_, None, None) => f.write_str("the connection was closed"),
            },
            DialCause::Silent { after } => {
                write!(f, "host unreachable: no answer within {after:?}")?;
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
            DialCause::NoCarrier(program) => write!(f, "`{program}` is not installed"),
            DialCause::Windows => f.write_str("a host with Windows cannot be a target"),
            DialCause::Broken => f.write_str("the target helper in opal is broken"),
            DialCause::Digest => f.write_str("the target helper was damaged on its way"),
            DialCause::Hello(loss) => write!(f, "the target helper does not answer: {loss}"),
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
            Self::Changed { presented } => {
                write!(f, "host key is {presented} now, and another one in `known_hosts`")
            }
            Self::Revoked { presented } => write!(f, "host key {presented} is revoked"),
            Self::NotTheContracts { expected, presented } => {
                write!(f, "host key is {expected} in the contract, {presented} now")
            }
        }
    }
}

impl std::error::Error for DialError {}

/// `ssh: connect to host web2 port 22: Connection timed out` names what the message names already.
fn without_address(line: &str) -> String {
    let rest = line.strip_prefix("ssh: ").unwrap_or(line);
    let cut = rest.strip_prefix("connect to host ").and_then(|rest| rest.split_once(": "));
    let rest = cut.map_or(rest, |(_, why)| why);
    let mut chars = rest.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

impl From<DialError> for Trouble {
    fn from(error: DialError) -> Self {
        let kind = match error.cause {
            DialCause::Denied | DialCause::HostKey(_) => TroubleKind::Denied,
            DialCause::NoHelper(Flaw { is_unsafe: true, .. }) => TroubleKind::Denied,
            DialCause::Outer(trouble) => return trouble,
            _ => TroubleKind::Unreachable,
        };
        let (text, help) = (error.to_string(), error.help());
        let message = message!("`", error.target.as_str(), "`: ", Words(&text));
        Self::new(kind, message, help)
    }
}
