//! Which files count: the source, what the plan reads, and the inputs of `@cached`. Where the plan has
//! no `@cached`, all files of the project that git does not ignore.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::resolver::TroubleKind;
use opal_ops::planning::Subject;
use opal_ops::source::imports::Wanted;
use opal_ops::source::{Loaded, seen_from, top_around};
use opal_plan::plan::{Purpose, Resolved};
use opal_session::noted::{Depth, Noted};
use opal_session::stop::Stop;
use opal_session::watching::{self, Field, Snapshot};

use crate::context::Context;
use crate::counting::Counting;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::project::Chosen;
use crate::{planning, source};

/// What is checked, and what its plan says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    base: PathBuf,
    project: PathBuf,
    home: Option<PathBuf>,
    /// What its quick plan says, with the sources.
    quick: Counting,
    /// What the last round has said that had a plan, and what later rounds have read.
    said: Counting,
    /// The runtime root, where it is in the project.
    root: Option<String>,
    /// Whether the task asks something.
    asks: bool,
}

impl Area {
    pub(super) fn of(
        context: &Context<'_>,
        subject: &Subject<'_>,
        asked: &Asked,
    ) -> Result<Self, Failure> {
        let base = planning::base(subject)?;
        let base = base.canonicalize().map_err(|error| {
            let message = format!("`{}` cannot be watched: {error}", base.display());
            Failure::new(Exit::NoFile, message, "check the directory")
        })?;
        let project = top_around(&base).to_owned();
        let home = context.ambient.home.clone();
        let (quick, said) = (Counting::default(), Counting::default());
        let mut area = Self { base, project, home, quick, said, root: None, asks: false };
        if let Some(root) = context.root(asked.plan.root.as_ref()) {
            let path = std::path::absolute(root.path()).unwrap_or_default();
            // It may not be there yet, and its parent may have another name.
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            let real = parent.and_then(|parent| Some(parent.join(path.file_name()?)));
            let root = real.unwrap_or(path);
            area.root = root.starts_with(&area.project).then(|| area.written(&root));
        }
        area.read(context, subject, asked);
        Ok(area)
    }

    /// The same for the source as it is now. One with errors is watched as before.
    pub(super) fn renewed(
        &self,
        context: &Context<'_>,
        subject: &Subject<'_>,
        asked: &Asked,
    ) -> Self {
        let Loaded { path, is_found, is_global, .. } = subject.loaded;
        let chosen = Chosen { path: path.clone(), is_found: *is_found, is_global: *is_global };
        let mut area = self.clone();
        let Ok(mut loaded) = source::read(&chosen, &context.registry) else { return area };
        let wanted = Wanted::Target(subject.function.as_deref());
        if source::import(&mut loaded, wanted, &context.registry).is_err() {
            return area;
        }
        let (function, arguments) = (subject.function.clone(), subject.arguments.clone());
        area.read(context, &Subject { loaded: &loaded, function, arguments }, asked);
        area
    }

    /// Refuses a task that would ask, with nobody to answer.
    pub(super) fn may_run(&self, asked: &Asked) -> Result<(), Failure> {
        match self.asks && !asked.run.yes {
            true => Err(Failure::usage(
                "`opal watch` cannot ask, and the task has a `@confirm`",
                "answer every question with yes: `opal watch --yes TASK`",
            )),
            false => Ok(()),
        }
    }

    /// The same, with what a round has said.
    pub(super) fn learned(&self, said: Counting) -> Self {
        let said = if said.is_planned { said } else { self.said.clone().with(&said) };
        Self { said, ..self.clone() }
    }

    pub(super) fn snapshot(&self, before: &Snapshot) -> Result<Snapshot, Failure> {
        let all = self.quick.clone().with(&self.said);
        let mut patterns: Vec<&str> = all.inputs.iter().map(String::as_str).collect();
        let project = self.written(&self.project);
        if !all.has_cached {
            patterns.push(&project);
        }
        let except: Vec<&str> = self.root.iter().chain(&all.outputs).map(String::as_str).collect();
        let field = Field {
            base: &self.base,
            home: self.home.as_deref(),
            project: &self.project,
            patterns: &patterns,
            except: &except,
            places: &all.places,
        };
        // A snapshot takes a moment: who waits for a signal asks after it.
        watching::snapshot(&field, Some(before), &Stop::new()).map_err(|trouble| {
            let is_too_much = trouble.kind == TroubleKind::TooLarge;
            let failure = Failure::unready(trouble);
            match is_too_much {
                true => failure.help(
                    "have git ignore files that no task reads, or declare the inputs of the task: \
                     `@cached(inputs=[…])`",
                ),
                false => failure,
            }
        })
    }

    /// Takes what the plan of a source says, where there is a plan.
    fn read(&mut self, context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) {
        let noted = Arc::new(Noted::default());
        let planned = plan(context, subject, asked, &noted);
        for file in sources(subject.loaded).iter().chain(&asked.plan.env_files) {
            noted.add(&std::path::absolute(file).unwrap_or_default(), Depth::Content);
        }
        let counting = Counting::of(noted.places(), planned.as_ref(), &self.base);
        match planned {
            Some(Resolved { plan, .. }) => {
                self.asks = plan.all_steps().any(|step| step.node.is_decorator("confirm"));
                self.quick = counting;
            }
            // What was watched is watched, and the files that may have the error.
            None => self.quick = std::mem::take(&mut self.quick).with(&counting),
        }
    }

    /// A path as a pattern.
    fn written(&self, path: &Path) -> String {
        seen_from(&self.base, path).display().to_string()
    }
}

/// The quick plan of a source; none where it has errors, which the round shows.
fn plan(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
    noted: &Arc<Noted>,
) -> Option<Resolved> {
    let program = subject.examine(&context.registry).ok()?.program;
    let options = &asked.plan;
    let mut keys = planning::passing_keys(subject, context, options);
    let world = planning::world(subject, context, options).ok()?.noting(noted);
    let aim = options.aim(Purpose::Quick);
    subject.resolve(&context.registry, &program, aim, &world, &mut keys).ok()
}

fn sources(loaded: &Loaded) -> Vec<PathBuf> {
    let variables = loaded.imports.program.variables.iter().map(|file| PathBuf::from(&file.name));
    loaded.files().into_iter().chain(variables).collect()
}
