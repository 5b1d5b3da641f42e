//! What holds where a step is: its directory, environment, bindings, streams and time.
//!
//! A block gets a copy, so nothing that is done to it reaches the steps after the block.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use opal_core::Secret;
use opal_core::action::{Failure, Limits};

use super::lets::Lets;
use super::screen::Screen;
use crate::spot::Spot;
use opal_session::stop::Stop;
use opal_session::{Input, Output};

#[derive(Clone, Debug)]
pub(super) struct Context<'p> {
    pub(super) directory: Arc<Path>,
    /// Where relative paths of resources begin: the directory of the source, or of an imported
    /// project.
    pub(super) base: Arc<Path>,
    /// What `cd -` goes back to.
    pub(super) previous: Option<Arc<Path>>,
    pub(super) environment: Arc<BTreeMap<String, Secret>>,
    pub(super) lets: Lets,
    /// Of the nearest `@retry`, from 1.
    pub(super) attempt: u32,
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
        let Self { base, directory, environment, .. } = self.clone();
        Spot { base, directory, environment }
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
