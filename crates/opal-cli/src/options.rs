//! The options of plans, runs and verifications: behind a task's name, before it, or behind `opal plan`,
//! `opal run`, `opal apply` and `opal verify`.
//!
//! | what | where |
//! |---|---|
//! | the table of them | [`table`] |
//! | what was asked of a plan | [`PlanOptions`] |
//! | what was asked of a run | [`RunOptions`], in [`run`] |
//! | whether a word is one of them | [`words`] |

mod debug;
mod format;
mod limit;
mod modules;
mod on;
mod report;
mod run;
mod selection;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use opal_core::Duration;
use opal_core::hash::Algorithm;

use crate::failure::Failure;
use crate::mistake::Mistake;
pub(crate) use debug::{Debugged, Telemetry};
use format::check_format;
pub(crate) use modules::{blueprint_args, module_args, variables_args};
pub(crate) use report::{ReportFormat, ReportTo};
pub(crate) use run::{Resume, RunOptions, branch_output};
use table::{Of, ROWS, Row, SELECTS, VERIFY_ROWS};
pub(crate) use words::{Taken, known, names, names_behind, taken};

/// What was asked of opal: of the plan, and of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) plan: PlanOptions,
    pub(crate) run: RunOptions,
    /// Ids or paths of the steps that are selected, and of those that are not.
    only: Vec<String>,
    skip: Vec<String>,
}

/// Which options stand behind the name of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Those of plans and runs.
    Work,
    /// Those of a look.
    Verify,
}

impl Behind {
    fn rows(self) -> impl Iterator<Item = &'static Row> {
        let verifies = self == Self::Verify;
        let general = ROWS.iter().filter(move |row| !verifies || row.of == Of::Both);
        general.chain(SELECTS.iter().chain(&VERIFY_ROWS).filter(move |_| verifies))
    }
}

/// What was asked of a plan, and what holds for plans and runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanOptions {
    pub(crate) dry_run: bool,
    pub(crate) resolve: bool,
    /// `tree`, `json`, `json-compact` or `cmd:PROGRAM`.
    pub(crate) format: Option<String>,
    /// Whether a tree shows arguments that have their default.
    pub(crate) defaults: bool,
    /// Whether a tree shows the paths of steps.
    pub(crate) paths: bool,
    pub(crate) algorithm: Option<Algorithm>,
    /// The file to write.
    pub(crate) out: Option<PathBuf>,
    pub(crate) sign: Option<String>,
    pub(crate) recipients: Vec<String>,
    pub(crate) identity: Option<String>,
    pub(crate) expires: Option<Duration>,
    pub(crate) once: bool,
    /// Only projects that have changed since this commit.
    pub(crate) changed_since: Option<String>,
    /// The targets that the task runs on.
    pub(crate) on: Option<String>,
    /// Whether the contract lets blocks of `@cached` be skipped.
    pub(crate) cache: bool,
    pub(crate) root: Option<PathBuf>,
    /// Later ones win over earlier ones.
    pub(crate) env_files: Vec<PathBuf>,
    pub(crate) limit: Option<String>,
    pub(crate) debug: Option<Debugged>,
    pub(crate) telemetry: Option<Telemetry>,
}

/// The options of `opal plan`.
pub(crate) fn args() -> Vec<Arg> {
    ROWS.iter().filter(|row| row.is_of(Of::Plan)).map(Row::arg).collect()
}

/// The options that `opal run` has besides.
pub(crate) fn run_args() -> Vec<Arg> {
    ROWS.iter().filter(|row| row.of == Of::Run).map(Row::arg).collect()
}

/// The options of `opal apply`.
pub(crate) fn apply_args() -> Vec<Arg> {
    let is_for_apply = |row: &&Row| row.is_of(Of::Run);
    let dry_run = Row::arg(&ROWS[0]).help("Change nothing, and show what would change");
    let selecting = SELECTS.iter().map(Row::arg);
    ROWS.iter().filter(is_for_apply).map(Row::arg).chain([dry_run]).chain(selecting).collect()
}

/// The options of `opal verify`.
pub(crate) fn verify_args() -> Vec<Arg> {
    Behind::Verify.rows().map(Row::arg).collect()
}

/// A task's command line with opal's options behind its own. A function's flags win.
pub(crate) fn behind(task: Command, side: Behind) -> Command {
    with(task, side, |_| true)
}

/// The words behind a task's name. Only the options that stand there are put together: a run that
/// uses none does not pay for the others.
pub(crate) fn parse(
    task: &dyn Fn() -> Command,
    words: &[OsString],
    side: Behind,
) -> Result<ArgMatches, clap::Error> {
    let is_there = |row: &Row| words.iter().any(|word| mentions(row, word));
    let quick = with(task(), side, is_there).no_binary_name(true).try_get_matches_from(words);
    // What is wrong is said by the whole command line, which has suggestions for it.
    quick.or_else(|_| behind(task(), side).no_binary_name(true).try_get_matches_from(words))
}

