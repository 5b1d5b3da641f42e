//! A run and a verification with nothing special about them: nobody listens, nothing is selected.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use opal_core::plan::{Key, Plan};
use opal_core::selection::Selection;
use opal_core::stream::{Closed, Stream};
use opal_core::unreached::Unreached;
use opal_core::{Data, Registry, Showing};
use opal_exec::execute::{Job, ShownBranches};
use opal_exec::verify::{Direction, Survey, USUAL_JOBS};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_vault::event::Event;
use opal_vault::record::Silent;
use opal_vault::witness::{Audience, Progress};
use opal_vault::{Shown, Vault};

static NO_VALUES: BTreeMap<Key, Data> = BTreeMap::new();
static NOTHING_SHOWN: LazyLock<Showing> = LazyLock::new(Showing::default);

/// Accepts everything and ignores it.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Audience for Nobody {
    fn event(&self, _: &Event<'_>) {}

    fn output(&self, _: u64, _: Stream, _: &Shown<'_>) -> Result<(), Closed> {
        Ok(())
    }

    fn has_terminal(&self, _: u64) {}

    fn progress(&self, _: &Progress<'_>) {}
}

/// A run of a plan without values.
pub fn job<'a>(
    plan: &'a Plan,
    registry: &'a Registry,
    session: &'a dyn Session,
    folder: &'a Path,
    vault: &'a Vault,
    stop: &'a Stop,
) -> Job<'a> {
    Job {
        plan,
        values: &NO_VALUES,
        showing: &NOTHING_SHOWN,
        registry,
        session,
        reach: None,
        start: folder,
        base: folder,
        vault,
        recorder: &Silent,
        audience: &Nobody,
        stop,
        jobs: None,
        output: ShownBranches::GROUPED,
        from: None,
        earlier: &[],
        unreached: Unreached::none(),
        selected: None,
        known: None,
        is_declared: false,
        is_under_contract: false,
        trace: None,
        fence: None,
        stdin: false,
        clock: || SystemTime::UNIX_EPOCH,
    }
}

/// A verification of all resources of a plan.
pub fn survey<'a>(
    plan: &'a Plan,
    values: &'a BTreeMap<Key, Data>,
    registry: &'a Registry,
    session: &'a Arc<dyn Session + Send>,
    folder: &'a Path,
    vault: &'a Vault,
    stop: &'a Stop,
) -> Survey<'a> {
    Survey {
        plan,
        values,
        registry,
        session,
        reach: None,
        start: folder,
        base: folder,
        vault,
        stop,
        jobs: USUAL_JOBS,
        timeout: None,
        selection: Selection::default(),
        unreached: Unreached::none(),
        direction: Direction::Report,
        key: None,
        clock: || SystemTime::UNIX_EPOCH,
    }
}
