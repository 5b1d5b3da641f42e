//! A block that runs on a target.

use std::collections::BTreeMap;
use std::sync::Arc;

use opal_core::action::{Halt, Limits, Stage as _};
use opal_core::crossing::Crossing;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_core::shell;
use opal_session::targets::Access;

use super::actor::Actor;
use super::context::Context;
use crate::error::StepError;
use crate::spot::Site;

/// A host that cannot be reached, or was lost.
const UNAVAILABLE: i32 = 69;

/// A host that ssh refuses, and a user who may not.
const NO_PERMISSION: i32 = 77;

/// Another machine answers than the one that is meant.
const MUTATED: i32 = 76;

impl<'p> Actor<'_, 'p> {
    /// What holds for the block on its target. Nothing that holds around it crosses.
    pub(super) fn cross(
        &self,
        crossing: &Crossing,
        is_member: bool,
        here: Context<'p>,
    ) -> Result<Context<'p>, Halt> {
        let reach = self.walk.job.reach;
        let crossed = Site::cross(
            reach,
            here.site.as_deref(),
            crossing,
            is_member,
            Access::Acting,
            &here.stop,
        );
        let (site, start) = crossed.map_err(|trouble| self.fail(code(&trouble), trouble))?;
        self.read_texts(&site)?;
        Ok(Context {
            site: Some(site),
            directory: Arc::clone(&start),
            base: start,
            previous: None,
            environment: Arc::new(BTreeMap::new()),
            limits: Limits::default(),
            ..here
        })
    }

    /// Lets the shell of the target read all commands of the block before the first of them runs.
    fn read_texts(&self, site: &Site) -> Result<(), Halt> {
        let texts = shell::texts_within(self.begun.step);
        let scripts: Vec<&[ScriptPart]> = texts.iter().map(|text| text.parts.as_slice()).collect();
        if scripts.is_empty() {
            return Ok(());
        }
        let faults = site.session.check(&scripts);
        let faults = faults.map_err(|trouble| self.fail(code(&trouble), trouble))?;
        let fault = faults.into_iter().find_map(|fault| {
            let path = texts.get(fault.text)?.path;
            Some(StepError::TargetSyntax { path, line: fault.line, said: fault.message }.into())
        });
        fault.map_or(Ok(()), |trouble| Err(self.fail(1, trouble)))
    }
}

/// What the step ends with.
pub(super) fn code(trouble: &Trouble) -> i32 {
    match trouble.kind {
        TroubleKind::Unreachable | TroubleKind::Lost | TroubleKind::TimedOut => UNAVAILABLE,
        TroubleKind::Denied => NO_PERMISSION,
        TroubleKind::Mutated => MUTATED,
        _ => 1,
    }
}
