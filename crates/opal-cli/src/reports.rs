//! `--report`: where reports go, and writing them. What is in them is made by `opal-html`.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use opal_files::atomic::Unfinished;
use opal_files::outgoing::is_special;
use opal_html::{Case, Report, junit, markdown, page};
use serde_json::Value;

use crate::commands::plan::file::write_file;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{ReportFormat, ReportTo};
use crate::view;

/// The most that a job summary may hold: GitHub drops one of more than 1 MiB, whoever wrote it.
const MAX_SUMMARY_BYTES: usize = 900 << 10;

/// The reports of one run or verification.
#[derive(Debug)]
pub(crate) struct Reports {
    to: Vec<ReportTo>,
    summary: Option<PathBuf>,
    /// Nobody asked for the job summary: that it cannot be written fails nothing.
    is_usual: bool,
    reported: Rc<Reported>,
}

/// What a command has reported so far.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Whether the last report is a good one; none before the first.
    last: Cell<Option<bool>>,
    /// Why nothing was run, where that is not a failure's own message.
    why: RefCell<Option<String>>,
    /// Reports of single runs that become one report.
    gathered: RefCell<Option<Vec<Gathered>>>,
}

/// The report of a run that is part of a larger one.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) report: Report,
    /// As `--json` prints it, where a report is JSON.
    pub(crate) json: Option<Value>,
}

impl Reported {
    pub(crate) fn because(&self, why: &str) {
        *self.why.borrow_mut() = Some(why.to_owned());
    }

    /// Has reports gathered, which would be written; those that were gathered so far.
    pub(crate) fn gather(&self) -> Vec<Gathered> {
        self.gathered.replace(Some(Vec::new())).unwrap_or_default()
    }

    /// Has reports written again.
    pub(crate) fn write_again(&self) {
        self.gathered.take();
    }
}

/// Does some work with reports. Where it ends without one, because of errors in a source or a contract
/// that is refused, the reports say that.
pub(crate) fn around(
    context: &Context<'_>,
    asked: &[ReportTo],
    name: &str,
    work: impl FnOnce() -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let Some(reports) = Reports::ready(context, asked)? else { return work() };
    let at = crate::clock::now();
    let ended = work();
    context.reported.write_again();
    let why = context.reported.why.take();
    let (why, help) = match &ended {
        _ if context.reported.last.get() == Some(false) => return ended,
        Ok(Exit::Write) if context.reported.last.get().is_some() => return ended,
        Ok(exit) if exit.code() == 0 => return ended,
        Ok(exit) => (why.unwrap_or_else(|| reason(*exit)), Vec::new()),
        Err(failure) => (failure.message.clone(), failure.help.clone()),
    };
    let report = Report {
        name: name.to_owned(),
        status: "failed".to_owned(),
        is_good: false,
        summary: "nothing was run".to_owned(),
        trouble: Some(why.clone()),
        at,
        took: crate::clock::now().duration_since(at).unwrap_or_default(),
        host: None,
        facts: vec![("opal", env!("CARGO_PKG_VERSION").to_owned())],
        fleets: Vec::new(),
        cases: Vec::new(),
        plan: None,
    };
    let json = || serde_json::json!({"version": 1, "error": view::error_json(&why, &help)});
    reports.write(&report, &json);
    ended
}

/// What there is to say where the details are on standard error.
fn reason(exit: Exit) -> String {
    match exit {
        Exit::Source => "the source has errors".to_owned(),
        Exit::NoValue => "a value cannot be read".to_owned(),
        exit => format!("ended with exit code {} before the first step", exit.code()),
    }
}

/// Who approved a contract, when, with which key, and with which words.
pub(crate) fn approved_text(name: &str, key: &str, at: &str, note: Option<&str>) -> String {
    let note = note.map(|note| format!(": {note}")).unwrap_or_default();
    format!("by {name} at {at}, {key}{note}")
}

/// The cases of a run that is part of a larger one, which began earlier.
pub(crate) fn moved(cases: Vec<Case>, name: &str, later: Duration) -> impl Iterator<Item = Case> {
    cases.into_iter().map(move |mut case| {
        case.path = format!("{name}.{}", case.path).into();
        case.lane = case.lane.map(|lane| format!("{name}.{lane}").into());
        case.spans.iter_mut().for_each(|span| span.start += later);
        case
    })
}

