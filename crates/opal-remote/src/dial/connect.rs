//! One connection by `ssh`, and which key the host has.

use std::cell::RefCell;
use std::time::Instant;

use opal_core::target::{HostKey, Ssh};
use opal_session::Transport;
use opal_session::stop::Stop;

use super::Options;
use super::error::{DialCause, KeyRefusal};
use super::host_key::{Watch, algorithms};
use super::known::{self, Configured};
use super::master;
use super::origin::Origin;
use super::ssh::{self, KeyPolicy, SshOptions};
use super::talk::Wires;
use super::terminal::{Answers, Prompts, Questions};

/// What watches over the key of one connection.
pub(super) struct Keys<'a> {
    ssh: &'a Ssh,
    options: &'a Options<'a>,
    watch: Option<Watch>,
    configured: Option<Configured>,
    /// Who answers what `ssh` asks.
    answers: Option<Answers<'a>>,
    began: Instant,
}

impl<'a> Keys<'a> {
    /// With the policy of the block.
    pub(super) fn new(ssh: &'a Ssh, options: &'a Options<'a>) -> Result<Self, DialCause> {
        let system = |error: std::io::Error| DialCause::System(error.kind());
        let watches = options.ssh.keys != KeyPolicy::Users;
        let watch = watches.then(Watch::new).transpose().map_err(system)?;
        let configured = (watches || options.password.is_some())
            .then(|| known::configured(options.origin, ssh, &options.ssh))
            .flatten();
        let answers = match (options.password, options.asker) {
            (Some(password), _) => {
                let configured = configured.as_ref().ok_or(DialCause::Question)?;
                let key = configured.key(options.ssh.key_file.as_deref());
                let prompts = Prompts::new(&configured.user, &configured.shown, key);
                Some(Answers::Password { prompts, password: RefCell::new(Some(password)) })
            }
            (None, Some(asker)) if !options.ssh.is_batch => Some(Answers::Person(asker)),
            (None, _) => None,
        };
        Ok(Self { ssh, options, watch, configured, answers, began: Instant::now() })
    }

