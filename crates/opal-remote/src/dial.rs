//! Dialling: from the name of a target to a helper that has said hello.
//!
//! ```text
//! Hop ──▶ a program whose pipes are `sh` on the target ──▶ talk: noise, nonce, upload ──▶ hello
//! ```
//!
//! The first hop starts on opal's machine. A hop inside a target is started by the helper there; from
//! then on both are the same ([`Base`]).
//!
//! | what | where |
//! |---|---|
//! | the words of `ssh` | [`ssh`] |
//! | the key of a host, and what `known_hosts` says about it | `host_key`, `known`, `connect` |
//! | connections that stay open from run to run | [`master`] |
//! | what is said before the hello, sending the helper | `talk` |
//! | how many connect at the same time | [`pace`] |
//! | what `ssh` asks, and who answers | `terminal` |
//! | what was said, for messages | [`said`], `complaints` |
//! | why a target is not reached, which exit code that is, and what to do | [`error`], `hints` |
//!
//! What the shell on the target does, and the words of `sudo`, `docker` and `kubectl`, are in
//! `opal_session::reach`, which the helper shares.

pub(crate) mod client;
mod complaints;
pub(crate) mod connect;
pub mod error;
mod hints;
mod host_key;
mod known;
pub mod master;
pub(crate) mod nonce;
pub(crate) mod origin;
pub mod pace;
pub mod said;
pub mod ssh;
pub(crate) mod talk;
mod tar;
mod terminal;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opal_core::Secret;
use opal_core::hash::Digest;
use opal_core::resolver::Trouble;
pub use opal_core::target::Identity;
use opal_core::target::{Hop, HostKey, TargetName, Via};
use opal_session::reach::{Dialling, script};
use opal_session::stop::{Order, Stop};
use opal_session::wire::Timing;
use opal_session::wire::frame::Loss;
use opal_session::wire::hello::Hello;
use opal_session::world::OsWorld;

use crate::carrier::Carrier;
pub use crate::connection::Base;
use crate::greeting::{Greeting, Terms};
use crate::helper::Programs;
use crate::relay::{self, Relayed};
use crate::session::{ReadOnlySession, RemoteSession};
use complaints::Complaints;
use connect::Keys;
use error::{DialCause, DialError, SSH_FAILED};
pub use origin::Origin;
use said::Said;
use ssh::SshOptions;
use talk::{Asking, Talk, Wires};
pub use terminal::Asker;

/// How long a shell may take to speak where nobody can be asked anything: as long as a target may be
/// silent.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How long `sudo` may take to ask or to start.
const SUDO_PATIENCE: Duration = Duration::from_secs(20);

/// How long an engine may take to get an image.
const PULL_PATIENCE: Duration = Duration::from_secs(600);

/// How long a transport may take to end, and to say why.
const LAST: Duration = Duration::from_secs(2);

/// How long a helper that has noticed a loss takes to end everything.
const LEFT: Duration = Duration::from_secs(5);

/// What a session may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its helper cannot decode an effect, and nothing is kept on the target.
    ReadOnly,
    Effect,
}

/// What is the same for all hops of a run.
pub struct Options<'a> {
    /// opal's machine.
    pub origin: &'a Origin,
    /// The helpers that can be sent.
    pub programs: &'a Programs,
    pub timing: Timing,
    pub ssh: SshOptions,
    /// For `sudo`, or for the server where the hop is one of `ssh`.
    pub password: Option<&'a Secret>,
    /// Who answers what `ssh` asks, unless it is a batch.
    pub asker: Option<&'a dyn Asker>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("origin", &self.origin)
            .field("timing", &self.timing)
            .field("ssh", &self.ssh)
            .finish_non_exhaustive()
    }
}

/// A target that has answered. Nothing of what it says is proven.
#[derive(Debug)]
pub struct Dialled {
    greeting: Greeting,
    said: Said,
    mode: Mode,
    host_key: Option<HostKey>,
    /// The ID of the image of a container that was made.
    image: Option<String>,
}

