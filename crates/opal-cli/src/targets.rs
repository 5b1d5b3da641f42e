//! The targets of this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_remote::dial::Origin;
use opal_remote::helper::{Program, Programs};
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

/// The helpers that can be sent. What is being developed has its helper beside it.
fn programs(own: &Path) -> Programs {
    let embedded = Programs::embedded();
    if cfg!(debug_assertions) && embedded.is_empty() {
        let beside = Program::read(&own.with_file_name("opal-target"));
        return beside.map_or(embedded, Programs::of);
    }
    embedded
}
