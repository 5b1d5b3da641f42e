//! The session that the steps of a run get.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::inventory::EntryUse;
use opal_session::targets::Reach;
use opal_session::{LocalSession, Setup, Terminal};

use super::errand::Errand;
use crate::context::Context;
use crate::failure::Failure;
use crate::helpers;
use crate::inner::LEADER;
use crate::options::Asked;
use crate::planning;
use crate::signals::Watched;

/// On this machine, and who opens those on targets.
pub(super) fn open(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    start: PathBuf,
    base: &Path,
) -> Result<(Arc<LocalSession>, Arc<dyn Reach>), Failure> {
    let terminal = terminal(context, asked, errand.watched).map(Arc::new);
    let how = match (asked.run.no_cache, &errand.contract) {
        (true, _) => EntryUse::Ignored,
        (false, Some(_)) => EntryUse::Contract,
        (false, None) => EntryUse::Usual,
    };
    let imported = &errand.subject.loaded.imports.program.variables;
    let environment = context.environment_with(imported, &asked.plan.env_files)?;
    let session = Arc::new(LocalSession::new(Setup {
        environment: Arc::clone(&environment.all),
        start,
        home: context.ambient.home.clone(),
        marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
        terminal: terminal.clone(),
        entries: planning::remembered(context, &asked.plan, base, how, true),
        pages: Some(helpers::pages()),
    }));
    let reach = planning::reach(errand.subject, context, &asked.plan)?;
    if opal_ops::targets::has_targets(&errand.resolved.plan) {
        // One error, and not one for each target.
        reach.check().map_err(|trouble| Failure::of_settings(&trouble))?;
    }
    if let Some(terminal) = terminal {
        reach.lend(Arc::clone(&terminal));
        errand.watched.on_resize(move || terminal.resized());
    }
    Ok((session, reach))
}

/// The terminal that steps run on; none where opal itself is not on one from end to end.
fn terminal(context: &Context<'_>, asked: &Asked, watched: &Watched) -> Option<Terminal> {
    let ambient = context.ambient;
    if asked.run.no_pty || asked.stdout_is_json() || !ambient.is_interactive() {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let interrupts = watched.interrupts().clone();
    let device = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let leader = vec![program.into_os_string(), LEADER.into()];
    let kind = crate::ambient::variable("TERM").and_then(|kind| kind.into_string().ok());
    let on_signal = Box::new(move |signal| interrupts.heard(signal));
    Some(Terminal::own(device, leader, kind, on_signal))
}