/// Writes the reports that were gathered as one.
pub(crate) fn join(
    context: &Context<'_>,
    asked: &[ReportTo],
    name: &str,
    began: SystemTime,
    json: &dyn Fn(Vec<Value>) -> Value,
) -> Result<Option<Exit>, Failure> {
    let parts = context.reported.gather();
    context.reported.write_again();
    // Nothing has run: an earlier report is not touched from here.
    let Some(last) = parts.last() else { return Ok(None) };
    let Some(reports) = Reports::ready(context, asked)? else { return Ok(None) };
    let (status, host) = (last.report.status.clone(), last.report.host.clone());
    let took = crate::clock::now().duration_since(began).unwrap_or_default();
    let (name, is_good, at) = (name.to_owned(), true, began);
    let (summary, trouble, facts, fleets, cases, plan) = Default::default();
    let mut whole = Report {
        name,
        status,
        is_good,
        summary,
        trouble,
        at,
        took,
        host,
        facts,
        fleets,
        cases,
        plan,
    };
    let mut runs = Vec::new();
    for Gathered { report, json } in parts {
        let separator = if whole.summary.is_empty() { "" } else { "; " };
        whole.summary.push_str(&format!("{separator}{}: {}", report.name, report.summary));
        whole.is_good &= report.is_good;
        whole.trouble = whole.trouble.or(report.trouble);
        let of_part = |(key, text): (&'static str, String)| match key {
            "run" => Some((key, format!("{}: {text}", report.name))),
            _ => None,
        };
        whole.facts.extend(report.facts.into_iter().filter_map(of_part));
        let later = report.at.duration_since(began).unwrap_or_default();
        whole.fleets.extend(report.fleets);
        whole.cases.extend(moved(report.cases, &report.name, later));
        let plan = whole.plan.get_or_insert_default();
        plan.push_str(&report.plan.unwrap_or_default());
        runs.extend(json);
    }
    whole.facts.push(("opal", env!("CARGO_PKG_VERSION").to_owned()));
    Ok(reports.write(&whole, &|| json(runs.clone())))
}

impl Reports {
    /// Makes sure that they can be written, before anything happens; none where there are none. A
    /// report of an earlier run is removed: it must not be taken for one of this run.
    pub(crate) fn ready(
        context: &Context<'_>,
        asked: &[ReportTo],
    ) -> Result<Option<Self>, Failure> {
        let summary = context.ambient.job_summary.clone();
        let is_usual = asked.is_empty() && context.ambient.github && summary.is_some();
        let to = if is_usual { vec![ReportTo::JobSummary] } else { asked.to_vec() };
        for target in &to {
            match target {
                ReportTo::File(path, _) => {
                    prepare(path).map_err(|error| unwritable(path, &error))?
                }
                ReportTo::JobSummary if summary.is_none() => {
                    return Err(Failure::usage(
                        "`--report github`: `GITHUB_STEP_SUMMARY` is not set",
                        "it is set in jobs of GitHub; elsewhere write a file: `--report FILE.md`",
                    ));
                }
                ReportTo::JobSummary => {}
            }
        }
        let reported = Rc::clone(&context.reported);
        Ok((!to.is_empty()).then_some(Self { to, summary, is_usual, reported }))
    }

    /// Writes all of them. What cannot be written is reported, and gives the exit code of a run that
    /// did not fail.
    pub(crate) fn write(&self, report: &Report, json: &dyn Fn() -> Value) -> Option<Exit> {
        if let Some(gathered) = &mut *self.reported.gathered.borrow_mut() {
            let is_json = |to: &ReportTo| matches!(to, ReportTo::File(_, ReportFormat::Json));
            let json = self.to.iter().any(is_json).then(json);
            gathered.push(Gathered { report: report.clone(), json });
            return None;
        }
        self.reported.last.set(Some(report.is_good));
        let mut exit = None;
        for target in &self.to {
            let written = match target {
                ReportTo::File(path, format) => file(path, *format, report, json),
                ReportTo::JobSummary => self.summary.as_deref().map_or(Ok(()), |path| {
                    append(path, report).map_err(|error| unwritable(path, &error))
                }),
            };
            if let Err(failure) = written {
                view::unreported(&failure.message);
                exit = exit.or((!self.is_usual).then_some(Exit::Write));
            }
        }
        exit
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::unwritable(&format!("the report `{}`", path.display()), error)
}

/// Directories are made: a report often goes where a step puts its own results.
fn prepare(path: &Path) -> io::Result<()> {
    if is_special(path) {
        return Ok(());
    }
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    make_parent(path)?;
    drop(Unfinished::beside(path)?);
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

fn file(
    path: &Path,
    format: ReportFormat,
    report: &Report,
    json: &dyn Fn() -> Value,
) -> Result<(), Failure> {
    let text = match format {
        ReportFormat::Junit => junit::document(report),
        ReportFormat::Markdown => markdown::document(report, usize::MAX),
        ReportFormat::Html => page::document(report),
        ReportFormat::Json => view::json_text(&json()),
    };
    // A step may have removed it.
    make_parent(path).map_err(|error| unwritable(path, &error))?;
    write_file(path, text.as_bytes())
}

/// Adds to what the job has already, as far as there is room.
fn append(path: &Path, report: &Report) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let used = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let text = markdown::document(report, MAX_SUMMARY_BYTES.saturating_sub(used));
    if text.is_empty() {
        return Err(io::Error::other("the summary of the job is full"));
    }
    file.write_all(text.as_bytes())
}
