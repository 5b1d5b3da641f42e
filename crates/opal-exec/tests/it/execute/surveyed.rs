//! The verification of all resources of a source before it is run.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use opal_core::selection::Selection;
use opal_exec::verify::{Direction, Report, Survey, USUAL_JOBS, verify};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_testing::LoggedSession;
use opal_vault::Vault;

use crate::verify::things::THING;
use opal_testing::planning::Project;

pub(crate) fn survey(source: &str, session: &Arc<LoggedSession>) -> Report {
    let project = Project::new(source).plugins(&[&THING]);
    let resolved = project.plan().unwrap();
    let session: Arc<dyn Session + Send> = session.clone();
    let survey = Survey {
        plan: &resolved.plan,
        values: &resolved.secrets,
        registry: &project.registry,
        session: &session,
        start: Path::new("/p"),
        base: Path::new("/p"),
        vault: &Vault::new(),
        stop: &Stop::new(),
        jobs: USUAL_JOBS,
        timeout: None,
        selection: Selection::default(),
        direction: Direction::Report,
        key: None,
        clock: || SystemTime::UNIX_EPOCH,
    };
    verify(&survey, &|_| {}).unwrap()
}
