//! One verification of one resource, with a time limit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use opal_core::Data;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Status, Verify};

use super::survey::USUAL_TIMEOUT;
use super::watched::{Variable, Watched};
use opal_session::{Place, Session};

/// What is verified, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) verify: &'static dyn Verify,
    pub(crate) inputs: &'a Inputs,
    /// Its stop ends with the time.
    pub(crate) place: Place<'a>,
    /// Whether a contract is made or held: then all of its content counts.
    pub(crate) is_for_contract: bool,
    /// For the words only.
    pub(crate) limit: Limit,
}

/// How long a verification may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    /// Whether it is that of all looks, whatever their steps say.
    is_of_all: bool,
}

/// What a verification found, and what it read for that.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) found: Result<Finding, Trouble>,
    /// To be hidden before anything of it is shown.
    pub(crate) read: Vec<Variable>,
}

/// How long a verification with these arguments may take.
pub(crate) fn limit(inputs: &Inputs, of_all: Option<Duration>) -> Limit {
    let own = match inputs.data("verify_timeout") {
        Some(Data::Duration(own)) => {
            Some(Duration::from_nanos(own.as_nanos().max(0).unsigned_abs()))
        }
        _ => None,
    };
    Limit { time: of_all.or(own).unwrap_or(USUAL_TIMEOUT), is_of_all: of_all.is_some() }
}

/// Verifies. After the timeout, every question to the machine is refused; only a system call that
/// never returns can delay this.
pub(crate) fn look(session: &dyn Session, look: &Look<'_>) -> Looked {
    let stop = look.place.stop;
    let probe = Watched::new(session.probe(&look.place), stop);
    let found = catch_unwind(AssertUnwindSafe(|| find(look, &probe)));
    let found = match found {
        Ok(Err(_)) if stop.is_out_of_time() => Err(out_of_time(look.limit)),
        Ok(Ok(Finding { status: Status::Blocked, .. })) => {
            Err(bug("the verification reports blocked, but not why"))
        }
        Ok(found) => found,
        Err(_) => Err(bug("the verification panicked")),
    };
    Looked { found, read: probe.into_read() }
}

fn find(look: &Look<'_>, probe: &dyn Probe) -> Result<Finding, Trouble> {
    let mut finding = look.verify.verify(look.inputs, probe)?;
    if look.is_for_contract && finding.status != Status::Satisfied && finding.content.is_none() {
        finding.content = look.verify.content(look.inputs, probe)?;
    }
    Ok(finding)
}

pub(super) fn out_of_time(limit: Limit) -> Trouble {
    let time = i64::try_from(limit.time.as_nanos()).unwrap_or(i64::MAX);
    let message = format!("did not answer within {}", opal_core::Duration::from_nanos(time));
    // In an apply, `--timeout` is the time of the whole run.
    let help = match limit.is_of_all {
        true => "give all of them more time with `--timeout`",
        false => "give it more time with `verify_timeout`",
    };
    Trouble::new(TroubleKind::TimedOut, message, help)
}

fn bug(message: &'static str) -> Trouble {
    Trouble::new(TroubleKind::Failed, message, "this is a bug: please report it")
}
