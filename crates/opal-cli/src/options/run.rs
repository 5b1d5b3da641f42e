//! What was asked of a run.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::Duration;
use opal_core::action::BranchOutput;

use super::Given;
use super::report::ReportTo;
use crate::failure::Failure;

#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    pub(crate) timeout: Option<Duration>,
    /// The path of a step, or `step:N`.
    pub(crate) from: Option<String>,
    pub(crate) resume: Option<Resume>,
    pub(crate) yes: bool,
    /// The most steps side by side.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// How the output of parallel branches is shown, whatever the source says.
    pub(crate) output: Option<BranchOutput>,
    /// Every resource is looked at before the first step.
    pub(crate) verify_first: bool,
    pub(crate) no_record: bool,
    /// Entries of `@cached` are ignored.
    pub(crate) no_cache: bool,
    pub(crate) sync: bool,
    pub(crate) no_pty: bool,
    /// `-` is standard output.
    pub(crate) events: Option<PathBuf>,
    pub(crate) reports: Vec<ReportTo>,
    pub(crate) verbose: bool,
    pub(crate) quiet: bool,
    pub(crate) timings: bool,
    /// The run is sent as a trace and metrics.
    pub(crate) otlp: bool,
}

/// The run that is gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// The last one of the target.
    Last,
    /// By its id, or the beginning of one.
    Run(String),
}

impl RunOptions {
    pub(super) fn from(matches: &ArgMatches) -> Result<Self, Failure> {
        let given = Given(matches);
        let resume = given.text("resume").map(|run| match run.as_str() {
            "" => Resume::Last,
            _ => Resume::Run(run),
        });
        Ok(Self {
            timeout: given.text("timeout").map(|text| timeout(&text)).transpose()?,
            from: given.text("from").map(start).transpose()?,
            resume,
            yes: given.flag("yes"),
            jobs: given.text("jobs").map(|text| jobs(&text)).transpose()?,
            output: given.text("output").map(|text| branch_output(&text)).transpose()?,
            verify_first: given.flag("verify-first"),
            no_record: given.flag("no-record"),
            no_cache: given.flag("no-cache"),
            sync: given.flag("sync"),
            no_pty: given.flag("no-pty"),
            events: given.path("events"),
            reports: reports(given)?,
            verbose: given.flag("verbose"),
            quiet: given.flag("quiet"),
            timings: given.flag("timings"),
            otlp: given.flag("otlp"),
        })
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            timeout: self.timeout.or(other.timeout),
            from: self.from.or(other.from),
            resume: self.resume.or(other.resume),
            yes: self.yes || other.yes,
            jobs: self.jobs.or(other.jobs),
            output: self.output.or(other.output),
            verify_first: self.verify_first || other.verify_first,
            no_record: self.no_record || other.no_record,
            no_cache: self.no_cache || other.no_cache,
            sync: self.sync || other.sync,
            no_pty: self.no_pty || other.no_pty,
            events: self.events.or(other.events),
            reports: [other.reports, self.reports].concat(),
            verbose: self.verbose || other.verbose,
            quiet: self.quiet || other.quiet,
            timings: self.timings || other.timings,
            otlp: self.otlp || other.otlp,
        }
    }

    /// An option that was given, and that means nothing where nothing runs; but for those that are
    /// `meant`.
    pub(super) fn given(&self, meant: &[&str]) -> Option<&'static str> {
        let asked = [
            (self.timeout.is_some(), "--timeout"),
            (self.from.is_some(), "--from"),
            (self.resume.is_some(), "--resume"),
            (self.yes, "--yes"),
            (self.jobs.is_some(), "--jobs"),
            (self.output.is_some(), "--output"),
            (self.verify_first, "--verify-first"),
            (self.no_record, "--no-record"),
            (self.no_cache, "--no-cache"),
            (self.sync, "--sync"),
            (self.no_pty, "--no-pty"),
            (self.events.is_some(), "--events"),
            (!self.reports.is_empty(), "--report"),
            (self.verbose, "--verbose"),
            (self.quiet, "--quiet"),
            (self.timings, "--timings"),
            (self.otlp, "--otlp"),
        ];
        let mut asked = asked.into_iter().filter(|(asked, name)| *asked && !meant.contains(name));
        asked.next().map(|(_, name)| name)
    }

    /// An option that begins in the middle of a plan, or looks at the resources of one.
    pub(crate) fn of_a_source(&self) -> Option<&'static str> {
        let asked = [
            (self.from.is_some(), "--from"),
            (self.resume.is_some(), "--resume"),
            (self.verify_first, "--verify-first"),
        ];
        asked.into_iter().find_map(|(asked, name)| asked.then_some(name))
    }

    pub(crate) fn events_to_stdout(&self) -> bool {
        self.events.as_deref() == Some(Path::new("-"))
    }

    /// What cannot both be meant.
    pub(super) fn check(&self, json: bool) -> Result<(), Failure> {
        let contradictions = [
            (
                self.from.is_some() && self.resume.is_some(),
                "`--from` and `--resume` are mutually exclusive",
                "omit one of them",
            ),
            (
                self.verbose && self.quiet,
                "`--verbose` and `--quiet` are mutually exclusive",
                "omit one of them",
            ),
            (
                self.no_record && self.sync,
                "`--sync` needs a record, but `--no-record` keeps none",
                "omit one of them",
            ),
            (
                self.no_record && self.otlp,
                "`--otlp` sends the record, but `--no-record` keeps none",
                "omit one of them",
            ),
            (
                json && self.events_to_stdout(),
                "`--json` and `--events -` both use standard output",
                "write the events to a file: `--events FILE`",
            ),
        ];
        match contradictions.into_iter().find(|(both, ..)| *both) {
            Some((_, message, help)) => Err(Failure::usage(message, help)),
            None => Ok(()),
        }
    }
}

