//! The verification of all resources of a source before it is run.

use std::path::Path;
use std::sync::Arc;

use opal_exec::verify::{Report, verify};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_testing::LoggedSession;
use opal_testing::bare;
use opal_vault::Vault;

use crate::verify::things::THING;
use opal_testing::planning::Project;

pub(crate) fn survey(source: &str, session: &Arc<LoggedSession>) -> Report {
    let project = Project::new(source).plugins(&[&THING]);
    let resolved = project.plan().unwrap();
    let session: Arc<dyn Session + Send> = session.clone();
    let (values, registry, at) = (&resolved.secrets, &project.registry, Path::new("/p"));
    let (vault, stop) = (Vault::new(), Stop::new());
    let survey = bare::survey(&resolved.plan, values, registry, &session, at, &vault, &stop);
    verify(&survey, &|_| {}).unwrap()
}