    /// What `ssh` asks, where somebody answers.
    pub(super) fn questions(
        &mut self,
        transport: &Transport,
    ) -> Result<Option<Questions<'a>>, DialCause> {
        let system = |error: std::io::Error| DialCause::System(error.kind());
        let Some(answers) = self.answers.take() else { return Ok(None) };
        let terminal = transport.terminal().map_err(system)?;
        Questions::new(terminal, answers).map(Some).map_err(system)
    }

    /// Starts `ssh`.
    pub(super) fn start(
        &self,
        command: &str,
        stop: &Stop,
    ) -> Result<(Wires, Transport), DialCause> {
        let mut more = match &self.watch {
            Some(watch) => self.watching(watch),
            None => Vec::new(),
        };
        if self.options.password.is_some() {
            // The password is for a host that is known, and given once.
            more.extend(
                ["StrictHostKeyChecking=yes", "NumberOfPasswordPrompts=1"].map(str::to_owned),
            );
        }
        if let KeyPolicy::Only(key) = &self.options.ssh.keys {
            more.push(format!("HostKeyAlgorithms={}", algorithms(key)));
        }
        // Without a terminal that somebody watches nothing may be asked.
        let control = match self.options.password {
            Some(_) => None,
            None => master::socket(self.options.origin, self.ssh, &self.options.ssh, stop),
        };
        let is_batch = self.answers.is_none();
        let options = SshOptions { is_batch, control, ..self.options.ssh.clone() };
        let words =
            ssh::arguments(self.options.origin.client(), self.ssh, &options, &more, command);
        self.options.origin.ssh(&words, self.answers.is_some())
    }

    fn watching(&self, watch: &Watch) -> Vec<String> {
        let own = self.configured.as_ref().and_then(|it| it.command.as_deref());
        vec![
            "StrictHostKeyChecking=yes".to_owned(),
            "ControlPath=none".to_owned(),
            watch.option(self.options.origin, own),
        ]
    }

    /// The key of a host that `ssh` has accepted; none where nobody asked for it.
    pub(super) fn accepted(&self) -> Result<Option<HostKey>, DialCause> {
        let Some(watch) = &self.watch else { return Ok(None) };
        let presented = watch.presented().ok_or(DialCause::NoKey)?;
        match &self.options.ssh.keys {
            KeyPolicy::Only(expected) if *expected != presented => {
                Err(DialCause::OtherKey { expected: expected.clone(), presented })
            }
            _ => Ok(Some(presented)),
        }
    }

    /// Whether a connection failed because of the key. Only facts count: what `ssh` prints can be the
    /// server's words.
    pub(super) fn refusal(&self, stop: &Stop) -> Option<DialCause> {
        let (origin, limit) = (self.options.origin, self.options.ssh.connect_timeout);
        let found;
        let configured = match &self.configured {
            Some(configured) => configured,
            None => {
                // A host that has not answered at all has shown no key.
                if self.began.elapsed() >= limit || stop.why().is_some() {
                    return None;
                }
                found = known::configured(origin, self.ssh, &self.options.ssh)?;
                &found
            }
        };
        if let (Some(watch), KeyPolicy::Only(expected)) = (&self.watch, &self.options.ssh.keys) {
            return self.other_than(expected, watch, configured);
        }
        let Some(watch) = &self.watch else {
            return unwatched(origin, self.ssh, &self.options.ssh, configured);
        };
        known::refusal(origin, configured, &watch.presented()?).map(DialCause::HostKey)
    }

    /// Why a host is not the contract's, where its key says so. It was asked for a key of the contract's
    /// type alone; one that has none is asked for any.
    fn other_than(
        &self,
        expected: &HostKey,
        watch: &Watch,
        configured: &Configured,
    ) -> Option<DialCause> {
        let origin = self.options.origin;
        let shown = watch.presented();
        let is_any = shown.is_none();
        let presented = match shown {
            Some(presented) => presented,
            None if self.began.elapsed() >= self.options.ssh.connect_timeout => return None,
            None => asked(origin, self.ssh, &self.options.ssh, configured)?,
        };
        if presented == *expected {
            return known::refusal(origin, configured, &presented).map(DialCause::HostKey);
        }
        if is_any && known::is_known(origin, configured, &presented) {
            return Some(DialCause::OtherKey { expected: expected.clone(), presented });
        }
        let expected = expected.identity().to_owned();
        let presented = presented.identity().to_owned();
        let forget = known::forget(origin, configured);
        Some(DialCause::HostKey(KeyRefusal::NotTheContracts { expected, presented, forget }))
    }
}

/// Whether a connection failed because of the key, where the user's configuration alone decides. `began` is
/// when it was started.
pub(crate) fn refused_key(
    origin: &Origin,
    ssh: &Ssh,
    options: &SshOptions,
    began: Instant,
    stop: &Stop,
) -> Option<DialCause> {
    // A host that has not answered at all has shown no key.
    if began.elapsed() >= options.connect_timeout || stop.why().is_some() {
        return None;
    }
    unwatched(origin, ssh, options, &known::configured(origin, ssh, options)?)
}

/// The same with what the configuration says.
fn unwatched(
    origin: &Origin,
    ssh: &Ssh,
    options: &SshOptions,
    configured: &Configured,
) -> Option<DialCause> {
    if !known::is_listed(origin, configured) {
        return None;
    }
    let presented = asked(origin, ssh, options, configured)?;
    known::refusal(origin, configured, &presented).map(DialCause::HostKey)
}

/// One more connection, for the key alone.
fn asked(
    origin: &Origin,
    ssh: &Ssh,
    options: &SshOptions,
    configured: &Configured,
) -> Option<HostKey> {
    let watch = Watch::new().ok()?;
    let own = configured.command.as_deref();
    let more = [
        "StrictHostKeyChecking=yes".to_owned(),
        "ControlPath=none".to_owned(),
        // The key comes first; nobody shall be let in.
        "PreferredAuthentications=none".to_owned(),
        watch.option(origin, own),
    ];
    let options = SshOptions { is_batch: true, ..options.clone() };
    let words = ssh::arguments(origin.client(), ssh, &options, &more, "exit");
    // It fails: only what it has reported is of interest.
    let _ = origin.answer("ssh", &words, options.connect_timeout.saturating_mul(2));
    watch.presented()
}
