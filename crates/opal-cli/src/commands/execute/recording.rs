//! What is kept of a run, and who else is told.

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use opal_core::contract::plan_hash;
use opal_core::hash::{Algorithm, Digest};
use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_files::outgoing;
use opal_html::Collector;
use opal_ops::module::arguments::MODULE;
use opal_ops::planning::record_name;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{Counts, Event, Status};
use opal_vault::record::{Ending, Header, Lines, Refusal, RunId, Source, Unwritten, Writer};
use opal_vault::witness::{Recorder, Unrecorded};

use super::errand::Errand;
use super::reporting::Reporting;
use super::steps::places;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, Debugged};
use crate::{planning, view};

/// The record of a run and its events for others; both may be missing.
pub(super) struct Recording<'a> {
    writer: Option<Writer<'a>>,
    /// Whether the run stops where its record cannot be written.
    is_needed: bool,
    is_of_contract: bool,
    lines: Option<Lines<Box<dyn Write + Send>>>,
    /// Who keeps it in another form.
    told: Option<&'a dyn Recorder>,
    /// Who makes reports of it.
    collector: Option<&'a Collector>,
    debug: Option<Debugged>,
    /// Whether the source is as its commit has it; git says it while the first steps run.
    modified: Option<JoinHandle<Option<bool>>>,
}

/// A directory as records name it.
pub(crate) fn directory(start: &Path) -> String {
    start.canonicalize().unwrap_or_else(|_| start.to_owned()).display().to_string()
}

/// A directory as it is known where its name is hidden: by what the system calls it. A digest of that
/// is nothing that a step could have told.
pub(crate) fn place(start: &Path) -> Option<Digest> {
    let found = std::fs::metadata(start).ok()?;
    Some(Algorithm::Sha256.digest(&[&found.dev().to_le_bytes(), &found.ino().to_le_bytes()]))
}

/// What a record says about the run before it begins.
pub(super) fn header<'a>(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'a>,
    start: &Path,
) -> Header<'a> {
    let (source, plan) = (&errand.subject.loaded.path, &errand.resolved.plan);
    let contract = errand.contract.as_ref().map(|held| held.named.clone());
    let drift = errand.contract.as_ref().map(|held| held.drift.clone()).unwrap_or_default();
    let at = crate::clock::now();
    // A contract says it at once; so does a module, which takes its time. A short run must not wait for
    // git, so its record says what to ask it.
    let is_short = contract.is_none()
        && !plan.target.arguments.contains_key(MODULE)
        && errand.subject.loaded.imports.files.is_empty();
    let text = is_short.then(|| Source {
        path: std::path::absolute(source)
            .unwrap_or_else(|_| source.to_owned())
            .display()
            .to_string(),
        digest: plan.source_hash,
    });
    Header {
        id: RunId::new(at, opal_trust::keys::name()),
        at,
        target: record_name(source, plan),
        arguments: &plan.target.arguments,
        algorithm: plan.algorithm,
        plan_hash: Some(plan_hash(plan)),
        refusal: None,
        limit: asked.plan.limit.clone(),
        contract,
        drift,
        directory: Some(directory(start)),
        place: place(start),
        commit: planning::checked_out(source),
        source: text,
        host: Some(planning::host()),
        user: context.ambient.user.clone(),
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        trace_parent: context.ambient.trace_parent,
        is_round: context.typed.round.is_some(),
    }
}

impl<'a> Recording<'a> {
    pub(super) fn begin(
        context: &Context<'_>,
        asked: &Asked,
        header: Header<'a>,
        errand: &Errand<'_>,
        vault: &'a Vault,
        told: Option<&'a dyn Recorder>,
        reporting: Option<&'a Reporting>,
    ) -> Result<Self, Failure> {
        // Who asks for every event on the disk does not want to go on without.
        let is_of_contract = header.contract.is_some();
        let is_needed = is_of_contract || asked.run.sync;
        let lines = match errand.share.and_then(|(share, _)| share.io()) {
            Some(io) => Some(Lines::new(io.events())),
            None => asked.run.events.as_deref().map(lines).transpose()?,
        };
        let announced = lines.is_some().then(|| header.clone());
        let is_asked = header.commit.is_some() && header.source.is_none();
        let writer = match asked.run.no_record {
            true => None,
            false => writer(context, asked, header, errand, vault, is_needed)?,
        };
        let sources = errand.subject.loaded.files();
        let git = std::thread::Builder::new().name("git".to_owned());
        let modified = (is_asked && writer.is_some())
            .then(|| git.spawn(move || planning::is_modified(&sources)).ok())
            .flatten();
        // Only now: what was told to have started is told to have ended.
        if let (Some(lines), Some(header)) = (&lines, &announced) {
            // What cannot be told is noticed at the first step.
            let _ = lines.start(header, vault);
        }
        Ok(Self {
            writer,
            is_needed,
            is_of_contract,
            lines,
            told,
            collector: reporting.map(Reporting::collector),
            debug: asked.plan.debug,
            modified,
        })
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.writer.as_ref().map(Writer::folder)
    }

    pub(super) fn id(&self) -> Option<&RunId> {
        self.writer.as_ref().map(Writer::id)
    }

    /// The last words. What could not be kept is a failure of its own.
    pub(super) fn finish(self, ending: Ending<'_>) -> Result<(), Failure> {
        self.end(ending, None)
    }

