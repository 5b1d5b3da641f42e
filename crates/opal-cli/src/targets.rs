//! The targets of this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_remote::dial::Origin;
use opal_remote::helper::{Program, Programs};
use opal_remote::inventory::Reader;
use opal_remote::reaching::{Ready, Targets};
use opal_session::targets::Reach;
use opal_session::world::{OsWorld, Surroundings};

use crate::inner::TARGET;

/// Who reaches targets from a machine as steps see it. Nothing happens before one is asked for.
pub(crate) fn from(surroundings: Surroundings, is_interactive: bool) -> Arc<dyn Reach> {
    Arc::new(Targets::new(move || {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("opal"));
        Ready {
            origin: Origin {
                environment: (*surroundings.environment).clone(),
                directory: surroundings.caller.clone(),
                helper: (own.clone(), TARGET.iter().map(Into::into).collect()),
            },
            programs: programs(&own),
            world: Arc::new(OsWorld::new(surroundings.clone())),
            marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
            is_interactive,
        }
    }))
}

/// Has inventories read on this machine.
pub(crate) fn read_inventories() {
    opal_core::hosts::read_by(Arc::new(Reader));
}

/// The helpers that can be sent: those in this program, or else the one beside it, which nobody else may
/// have written.
fn programs(own: &Path) -> Programs {
    let embedded = Programs::embedded();
    if !embedded.is_empty() {
        return embedded;
    }
    let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
    let beside = own.with_file_name("opal-target");
    match opal_files::trusted::check(&beside).map(|()| Program::read(&beside)) {
        Ok(Ok(program)) => Programs::of(program),
        Ok(Err(_)) | Err(_) => embedded,
    }
}
