//! A survey of a source, and what came of it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opal_core::placeholder::PlaceholderKey;
use opal_core::selection::Selection;
use opal_exec::execute::{self, Unready};
use opal_exec::verify::{Progress, Report, Survey, USUAL_JOBS, verify};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_testing::bare;
use opal_testing::{LoggedReach, LoggedSession};
use opal_vault::Vault;
use opal_vault::verification::Verification;

use crate::verify::things::THING;
use opal_testing::planning::Project;

pub(crate) struct Verifying {
    pub(crate) project: Project,
    pub(crate) session: Arc<dyn Session + Send>,
    pub(crate) reach: LoggedReach,
    pub(crate) stop: Stop,
    pub(crate) jobs: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) only: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) key: Option<PlaceholderKey>,
}

pub(crate) struct Looked {
    pub(crate) report: Report,
    /// In the order in which they were reported.
    pub(crate) reported: Vec<String>,
}

impl Verifying {
    pub(crate) fn new(source: &str) -> Self {
        Self {
            project: Project::new(source).plugins(&[&THING]),
            session: Arc::new(LoggedSession::new()),
            reach: LoggedReach::default(),
            stop: Stop::new(),
            jobs: USUAL_JOBS,
            timeout: None,
            only: Vec::new(),
            skip: Vec::new(),
            key: None,
        }
    }

    pub(crate) fn on(self, session: LoggedSession) -> Self {
        Self { session: Arc::new(session), ..self }
    }

    pub(crate) fn try_look(&self) -> Result<Looked, Unready> {
        let resolved = self.project.plan().unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|error| self.project.line(error)).collect::<String>())
        });
        let vault = Vault::new();
        execute::register(&vault, &resolved.showing);
        let reported = Mutex::new(Vec::new());
        let (plan, values, registry) = (&resolved.plan, &resolved.secrets, &self.project.registry);
        let (session, at, stop) = (&self.session, Path::new("/p"), &self.stop);
        let survey = Survey {
            jobs: self.jobs,
            timeout: self.timeout,
            selection: Selection { only: &self.only, skip: &self.skip, limit: None },
            key: self.key.as_ref(),
            reach: Some(&self.reach),
            unreached: &resolved.unreached,
            ..bare::survey(plan, values, registry, session, at, &vault, stop)
        };
        let tell = |news: Progress<'_>| {
            if let Progress::Ended(it) = news {
                reported.lock().unwrap().push(it.id.clone());
            }
        };
        let report = verify(&survey, &tell)?;
        Ok(Looked { report, reported: reported.into_inner().unwrap() })
    }

    pub(crate) fn look(&self) -> Looked {
        self.try_look().unwrap_or_else(|unready| panic!("{unready:?}"))
    }
}

impl Looked {
    /// `id status: message`, in the order of the plan.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line =
            |it: &Verification| format!("{} {}: {}", it.id, it.status.name(), it.message.text());
        self.report.verifications.iter().map(line).collect()
    }

    pub(crate) fn of(&self, id: &str) -> &Verification {
        let found = self.report.verifications.iter().find(|it| it.id == id);
        found.unwrap_or_else(|| panic!("`{id}` is not among {:?}", self.lines()))
    }
}

/// The lines of a source that is verified.
pub(crate) fn lines(source: &str) -> Vec<String> {
    Verifying::new(source).look().lines()
}
