//! This machine, whose tools are asked for their versions before a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opal_session::world::{Limits, OsWorld, Surroundings};

use crate::context::Context;
use crate::failure::Failure;
use crate::helpers;
use crate::planning::here;

/// How long a tool may take to say its version.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn machine(context: &Context<'_>, env_files: &[PathBuf]) -> Result<OsWorld, Failure> {
    let surroundings = Surroundings {
        environment: Arc::clone(context.environment(env_files)?),
        start: here()?,
        home: context.ambient.home.clone(),
        pages: Some(helpers::pages()),
        reach: None,
        ..Surroundings::default()
    };
    let limits = Limits { command: LIMIT };
    Ok(OsWorld::with_limits(surroundings, limits))
}
