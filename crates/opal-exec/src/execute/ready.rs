//! Targets that need a while before steps can run there: they say so by a program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::crossing::Crossing;
use opal_core::resolver::{Ask, Trouble, TroubleKind};
use opal_core::target::Readiness;
use opal_session::Place;
use opal_session::stop::Order;
use opal_session::targets::Access;

use super::actor::{Actor, length};
use super::context::Context;
use crate::error::StepError;
use crate::spot::Site;

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(500);

impl<'p> Actor<'_, 'p> {
    /// Reaches a target; one that names a program only once that succeeds there, within its time.
    pub(super) fn cross_when_ready(
        &self,
        crossing: &Crossing,
        is_member: bool,
        here: &Context<'p>,
    ) -> Result<(Arc<Site>, Arc<Path>), Trouble> {
        let (reach, from) = (self.walk.job.reach, here.site.as_deref());
        let cross = || Site::cross(reach, from, crossing, is_member, Access::Acting, &here.stop);
        let Some(ready) = &crossing.target.ready else { return cross() };
        let until = Instant::now() + length(ready.within);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let trouble = match cross() {
                Ok((site, start)) => match is_ready(ready, &site, &start, here, left) {
                    Ok(()) => return Ok((site, start)),
                    Err(trouble) => trouble,
                },
                Err(trouble) => trouble,
            };
            // A host that is refused, or another one, does not become ready.
            let may_change = matches!(
                trouble.kind,
                TroubleKind::Unreachable | TroubleKind::Lost | TroubleKind::TimedOut
            );
            let is_over = until.saturating_duration_since(Instant::now()) <= PAUSE;
            if !may_change || is_over || here.stop.order() != Order::GoOn {
                return Err(trouble);
            }
            let _ = here.stop.wait(&[], Some(PAUSE), Order::GoOn);
        }
    }
}

fn is_ready(
    ready: &Readiness,
    site: &Site,
    start: &Path,
    here: &Context<'_>,
    left: Duration,
) -> Result<(), Trouble> {
    let (none, stop) = (BTreeMap::new(), here.stop.limited(left, Duration::ZERO));
    let place =
        Place { base: start, directory: start, environment: &none, sources: None, stop: &stop };
    let program = &ready.program;
    let words: Vec<&str> = std::iter::once(program.name())
        .chain(program.arguments().iter().map(String::as_str))
        .collect();
    let ask = Ask { drops_excess: true, ..Ask::program(&words) };
    let program = program.to_string();
    match site.session.probe(&place).ask(&ask).map(|answer| answer.code) {
        Ok(0) => Ok(()),
        Ok(code) => {
            Err(StepError::NotReady { program, code: Some(code), within: ready.within }.into())
        }
        // A program that is missing may still be installed there.
        Err(trouble) if trouble.kind == TroubleKind::Missing => {
            Err(StepError::NotReady { program, code: None, within: ready.within }.into())
        }
        Err(trouble) => Err(trouble),
    }
}
