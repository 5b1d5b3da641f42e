//! What a block says about its connections.

use std::time::Duration;

use opal_core::crossing::{Crossing, Settings};

use crate::dial::master::Persist;
use crate::dial::ssh::SshOptions;

/// What a block says about its connections by `ssh`.
pub(super) fn ssh_options(
    crossing: &Crossing,
    is_batch: bool,
    persist: Option<Persist>,
) -> SshOptions {
    let (usual, settings) = (SshOptions::default(), &crossing.settings);
    let Settings { is_login, lost, helper, environment, files, asks, .. } = &**settings;
    let names: Vec<&String> = environment.keys().chain(files.keys()).collect();
    let role = &crossing.target.role;
    let block = format!("{is_login} {lost:?} {helper:?} {names:?} {asks} {role:?}");
    SshOptions {
        connect_timeout: settings.connect.map_or(usual.connect_timeout, length),
        is_batch,
        forward_agent: settings.forwards_agent,
        key_file: crossing.target.key_file.clone(),
        persist: persist.filter(|_| settings.password.is_none()),
        block,
        ..usual
    }
}

/// Negative lengths do not get here: the parameters' types see to that.
pub(super) fn length(duration: opal_core::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(0))
}
