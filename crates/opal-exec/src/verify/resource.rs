//! One verification of one resource, with a time limit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use opal_core::Data;
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::resource::{Finding, Status, Verify};

use super::survey::USUAL_TIMEOUT;
use super::watched::{Variable, Watched};
use crate::error::{Bug, StepError};
use opal_session::{Place, Session};

/// What is verified, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifyTask<'a> {
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
    /// Whether it is that of all verifications, whatever their steps say.
    is_of_all: bool,
}

/// What a verification found, and what it read for that.
#[derive(Debug)]
pub(crate) struct ResourceFinding {
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
pub(crate) fn verify_resource(session: &dyn Session, task: &VerifyTask<'_>) -> ResourceFinding {
    let stop = task.place.stop;
    let probe = Watched::new(session.probe(&task.place), stop);
    let found = catch_unwind(AssertUnwindSafe(|| find(task, &probe)));
    let found = match found {
        Ok(Err(_)) if stop.is_out_of_time() => Err(out_of_time(task.limit)),
        Ok(Ok(Finding { status: Status::Blocked, refusal: None, .. })) => {
            Err(StepError::Bug(Bug::BlockedWithoutReason).into())
        }
        Ok(found) => found,
        Err(_) => Err(StepError::Bug(Bug::VerificationPanicked).into()),
    };
    ResourceFinding { found, read: probe.into_read() }
}

fn find(task: &VerifyTask<'_>, probe: &dyn Probe) -> Result<Finding, Trouble> {
    let mut finding = task.verify.verify(task.inputs, probe)?;
    if task.is_for_contract && finding.status != Status::Satisfied && finding.content.is_none() {
        finding.content = task.verify.content(task.inputs, probe)?;
    }
    Ok(finding)
}

pub(super) fn out_of_time(Limit { time: limit, is_of_all }: Limit) -> Trouble {
    StepError::VerificationTimedOut { limit, is_of_all }.into()
}