/// Whether the word may be the option.
fn mentions(row: &Row, word: &OsString) -> bool {
    let word = word.as_encoded_bytes();
    match word.strip_prefix(b"--") {
        Some(long) => {
            let behind = long.strip_prefix(row.name.as_bytes());
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(b"="))
        }
        // Letters may stand together.
        None => row.short.is_some() && word.starts_with(b"-"),
    }
}

fn with(task: Command, side: Behind, wanted: impl Fn(&Row) -> bool) -> Command {
    let taken: Vec<String> = task
        .get_arguments()
        .flat_map(|arg| {
            let all = arg.get_long_and_visible_aliases().unwrap_or_default();
            all.into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let free = |row: &&Row| wanted(row) && !taken.iter().any(|taken| taken == row.name);
    let args: Vec<Arg> = side.rows().filter(free).map(Row::arg).collect();
    task.args(args)
}

/// Options as clap has read them; what it does not know was not given.
#[derive(Clone, Copy, Debug)]
struct Given<'m>(&'m ArgMatches);

impl Given<'_> {
    fn flag(self, name: &str) -> bool {
        self.0.try_get_one::<bool>(&Row::id(name)).ok().flatten().copied().unwrap_or(false)
    }

    fn text(self, name: &str) -> Option<String> {
        self.0.try_get_one::<String>(&Row::id(name)).ok().flatten().cloned()
    }

    fn path(self, name: &str) -> Option<PathBuf> {
        self.0.try_get_one::<PathBuf>(&Row::id(name)).ok().flatten().cloned()
    }

    fn many<T: Clone + Send + Sync + 'static>(self, name: &str) -> Vec<T> {
        let many = self.0.try_get_many::<T>(&Row::id(name)).ok().flatten();
        many.map(|all| all.cloned().collect()).unwrap_or_default()
    }
}

impl Asked {
    /// Those that stood before the name.
    pub(crate) fn before(words: &[OsString]) -> Result<Self, Failure> {
        if words.is_empty() {
            return Ok(Self::default());
        }
        let command = Command::new("opal").no_binary_name(true).args(args()).args(run_args());
        let matches = command.try_get_matches_from(words).map_err(|error| {
            Failure::usage(Mistake::of(&error).message, "see `opal run --help`")
        })?;
        Self::from(&matches)
    }

    pub(crate) fn from(matches: &ArgMatches) -> Result<Self, Failure> {
        let (only, skip) = (Given(matches).many("only"), Given(matches).many("skip"));
        Ok(Self { plan: PlanOptions::from(matches)?, run: RunOptions::from(matches)?, only, skip })
    }

    /// These, and where they say nothing, `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        let only = [self.only, other.only].concat();
        let skip = [self.skip, other.skip].concat();
        Self { plan: self.plan.or(other.plan), run: self.run.or(other.run), only, skip }
    }

    /// Whether they make sense where nothing runs.
    pub(crate) fn for_plan(&self) -> Result<(), Failure> {
        match self.run.given(&[]) {
            Some(option) => Err(Failure::usage(
                format!("`{option}` applies to a run, but a plan runs nothing"),
                "omit it, or run the task: `opal TASK` without `--dry-run`",
            )),
            None => Ok(()),
        }
    }

    /// Whether they make sense where a configuration is not applied, but it is said what would change;
    /// `applied` is how it would be.
    pub(crate) fn for_preview(&self, applied: &str) -> Result<(), Failure> {
        if let Some(option) = self.plan.plan_only() {
            return Err(Failure::usage(
                format!("`{option}` applies to a plan"),
                "write `opal plan CONFIG.yaml`",
            ));
        }
        match self.run.given(&["--timeout", "--jobs", "--verbose"]) {
            Some(option) => Err(Failure::usage(
                format!("`{option}` applies to a run, but a dry run changes nothing"),
                format!("omit it, or apply the configuration: {applied}"),
            )),
            None => Ok(()),
        }
    }

    /// Whether they make sense for a verification.
    pub(crate) fn for_verify(&self) -> Result<(), Failure> {
        let dry_run = self.plan.dry_run.then_some("--dry-run");
        let of_run = self.run.given(&["--timeout", "--jobs", "--verbose", "--report"]);
        match dry_run.or(self.plan.plan_only()).or(of_run) {
            Some(option) => Err(Failure::usage(
                format!("`{option}` has no effect on `opal verify`, which only reads"),
                "omit it; see `opal verify --help`",
            )),
            None => Ok(()),
        }
    }

    /// Whether they make sense where something runs.
    pub(crate) fn for_run(&self) -> Result<(), Failure> {
        let plan = &self.plan;
        if let Some(option) = plan.plan_only() {
            return Err(Failure::usage(
                format!("`{option}` applies to a plan"),
                "add `--dry-run`, or write `opal plan TASK`",
            ));
        }
        self.run.check(plan.is_json())
    }

    /// Standard output is for a program: what steps print there goes elsewhere.
    pub(crate) fn stdout_is_json(&self) -> bool {
        self.plan.is_json() || self.run.events_to_stdout()
    }
}

