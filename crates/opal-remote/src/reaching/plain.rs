//! Targets without a helper.

use std::sync::Arc;

use opal_core::message;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::target::Hop;
use opal_session::targets::Access;
use opal_session::wire::Timing;

use super::holding::End;
use super::options::{length, ssh_options};
use super::{Leg, Opened, Targets};
use crate::dial::error::{DialCause, DialError};
use crate::dial::ssh::{KeyPolicy, SshOptions};
use crate::dial::{Mode, PATIENCE};
use crate::plain::{Wanted, Why, dial_plain};

/// Whether commands can run where a helper cannot. What only a helper can do must not have been asked
/// for: another user, a password, the environment of a login.
pub(super) fn is_possible(error: &DialError, leg: &Leg<'_>) -> bool {
    let settings = &leg.crossing.settings;
    let is_simple = settings.password.is_none() && !settings.is_login;
    let is_ssh = matches!(leg.levels, [(Hop::Ssh(_), _)]);
    error.is_without_helper() && is_ssh && is_simple && leg.crossing.target.role.is_none()
}

pub(super) fn why(error: &DialError) -> Why {
    match error.cause {
        DialCause::NoPlace => Why::NoPlace,
        DialCause::Lacks(_) => Why::Lacks,
        _ => Why::NoProgram,
    }
}

/// Nothing can be started from a target without a helper.
pub(super) fn no_way(leg: &Leg<'_>) -> Trouble {
    let name = leg.crossing.target.name.as_str();
    Trouble::new(
        TroubleKind::Denied,
        message!("`", name, "` cannot be reached: the target around it has no helper"),
        "another user and a container on a target need the target helper there",
    )
}

/// A contract has the host key of every target, which only a connection with a helper keeps to.
fn uncontracted(leg: &Leg<'_>) -> Trouble {
    let name = leg.crossing.target.name.as_str();
    Trouble::new(
        TroubleKind::Denied,
        message!("`", name, "` has no target helper, which a contract needs"),
        "run the task directly, or let the helper run there",
    )
}

impl Targets {
    /// Reaches a target that gets no helper.
    pub(super) fn dial_plain(
        &self,
        leg: &Leg<'_>,
        is_first: bool,
        why: Why,
    ) -> Result<Opened, Trouble> {
        let (ready, name) = (self.ready(), &leg.crossing.target.name);
        let Some((Hop::Ssh(ssh), _)) = leg.levels.last().filter(|_| is_first) else {
            return Err(no_way(leg));
        };
        let hops: Vec<Hop> = leg.levels.iter().map(|(hop, _)| hop.clone()).collect();
        let end = End { way: leg.way, hops: &hops };
        if self.holding.keys(&end) != KeyPolicy::Users {
            return Err(uncontracted(leg));
        }
        let mode = match leg.access {
            Access::ReadOnly => Mode::ReadOnly,
            Access::Acting => Mode::Effect,
        };
        let settings = &leg.crossing.settings;
        let silence = settings.lost.map_or(Timing::default().lost, length);
        // Nobody would answer for each command.
        let options = ssh_options(leg.crossing, true, ready.persist.clone()?);
        let wanted = Wanted {
            patience: PATIENCE + options.connect_timeout,
            options: SshOptions { silence: Some(silence), ..options },
            environment: settings.environment.clone(),
            mode,
            why,
            pace: Arc::clone(&self.pace),
        };
        let dial = || dial_plain(name, ssh, &ready.origin, wanted.clone(), leg.stop);
        let session = self.pace.dial(false, leg.stop, dial);
        let session = session.map_err(|error| self.holding.failed(&end, error))?;
        self.holding.recognize(&end, session.identity().clone())?;
        Ok(Opened::Plain(Arc::new(session)))
    }
}
