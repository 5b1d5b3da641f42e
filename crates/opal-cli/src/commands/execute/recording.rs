//! What is kept of a run, and who else is told.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use opal_core::contract::plan_hash;
use opal_core::plan::Plan;
use opal_core::record::{Event, Shown, Stream};
use opal_core::view::PlanView;
use opal_runtime::record::{Contract, Drifted, Ending, Header, Lines, RunId, Writer};
use opal_runtime::witness::{Recorder, Unrecorded};

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, Debugged};
use crate::{planning, view};

/// The record of a run and its events for others; both may be missing.
pub(super) struct Recording<'a> {
    writer: Option<Writer<'a>>,
    lines: Option<Lines<Box<dyn Write + Send>>>,
    debug: Option<Debugged>,
}

/// What a record says about the run before it begins.
pub(crate) fn header<'a>(
    context: &Context<'_>,
    source: &Path,
    plan: &'a Plan,
    contract: Option<Contract>,
    drift: Vec<Drifted>,
) -> Header<'a> {
    let at = SystemTime::now();
    Header {
        id: RunId::new(at, opal_runtime::keys::name()),
        at,
        target: &plan.target.name,
        arguments: &plan.target.arguments,
        algorithm: plan.algorithm,
        plan_hash: plan_hash(plan),
        contract,
        drift,
        commit: planning::checked_out(source),
        host: Some(planning::host()),
        user: context.ambient.user.clone(),
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
    }
}

impl<'a> Recording<'a> {
    pub(super) fn begin(
        context: &Context<'_>,
        asked: &Asked,
        header: Header<'a>,
        plan: &Plan,
    ) -> Result<Self, Failure> {
        let lines = asked.run.events.as_deref().map(lines).transpose()?;
        if let Some(lines) = &lines {
            // What cannot be told is noticed at the first step.
            let _ = lines.start(&header);
        }
        let root = match asked.run.no_record {
            true => None,
            false => Some(context.needed_root(asked.plan.root.as_ref()).map_err(|failure| {
                failure.help("`--no-record` runs without keeping anything")
            })?),
        };
        let writer = root
            .map(|root| {
                let view = PlanView::new(plan, header.plan_hash);
                Writer::create(&root, header, &view, asked.run.sync)
            })
            .transpose()
            .map_err(|unwritten| {
                Failure::new(Exit::Write, unwritten.to_string(), unwritten.help())
                    .help("nothing was run")
            })?;
        Ok(Self { writer, lines, debug: asked.plan.debug })
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.writer.as_ref().map(Writer::folder)
    }

    pub(super) fn id(&self) -> Option<&RunId> {
        self.writer.as_ref().map(Writer::id)
    }

    /// The last words. What could not be kept is a failure of its own.
    pub(super) fn finish(self, ending: &Ending<'_>) -> Result<(), Failure> {
        let told = self.lines.map_or(Ok(()), |lines| {
            let _ = lines.finish(ending);
            match lines.trouble() {
                Some(error) => Err(Failure::unwritable("the file of events", error)),
                None => Ok(()),
            }
        });
        let kept = self.writer.map_or(Ok(()), |writer| writer.finish(ending));
        kept.map_err(|unwritten| {
            Failure::new(Exit::Write, unwritten.to_string(), unwritten.help())
        })?;
        told
    }
}

fn lines(path: &Path) -> Result<Lines<Box<dyn Write + Send>>, Failure> {
    let out: Box<dyn Write + Send> = if path == Path::new("-") {
        Box::new(io::stdout())
    } else {
        let shown = format!("`{}`", path.display());
        Box::new(File::create(path).map_err(|error| Failure::unwritable(&shown, &error))?)
    };
    Ok(Lines::new(out))
}

impl Recorder for Recording<'_> {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if let Some(level) = self.debug {
            view::trace::event(event, level);
        }
        let kept = self.writer.as_ref().map_or(Ok(()), |writer| writer.event(event));
        let told = self.lines.as_ref().map_or(Ok(()), |lines| lines.event(event));
        kept.and(told)
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        let kept = self.writer.as_ref().map_or(Ok(()), |it| it.output(number, stream, bytes));
        let told = self.lines.as_ref().map_or(Ok(()), |it| it.output(number, stream, bytes));
        kept.and(told)
    }
}