impl PlanOptions {
    /// Those that stood before the name.
    pub(crate) fn before(words: &[OsString]) -> Result<Self, Failure> {
        Asked::before(words).map(|asked| asked.plan)
    }

    pub(crate) fn from(matches: &ArgMatches) -> Result<Self, Failure> {
        let given = Given(matches);
        let in_past = "`--expires` is in the past";
        let expires = given.text("expires").map(|text| duration("expires", &text, in_past, "24h"));
        let format =
            if given.flag("json") { Some("json".to_owned()) } else { given.text("format") };
        if let Some(format) = &format {
            check_format(format)?;
        }
        Ok(Self {
            dry_run: given.flag("dry-run"),
            resolve: given.flag("resolve"),
            format,
            defaults: given.flag("defaults"),
            paths: given.flag("paths"),
            algorithm: given.text("hash-algo").and_then(|name| Algorithm::named(&name)),
            out: given.path("out"),
            sign: given.text("sign"),
            recipients: given.many("recipient"),
            identity: given.text("identity"),
            expires: expires.transpose()?,
            once: given.flag("once"),
            changed_since: given.text("changed-since"),
            on: given.text("on").map(on::checked).transpose()?,
            cache: given.flag("cache"),
            root: given.path("root"),
            env_files: given.many("env-file"),
            limit: given.text("limit").map(limit::checked).transpose()?,
            debug: given.text("debug").map(|level| match level.as_str() {
                "paths" => Debugged::Paths,
                _ => Debugged::Detailed,
            }),
            telemetry: given.text("telemetry").map(|level| match level.as_str() {
                "basic" => Telemetry::Basic,
                _ => Telemetry::Timing,
            }),
        })
    }

    /// These, and where they say nothing, `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            dry_run: self.dry_run || other.dry_run,
            resolve: self.resolve || other.resolve,
            format: self.format.or(other.format),
            defaults: self.defaults || other.defaults,
            paths: self.paths || other.paths,
            algorithm: self.algorithm.or(other.algorithm),
            out: self.out.or(other.out),
            sign: self.sign.or(other.sign),
            recipients: [self.recipients, other.recipients].concat(),
            identity: self.identity.or(other.identity),
            expires: self.expires.or(other.expires),
            once: self.once || other.once,
            changed_since: self.changed_since.or(other.changed_since),
            on: self.on.or(other.on),
            cache: self.cache || other.cache,
            root: self.root.or(other.root),
            env_files: [other.env_files, self.env_files].concat(),
            limit: self.limit.or(other.limit),
            debug: self.debug.or(other.debug),
            telemetry: self.telemetry.or(other.telemetry),
        }
    }

    /// Whether everything is looked at, as a contract needs it.
    pub(crate) fn is_for_contract(&self) -> bool {
        self.resolve || self.out.is_some()
    }

    /// Whether something was asked that only a plan has that is shown or kept.
    fn plan_only(&self) -> Option<&'static str> {
        let lone = [
            (self.resolve, "--resolve"),
            (self.out.is_some(), "--out"),
            (self.format.is_some() && !self.is_json(), "--format"),
            (self.defaults, "--defaults"),
            (self.paths, "--paths"),
        ];
        let lone = lone.into_iter().find_map(|(given, name)| given.then_some(name));
        lone.or(self.contract_only())
    }

    /// Whether something was asked that only a contract has.
    pub(crate) fn contract_only(&self) -> Option<&'static str> {
        let asked = [
            (self.sign.is_some(), "--sign"),
            (!self.recipients.is_empty(), "--recipient"),
            (self.expires.is_some(), "--expires"),
            (self.once, "--once"),
            (self.cache, "--cache"),
        ];
        asked.into_iter().find_map(|(asked, name)| asked.then_some(name))
    }

    pub(crate) fn is_json(&self) -> bool {
        matches!(self.format.as_deref(), Some("json" | "json-compact"))
    }

    pub(crate) fn is_html(&self) -> bool {
        self.format.as_deref() == Some("html")
    }
}

/// A length of time that is some.
fn duration(option: &str, text: &str, none: &str, example: &str) -> Result<Duration, Failure> {
    match Duration::parse(text) {
        Ok(duration) if duration.as_nanos() > 0 => Ok(duration),
        Ok(_) => {
            Err(Failure::usage(none, format!("it must be longer than zero, as in `{example}`")))
        }
        Err(error) => Err(Failure::usage(
            format!("`--{option} {text}`: {error}"),
            format!("write it as `{example}` or `90s`"),
        )),
    }
}