/// Reaches one hop.
pub fn dial(
    target: &TargetName,
    base: Base<'_>,
    hop: &Hop,
    mode: Mode,
    options: &Options<'_>,
    stop: &Stop,
) -> Result<Dialled, DialError> {
    let mode = match base {
        Base::Reading(_) => Mode::ReadOnly,
        Base::Here | Base::Acting(_) => mode,
    };
    let mut said = Said::default();
    let greeting = reach(target, base, hop, mode, options, stop, &mut said);
    match greeting {
        Ok(Answered { greeting, host_key, image }) => {
            Ok(Dialled { greeting, said, mode, host_key, image })
        }
        Err(cause) => {
            let (target, hop, said) = (target.clone(), hop.clone(), Box::new(said));
            let gives_password = options.password.is_some();
            Err(DialError { target, hop, cause, gives_password, said })
        }
    }
}

/// Who has answered.
struct Answered {
    greeting: Greeting,
    host_key: Option<HostKey>,
    image: Option<String>,
}

fn reach(
    target: &TargetName,
    base: Base<'_>,
    hop: &Hop,
    mode: Mode,
    options: &Options<'_>,
    stop: &Stop,
    said: &mut Said,
) -> Result<Answered, DialCause> {
    let nonce = nonce::draw().map_err(|error| DialCause::System(error.kind()))?;
    let (digests, timing) = (options.programs.digests(), options.timing);
    let dialling = Dialling { nonce, digests, is_read_only: mode == Mode::ReadOnly, timing };
    let password = options.password.filter(|_| matches!(hop, Hop::User { .. }));
    let (mut keys, mut questions) = (None, None);
    let (wires, mut carrier) = match (base, hop) {
        (Base::Here, Hop::Local) => {
            let (wires, transport) = options.origin.helper(&script::arguments(&dialling))?;
            let carrier = Carrier::Process(transport);
            let greeting = heard(target, wires, &[], (carrier, timing), stop, said)?;
            return Ok(Answered { greeting, host_key: None, image: None });
        }
        (Base::Here, Hop::Ssh(ssh)) => {
            let mut started = Keys::new(ssh, options)?;
            let (wires, transport) = started.start(&script::login_command(&dialling), stop)?;
            questions = started.questions(&transport)?;
            keys = Some(started);
            (wires, Carrier::Process(transport))
        }
        (Base::Here, Hop::Program(carrier)) => {
            let (wires, transport) = options.origin.carrier(carrier)?;
            // Its input is a shell there, which reads one line and becomes what that says. Where nobody
            // reads it, its end says so.
            let line = format!("{}\n", script::login_command(&dialling));
            let _ = rustix::io::write(&wires.ends.input, line.as_bytes());
            (wires, Carrier::Process(transport))
        }
        // Who only reads makes nothing.
        (_, Hop::NewContainer(_)) if mode == Mode::ReadOnly => {
            return Err(DialCause::Outer(Trouble::not_yet()));
        }
        (Base::Here, hop) => {
            let (wires, transport) = options.origin.start(hop, &dialling, password.is_some())?;
            (wires, Carrier::Process(transport))
        }
        (Base::Reading(looking), hop) => {
            inside(relay::look(looking, hop, &dialling, password.is_some()))?
        }
        (Base::Acting(acting), hop) => {
            inside(relay::act(acting, hop, &dialling, password.is_some()))?
        }
    };
    rustix::io::ioctl_fionbio(&wires.ends.input, true)
        .map_err(|error| DialCause::System(std::io::Error::from(error).kind()))?;
    let asking = matches!(hop, Hop::User { via: Via::Sudo, .. })
        .then(|| Asking { prompt: nonce.prompt(), password });
    let patience = match hop {
        Hop::User { .. } => Some(SUDO_PATIENCE),
        Hop::NewContainer(_) => Some(PULL_PATIENCE),
        Hop::Ssh(_) if options.asker.is_some() && !options.ssh.is_batch => None,
        _ => Some(PATIENCE + options.ssh.connect_timeout),
    };
    let mut talk = Talk::new(wires, nonce.text(), patience, asking, stop);
    talk.questions = questions;
    let sent = match talk.reach(options.programs) {
        Ok(sent) => sent,
        Err(cause) => {
            let mut cause = ended(cause, &mut carrier, &mut talk);
            if let DialCause::Ended { code: Some(SSH_FAILED) } = cause {
                let refusal = keys.as_ref().and_then(|keys| keys.refusal(stop));
                cause = refusal.unwrap_or(cause);
            }
            *said = std::mem::take(&mut talk.said);
            return Err(cause);
        }
    };
    *said = std::mem::take(&mut talk.said);
    let host_key = keys.map(|keys| keys.accepted()).transpose()?.flatten();
    let (begun, image) = (talk.begun().to_vec(), talk.image.take());
    let greeting = heard(target, talk.into_wires(), &begun, (carrier, timing), stop, said)?;
    check(&greeting, sent, mode)?;
    Ok(Answered { greeting, host_key, image })
}

