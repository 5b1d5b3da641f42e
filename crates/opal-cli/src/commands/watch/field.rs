//! Which files count: the source, what the plan reads, and the inputs of `@cached`. Where the plan has
//! no `@cached`, all files of the project that git does not ignore.

use std::path::{Path, PathBuf};

use opal_core::inventory::CACHED;
use opal_core::plan::{Arg, Key, Plan};
use opal_core::{Data, Value};
use opal_ops::planning::Subject;
use opal_ops::source::imports::Wanted;
use opal_ops::source::{Loaded, seen_from, top_around};
use opal_plan::plan::{Purpose, Resolved};
use opal_session::stop::Stop;
use opal_session::watching::{self, Field, Snapshot};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::project::Chosen;
use crate::{planning, source};

/// Values that a plan reads out of files, and the argument that names the file.
const READS: [&str; 5] = ["file.read", "file.hash", "file.exists", "file.glob", "secret.file"];

/// What is checked, and what its plan says.
#[derive(Clone, Debug)]
pub(super) struct Area {
    base: PathBuf,
    project: PathBuf,
    home: Option<PathBuf>,
    patterns: Vec<String>,
    /// The runtime root, where it is in the project.
    root: Option<String>,
    /// What the task makes.
    outputs: Vec<String>,
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
        let (patterns, outputs) = (Vec::new(), Vec::new());
        let mut area = Self { base, project, home, patterns, root: None, outputs, asks: false };
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

    pub(super) fn snapshot(&self, before: &Snapshot) -> Result<Snapshot, Failure> {
        let patterns: Vec<&str> = self.patterns.iter().map(String::as_str).collect();
        let except: Vec<&str> = self.root.iter().chain(&self.outputs).map(String::as_str).collect();
        let field = Field {
            base: &self.base,
            home: self.home.as_deref(),
            project: &self.project,
            patterns: &patterns,
            except: &except,
        };
        // A snapshot takes a moment: who waits for a signal asks after it.
        watching::snapshot(&field, Some(before), &Stop::new()).map_err(Failure::unready)
    }

    /// Takes what the plan of a source says, where there is a plan.
    fn read(&mut self, context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) {
        let planned = plan(context, subject, asked);
        let mut patterns = Vec::new();
        for file in sources(subject.loaded) {
            self.add_path(&file, &mut patterns);
        }
        let Some(Resolved { plan, secrets, .. }) = &planned else {
            // What was watched is watched, and the files that may have the error.
            if self.patterns.is_empty() {
                patterns.push(self.written(&self.project));
            }
            patterns.extend(std::mem::take(&mut self.patterns));
            return self.patterns = sorted(patterns);
        };
        let values = |arg: &Arg| texts(arg, secrets);
        let (mut outputs, mut has_cached) = (Vec::new(), false);
        self.asks = false;
        for step in plan.all_steps() {
            self.asks |= step.node.is_decorator("confirm");
            if step.node.is_decorator(CACHED) {
                has_cached = true;
                patterns.extend(step.arg("inputs").map(values).unwrap_or_default());
                outputs.extend(step.arg("outputs").map(values).unwrap_or_default());
            }
        }
        patterns.extend(reads(plan));
        if !has_cached {
            patterns.push(self.written(&self.project));
        }
        self.patterns = sorted(patterns);
        self.outputs = sorted(outputs);
    }

    /// A path, where it is in the project.
    fn add_path(&self, path: &Path, patterns: &mut Vec<String>) {
        if let Ok(real) = path.canonicalize()
            && real.starts_with(&self.project)
        {
            patterns.push(self.written(&real));
        }
    }

    /// A path as a pattern.
    fn written(&self, path: &Path) -> String {
        seen_from(&self.base, path).display().to_string()
    }
}

/// The quick plan of a source; none where it has errors, which the round shows.
fn plan(context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) -> Option<Resolved> {
    let program = subject.examine(&context.registry).ok()?.program;
    let options = &asked.plan;
    let mut keys = planning::passing_keys(subject, context, options);
    let world = planning::world(subject, context, options).ok()?;
    let aim = options.aim(Purpose::Quick);
    subject.resolve(&context.registry, &program, aim, &world, &mut keys).ok()
}

fn sources(loaded: &Loaded) -> Vec<PathBuf> {
    let variables = loaded.imports.variables.iter().map(|file| PathBuf::from(&file.name));
    loaded.files().into_iter().chain(variables).collect()
}

/// The files that the plan has read, by the keys of what it has read: `file.read(path="VERSION")`.
fn reads(plan: &Plan) -> Vec<String> {
    let mut files = Vec::new();
    for read in plan.reads.iter().filter(|read| READS.contains(&&*read.decorator)) {
        files.extend(named(&read.key));
    }
    files
}

/// The file in the key of a read; none where it is computed from other values.
fn named(key: &Key) -> Option<String> {
    let (_, rest) = key.split_once("=\"")?;
    let (path, after) = rest.split_once('"')?;
    let is_plain = !path.contains(['\\', '~']) && !path.starts_with('/') && !path.is_empty();
    (is_plain && after.starts_with([')', ','])).then(|| path.to_owned())
}

/// The texts of an Array.
fn texts(arg: &Arg, values: &std::collections::BTreeMap<Key, Data>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    match arg {
        Arg::Const(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Arg::Const(value) => text(value).into_iter().collect(),
        Arg::Array(items) => items.iter().flat_map(|item| texts(item, values)).collect(),
        Arg::Value(key) => match values.get(key) {
            Some(Data::Array(items)) => {
                items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
            }
            Some(data) => data.as_text().map(str::to_owned).into_iter().collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn sorted(mut patterns: Vec<String>) -> Vec<String> {
    patterns.sort();
    patterns.dedup();
    patterns
}
