//! The targets of this process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opal_core::resolver::{Trouble, TroubleKind};
use opal_helper::Unusable;
use opal_remote::dial::master::Persist;
use opal_remote::dial::{Asker, Origin};
use opal_remote::helper::{Flaw, Program, Programs};
use opal_remote::inventory::Reader;
use opal_remote::reaching::{Ready, Targets};
use opal_session::targets::Reach;
use opal_session::world::{OsWorld, Surroundings};
use opal_trust::policy::Settings;
use opal_vault::root::Root;

use crate::asker::Person;
use crate::inner::TARGET;

/// Who reaches targets from a machine as steps see it. Nothing happens before one is asked for.
pub(crate) fn from(
    surroundings: Surroundings,
    is_interactive: bool,
    root: Option<Root>,
) -> Arc<dyn Reach> {
    let asker = is_interactive.then(|| Arc::new(Person::default()) as Arc<dyn Asker>);
    Arc::new(Targets::new(move || {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("opal"));
        let origin = Arc::new(Origin {
            environment: (*surroundings.environment).clone(),
            directory: surroundings.caller.clone(),
            helper: (own, TARGET.iter().map(Into::into).collect()),
        });
        Ready {
            programs: programs(&origin),
            origin,
            world: Arc::new(OsWorld::new(surroundings.clone())),
            marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
            asker: asker.clone(),
            persist: persist(root.as_ref()),
        }
    }))
}

/// Whether connections by `ssh` stay open, as the user has set it.
fn persist(root: Option<&Root>) -> Result<Option<Persist>, Trouble> {
    let Some(root) = root else { return Ok(None) };
    let settings = Settings::load(root.path()).map_err(|error| {
        let kind = if error.is_unsafe() { TroubleKind::Denied } else { TroubleKind::Invalid };
        Trouble::new(kind, error.to_string(), error.help())
    })?;
    Ok(settings.persist.map(|time| Persist {
        directory: root.path().join("ssh"),
        time: Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(0)),
    }))
}

/// Has inventories read on this machine.
pub(crate) fn read_inventories() {
    opal_core::hosts::read_by(Arc::new(Reader));
}

/// The helpers that can be sent: those in this program, or else the one beside it, which nobody else may
/// have written and which is of this build.
fn programs(origin: &Origin) -> Programs {
    let embedded = Programs::embedded();
    if !embedded.is_empty() {
        return embedded;
    }
    beside(origin).map_or_else(
        |unusable| {
            let (message, help) = (unusable.to_string(), unusable.help());
            Programs::none(Flaw { message, help, is_unsafe: unusable.is_unsafe() })
        },
        Programs::of,
    )
}

fn beside(origin: &Origin) -> Result<Program, Unusable> {
    let name = "opal-target";
    let path = opal_helper::find(name)?;
    let program =
        Program::read(&path).map_err(|error| Unusable::NotStarted { name, kind: error.kind() })?;
    // One that is packed cannot be asked. Whoever packs one knows what it is.
    match program.gzip().is_some() || origin.accepts(&path) {
        true => Ok(program),
        false => Err(Unusable::NotThisBuild { name, path }),
    }
}