/// What the helper of the outer target has started.
fn inside(relayed: Result<Relayed, Trouble>) -> Result<(Wires, Carrier), DialCause> {
    let Relayed { ends, stderr, relay } = relayed.map_err(DialCause::Outer)?;
    Ok((Wires { ends, stderr }, Carrier::Request(relay)))
}

/// Hears the hello. What is complained about after it interests nobody, and must not be in the way.
fn heard(
    target: &TargetName,
    wires: Wires,
    begun: &[u8],
    (carrier, timing): (Carrier, Timing),
    stop: &Stop,
    said: &mut Said,
) -> Result<Greeting, DialCause> {
    let Wires { ends, stderr } = wires;
    let complaints = Complaints::take(stderr).map_err(|error| DialCause::System(error.kind()))?;
    let greeting = Greeting::heard(target.as_str(), ends, begun, Some(carrier), timing, stop);
    greeting.map_err(|loss| {
        if stop.order() != Order::GoOn {
            return DialCause::Stopped;
        }
        said.complaint(&complaints.all(LAST));
        DialCause::Hello(loss)
    })
}

/// A transport that has ended by itself says why.
fn ended(cause: DialCause, carrier: &mut Carrier, talk: &mut Talk<'_>) -> DialCause {
    if !matches!(cause, DialCause::Ended { .. }) {
        return cause;
    }
    talk.rest(LAST);
    match carrier.ended(LAST) {
        Ok(code) => DialCause::Ended { code },
        Err(trouble) => DialCause::Outer(trouble),
    }
}

fn check(greeting: &Greeting, sent: Option<Digest>, mode: Mode) -> Result<(), DialCause> {
    let hello = greeting.hello();
    if sent.is_some() && hello.digest != sent {
        return Err(DialCause::Digest);
    }
    if hello.is_read_only != (mode == Mode::ReadOnly) {
        let why =
            opal_session::wire::codec::Malformed("the helper has another mode than asked for");
        return Err(DialCause::Hello(Loss::Malformed(why)));
    }
    Ok(())
}

/// An image in the place of a machine. Docker names the kind of its digest, and podman does not.
pub(crate) fn image_machine(id: &str) -> String {
    format!("image {}", id.strip_prefix("sha256:").unwrap_or(id))
}

impl Dialled {
    /// What the other side says of itself: user, machine, system, architecture.
    #[must_use]
    pub fn facts(&self) -> &Hello {
        self.greeting.hello()
    }

    /// What the login printed.
    #[must_use]
    pub fn said(&self) -> &Said {
        &self.said
    }

    /// The key of the host, where the policy asks for it. It alone is proven.
    #[must_use]
    pub fn host_key(&self) -> Option<&HostKey> {
        self.host_key.as_ref()
    }

    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Steps on the target. A target that was dialled to be read is refused.
    pub fn act(self, terms: Terms, origin: Arc<OsWorld>) -> Result<RemoteSession, Trouble> {
        Ok(RemoteSession::new(self.greeting.act(terms)?, origin))
    }

    /// The same after an earlier connection of this session was lost. What that one has left running is
    /// ended, and its helper is gone before this returns: never are there two at once. The marker of
    /// `terms` is the one of the lost session, and of no other one.
    pub fn act_again(
        self,
        terms: Terms,
        origin: Arc<OsWorld>,
        stop: &Stop,
    ) -> Result<RemoteSession, Trouble> {
        let patience = self.greeting.timing().lost.saturating_add(LEFT);
        let session = self.act(terms, origin)?;
        session.take_over(patience, stop)?;
        Ok(session)
    }

    /// What must be the same for every connection of a run.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let facts = self.facts();
        Identity {
            user: Some(facts.user),
            machine: self.image.as_deref().map_or_else(|| facts.machine.clone(), image_machine),
            os: facts.os.clone(),
            arch: facts.arch.clone(),
            host_key: self.host_key.clone(),
        }
    }

    /// The target, to be read.
    pub fn look(self, terms: Terms, origin: Arc<OsWorld>) -> Result<ReadOnlySession, Trouble> {
        Ok(ReadOnlySession::new(self.greeting.look(terms)?, origin))
    }
}
