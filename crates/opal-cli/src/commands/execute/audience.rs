//! Passes the events of a run to its view, with what only the plan and its source know: the task of a step,
//! and the line of one that failed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use opal_core::gather::Gather as _;
use opal_core::plan::{Arg, Plan, Step};
use opal_core::stream::{Closed, Stream};
use opal_core::{Registry, Value, resource};
use opal_ops::planning::record_name;
use opal_ops::source::Loaded;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{Event, Kind, LateStep};
use opal_vault::witness::{Audience, Progress};

use super::errand::Errand;
use super::steps::place;
use crate::ambient::Ambient;
use crate::context::Context;
use crate::view::run::{Live, Of};

pub(super) struct RunAudience<'a> {
    live: &'a Live,
    plan: &'a Plan,
    registry: &'a Registry,
    vault: &'a Vault,
    loaded: &'a Loaded,
    ambient: &'a Ambient,
    /// What the record calls the plan.
    target: &'a str,
    /// By the paths of calls: the function that is called.
    tasks: BTreeMap<&'a str, &'a str>,
}

impl<'a> RunAudience<'a> {
    pub(super) fn new(
        live: &'a Live,
        vault: &'a Vault,
        context: &'a Context<'_>,
        errand: &'a Errand<'a>,
    ) -> Self {
        let (plan, loaded) = (&errand.resolved.plan, errand.subject.loaded);
        let target = record_name(&loaded.path, plan);
        let tasks = calls(plan);
        live.begin(target);
        let (registry, ambient) = (&context.registry, context.ambient);
        Self { live, plan, registry, vault, loaded, ambient, target, tasks }
    }

    /// The innermost function that a step is in; none where the plan calls none.
    fn task(&self, path: &str) -> Option<&'a str> {
        if self.tasks.is_empty() {
            return None;
        }
        let ends = path.rmatch_indices('.').map(|(end, _)| end);
        let called = ends.filter_map(|end| self.tasks.get(&path[..end]).copied()).next();
        Some(called.unwrap_or(self.target))
    }

    fn is_resource(&self, decorator: &str) -> bool {
        let known = decorator.strip_prefix('@').and_then(|path| self.registry.get(path));
        known.is_some_and(|descriptor| descriptor.resource.is_some())
    }

    /// By what people call it.
    fn label(&self, path: &str) -> Option<String> {
        let step = self.plan.step(path)?;
        let label = resource::label(self.plan, step, resource::described(step, self.registry)?)?;
        Some(self.vault.scrub(&label).text().into_owned())
    }

    fn place(&self, path: &str) -> Option<String> {
        let (file, line) = place(self.plan.step(path)?, self.loaded, self.ambient);
        Some(format!("{file}:{line}"))
    }
}

fn calls(plan: &Plan) -> BTreeMap<&str, &str> {
    let calls = plan.all_steps().filter(|step| step.node.is_function());
    let called = |step| match Step::arg(step, "function") {
        Some(Arg::Const(Value::String(name))) => Some((&*step.path, &**name)),
        _ => None,
    };
    calls.filter_map(called).gathered()
}

/// The step to know about where the time of a block was over.
fn stopped<'a>(late: Option<&'a LateStep>, path: &'a str) -> &'a str {
    late.map_or(path, |late| &late.path)
}

impl Audience for RunAudience<'_> {
    fn event(&self, event: &Event<'_>) {
        match &event.kind {
            Kind::Started(step) if !step.is_block || self.is_resource(step.decorator) => {
                self.live.told(event, Of { task: self.task(step.path), ..Of::default() });
            }
            Kind::Finished(step) if !step.end.is_good() => {
                let place = self.place(stopped(step.late.as_ref(), step.path));
                self.live.told(event, Of { place: place.as_deref(), ..Of::default() });
            }
            Kind::Caught { path, late, .. } => {
                let place = self.place(stopped(late.as_ref(), path));
                self.live.told(event, Of { place: place.as_deref(), ..Of::default() });
            }
            Kind::Skipped { path, .. } => {
                let label = self.label(path);
                self.live.told(event, Of { label: label.as_deref(), ..Of::default() });
            }
            _ => self.live.told(event, Of::default()),
        }
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        self.live.output(number, stream, bytes)
    }

    fn has_terminal(&self, number: u64) {
        self.live.has_terminal(number);
    }

    fn sends(&self, path: &str, sent: &Arc<AtomicU64>) {
        self.live.sends(path, sent);
    }

    fn progress(&self, progress: &Progress<'_>) {
        self.live.progress(progress);
    }
}