    /// The last words about a run that is refused after all.
    pub(super) fn refuse(self, failure: &Failure) -> Result<(), Failure> {
        let message = failure.message.clone();
        let refusal = failure.refusal.map(|reason| Refusal { reason, message });
        self.end(refused(failure), refusal)
    }

    fn end(mut self, ending: Ending<'_>, refusal: Option<Refusal>) -> Result<(), Failure> {
        let modified = self.modified.take().and_then(|git| git.join().ok()).flatten();
        let ending = &Ending { modified, ..ending };
        let told = self.lines.map_or(Ok(()), |lines| {
            let _ = lines.finish(ending);
            match lines.trouble() {
                Some(error) => Err(Failure::unwritable("the file of events", error)),
                None => Ok(()),
            }
        });
        let kept = self.writer.map_or(Ok(()), |writer| match refusal {
            Some(refusal) => writer.refuse(refusal, ending),
            None => writer.finish(ending),
        });
        match kept {
            Err(unwritten) if self.is_needed => {
                Err(unrecorded(Exit::Write, &unwritten, self.is_of_contract))
            }
            Err(unwritten) => {
                view::record::incomplete(&unwritten.cause().to_string());
                told
            }
            Ok(()) => told,
        }
    }

    /// What the record says, where the run depends on it.
    fn kept(
        &self,
        tell: impl FnOnce(&Writer<'_>) -> Result<(), Unrecorded>,
    ) -> Result<(), Unrecorded> {
        match self.writer.as_ref().map_or(Ok(()), tell) {
            // Told at the end, once.
            Err(_) if !self.is_needed => Ok(()),
            kept => kept,
        }
    }
}

fn refused(failure: &Failure) -> Ending<'static> {
    Ending {
        at: crate::clock::now(),
        took: Duration::ZERO,
        status: Status::Refused,
        code: i32::from(failure.exit.code()),
        counts: Counts::default(),
        failed: None,
        beside: Vec::new(),
        hidden: &[],
        resources: Vec::new(),
        fleets: &[],
        modified: None,
    }
}

/// The record of a run; none where nothing can be written and the run needs none.
fn writer<'a>(
    context: &Context<'_>,
    asked: &Asked,
    header: Header<'a>,
    errand: &Errand<'_>,
    vault: &'a Vault,
    is_needed: bool,
) -> Result<Option<Writer<'a>>, Failure> {
    let plan = &errand.resolved.plan;
    let root = match context.needed_root(asked.plan.root.as_ref()) {
        Ok(root) => root,
        Err(failure) if is_needed => {
            return Err(failure.help("nothing was run: this run needs a record"));
        }
        Err(failure) => {
            view::record::missing(&failure.message, &failure.help);
            return Ok(None);
        }
    };
    let is_of_contract = header.contract.is_some();
    let hash = header.plan_hash.unwrap_or_else(|| plan_hash(plan));
    let mut view = PlanView::new(plan, hash).with_registry(&context.registry);
    view.places = places(plan, errand.subject.loaded);
    match Writer::create(&root, header, &view, vault, asked.run.sync) {
        Ok(writer) => Ok(Some(writer)),
        Err(unwritten) if unwritten.is_unsafe() => {
            Err(unrecorded(Exit::NotTrusted, &unwritten, is_of_contract).help("nothing was run"))
        }
        Err(unwritten) if is_needed => {
            Err(unrecorded(Exit::Write, &unwritten, is_of_contract).help("nothing was run"))
        }
        Err(unwritten) => {
            let cause = unwritten.cause();
            view::record::missing(&cause.to_string(), &[cause.help()]);
            Ok(None)
        }
    }
}

fn unrecorded(exit: Exit, unwritten: &Unwritten, is_of_contract: bool) -> Failure {
    let failure = Failure::new(exit, unwritten.to_string(), unwritten.help());
    if is_of_contract { failure } else { failure.help("`--no-record` runs without a record") }
}

fn lines(path: &Path) -> Result<Lines<Box<dyn Write + Send>>, Failure> {
    let out: Box<dyn Write + Send> = if path == Path::new("-") {
        Box::new(io::stdout())
    } else {
        let shown = format!("`{}`", path.display());
        Box::new(outgoing::create(path).map_err(|error| Failure::unwritable(&shown, &error))?)
    };
    Ok(Lines::new(out))
}

impl Recorder for Recording<'_> {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if let Some(level) = self.debug {
            view::trace::event(event, level);
        }
        let kept = self.kept(|writer| writer.event(event));
        let told = self.lines.as_ref().map_or(Ok(()), |lines| lines.event(event));
        let also = self.told.map_or(Ok(()), |other| other.event(event));
        let _ = self.collector.map(|collector| collector.event(event));
        kept.and(told).and(also)
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        let kept = self.kept(|writer| writer.output(number, stream, bytes));
        let told = self.lines.as_ref().map_or(Ok(()), |it| it.output(number, stream, bytes));
        let also = self.told.map_or(Ok(()), |other| other.output(number, stream, bytes));
        let _ = self.collector.map(|collector| collector.output(number, stream, bytes));
        kept.and(told).and(also)
    }

    fn idle(&self, number: u64) -> Result<(), Unrecorded> {
        self.kept(|writer| writer.idle(number))
    }
}
