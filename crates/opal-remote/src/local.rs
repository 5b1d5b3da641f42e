//! The helper on this machine: for `@as`, for targets that are this machine, and for tests.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use opal_core::resolver::Trouble;
use opal_session::wire::Timing;
use opal_session::{Starting, Transport};

use crate::error::RemoteError;
use crate::greeting::Greeting;

/// How a helper is started.
#[derive(Clone, Debug)]
pub struct Helper<'a> {
    /// The program, and what comes before the helper's own arguments.
    pub program: &'a Path,
    pub arguments: &'a [OsString],
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// Where it starts, and its steps.
    pub directory: &'a Path,
    pub is_read_only: bool,
    pub timing: Timing,
}

/// Starts a helper and hears its hello.
pub fn start(target: &str, helper: &Helper<'_>) -> Result<Greeting, Trouble> {
    let mut arguments = helper.arguments.to_vec();
    if helper.is_read_only {
        arguments.push("--read-only".into());
    }
    let times = [("--ping", helper.timing.ping), ("--lost", helper.timing.lost)];
    for (option, time) in times {
        arguments.extend([option.into(), time.as_millis().to_string().into()]);
    }
    let (transport, ends) = Transport::start(Starting {
        program: helper.program,
        arguments: &arguments,
        environment: helper.environment,
        directory: helper.directory,
        stderr: Stdio::null(),
        seated_by: None,
    })
    .map_err(|error| RemoteError::NotStarted { target, why: error.kind() })?;
    Greeting::hear(target, ends, &[], Some(transport), helper.timing)
}