fn reports(given: Given<'_>) -> Result<Vec<ReportTo>, Failure> {
    let asked: Vec<PathBuf> = given.many("report");
    asked.into_iter().map(ReportTo::new).collect()
}

/// `prefixed`, `grouped` or `folded`. Files are named with `-o`.
pub(crate) fn branch_output(text: &str) -> Result<BranchOutput, Failure> {
    BranchOutput::named(text).ok_or_else(|| {
        Failure::usage(
            format!("`--output {text}`: expected one of: {}", BranchOutput::FLEET_NAMES.join(", ")),
            format!(
                "`--output` sets how parallel branches are shown; to write a file, use `-o {text}`"
            ),
        )
    })
}

/// `30m`, or a number of seconds as in a configuration.
fn timeout(text: &str) -> Result<Duration, Failure> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
    let text = &if is_number { format!("{text}s") } else { text.to_owned() };
    super::duration("timeout", text, "`--timeout` must be longer than zero", "30m")
}

fn start(text: String) -> Result<String, Failure> {
    let wrong = |message: String| {
        Failure::usage(message, "list the paths with `opal TASK --dry-run --paths`")
    };
    match text.strip_prefix("step:") {
        _ if text.is_empty() => Err(wrong("`--from` needs a step".to_owned())),
        // A path has a dot in it, and a number never has.
        Some(path) if path.contains('.') => Ok(path.to_owned()),
        Some(number) if number.parse::<NonZeroUsize>().is_err() => Err(wrong(format!(
            "`--from {text}`: steps are counted from 1, as in `--from step:3`, or named by their \
             path, as in `--from step:deploy.shell[0]`"
        ))),
        _ => Ok(text),
    }
}

fn jobs(text: &str) -> Result<NonZeroUsize, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(
            format!("`--jobs` must be a whole number of at least 1, got `{text}`"),
            "write it as `--jobs 4`, or omit it for no limit",
        )
    })
}
