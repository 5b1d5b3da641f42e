//! What holds where a step is: its directory, environment, bindings, streams and time.
//!
//! A block gets a copy, so nothing that is done to it reaches the steps after the block.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use opal_core::action::{Failure, Limits};
use opal_core::target::Program;
use opal_core::{Data, Secret};

use super::fence::{Attempts, Fence};
use super::lets::Lets;
use super::screen::Screen;
use super::values::Values;
use crate::spot::{Site, Spot};
use opal_session::stop::Stop;
use opal_session::{Input, Output, Session};
use opal_vault::{TooMany, Vault};

use super::job::Job;
use super::ledger::Ledger;
use super::resume::From;

#[derive(Clone, Debug)]
pub(super) struct Context<'p> {
    /// What is noted about its steps.
    pub(super) ledger: Arc<Ledger<'p>>,
    /// Where its steps begin, where it is not at the first.
    pub(super) from: Arc<From<'p>>,
    /// Where its steps run; none on opal's own machine.
    pub(super) site: Option<Arc<Site>>,
    /// Of the member of a fleet, under an order.
    pub(super) fence: Option<Arc<Fence>>,
    /// The step that was skipped and may have changed the directory, where nobody knows to which.
    pub(super) moved_by: Option<Arc<str>>,
    /// The `finally` of the `try` that it is in, where that has run already.
    pub(super) cleaned_by: Option<Arc<str>>,
    /// Whether a block around it is tried again where a step is lost.
    pub(super) repeats_lost: bool,
    pub(super) directory: Arc<Path>,
    /// Where relative paths of resources begin: the directory of the source, or of an imported
    /// project.
    pub(super) base: Arc<Path>,
    /// The same on opal's own machine: where the sources of what is sent to a target are.
    pub(super) sources: Arc<Path>,
    /// What `cd -` goes back to.
    pub(super) previous: Option<Arc<Path>>,
    pub(super) environment: Arc<BTreeMap<String, Secret>>,
    pub(super) lets: Lets,
    /// Of the nearest `@retry`, from 1.
    pub(super) attempt: u32,
    /// Of all `@retry` blocks around it.
    pub(super) attempts: Attempts,
    pub(super) stop: Stop,
    /// What its processes may use.
    pub(super) limits: Limits,
    pub(super) stdin: In,
    pub(super) stdout: Out,
    pub(super) stderr: Out,
    pub(super) screen: Arc<Screen<'p>>,
    /// Whether this is a branch, which has one of the places that `--jobs` counts.
    pub(super) has_place: bool,
    /// Whether this cleans up, which it does with or without a record.
    pub(super) is_cleaning: bool,
    /// What the `catch` around it deals with.
    pub(super) caught: Option<Arc<Failure>>,
    /// Dropped when the next step has started: someone waits for that.
    pub(super) entering: Option<Sender<()>>,
}

impl Context<'_> {
    /// Where a resource is verified from.
    pub(super) fn spot(&self) -> Spot {
        let Self { site, base, sources, directory, environment, .. } = self.clone();
        Spot { site, base, sources, directory, environment }
    }

    /// The values that its steps get.
    pub(super) fn values<'v>(&'v self, job: &'v Job<'_>) -> Values<'v> {
        Values { known: job.values, lets: Some(&self.lets), member: self.member() }
    }

    /// The target that it is on, for events.
    pub(super) fn target(&self) -> Option<Arc<str>> {
        self.site.as_ref().map(|site| Arc::clone(&site.label))
    }

    /// What is hidden in what its steps say: values of other targets are not.
    pub(super) fn vault(&self, job: &Job<'_>) -> Vault {
        job.vault.on(self.site.as_ref().map(|site| &*site.label))
    }

    /// Hides a value from now on: one that its steps read on a target, and that is not declared a secret,
    /// only there.
    pub(super) fn hide(
        &self,
        job: &Job<'_>,
        is_declared: bool,
        value: &Data,
        label: &str,
    ) -> Result<(), TooMany> {
        match self.site.as_ref().filter(|_| !is_declared) {
            Some(site) => job.vault.register_on(&site.label, value, label),
            None => {
                job.vault.register(value, label);
                Ok(())
            }
        }
    }

    /// The member of a fleet that it is on.
    pub(super) fn member(&self) -> Option<&str> {
        self.site.as_ref().and_then(|site| site.member.as_deref())
    }

    /// What runs its shell steps instead of a shell.
    pub(super) fn interpreter(&self) -> Option<&Program> {
        self.site.as_ref()?.way.last()?.target.interpreter.as_ref()
    }

    /// The session that its steps run in.
    pub(super) fn session<'s>(&'s self, job: &'s Job<'_>) -> &'s dyn Session {
        self.site.as_ref().map_or(job.session, |site| &*site.session)
    }
}

/// Where commands read from.
#[derive(Clone, Debug)]
pub(super) enum In {
    /// What opal itself reads.
    Own,
    Nothing,
    From(Arc<OwnedFd>),
}

/// Where a stream of commands goes.
#[derive(Clone, Debug)]
pub(super) enum Out {
    /// Through the scrubber, to the record and the audience.
    Shown,
    To(Arc<OwnedFd>),
}

impl In {
    pub(super) fn of(fd: OwnedFd) -> Self {
        Self::From(Arc::new(fd))
    }

    pub(super) fn input(&self) -> io::Result<Input> {
        Ok(match self {
            Self::Own => Input::Own,
            Self::Nothing => Input::Nothing,
            Self::From(fd) => Input::From(fd.try_clone()?),
        })
    }
}

impl Out {
    pub(super) fn to(fd: OwnedFd) -> Self {
        Self::To(Arc::new(fd))
    }

    pub(super) fn output(&self) -> io::Result<Output> {
        Ok(match self {
            Self::Shown => Output::Taken,
            Self::To(fd) => Output::To(fd.try_clone()?),
        })
    }
}
