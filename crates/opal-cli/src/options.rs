//! The options of planning: behind a task's name, before it, or behind `opal plan`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use opal_core::Duration;
use opal_core::hash::Algorithm;

use crate::failure::Failure;

/// What was asked of a plan.
#[derive(Debug, Default)]
pub(crate) struct PlanOptions {
    pub(crate) dry_run: bool,
    pub(crate) resolve: bool,
    /// `tree`, `json` or `cmd:PROGRAM`.
    pub(crate) format: Option<String>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) sign: Option<String>,
    pub(crate) recipients: Vec<String>,
    pub(crate) identity: Option<String>,
    pub(crate) expires: Option<Duration>,
    pub(crate) once: bool,
    pub(crate) root: Option<PathBuf>,
}

/// An option and whether a value follows it.
const OPTIONS: [(&str, bool); 12] = [
    ("dry-run", false),
    ("resolve", false),
    ("format", true),
    ("json", false),
    ("hash-algo", true),
    ("output", true),
    ("sign", true),
    ("recipient", true),
    ("identity", true),
    ("expires", true),
    ("once", false),
    ("root", true),
];

/// Whether `name` is an option of planning, and whether a value follows it.
pub(crate) fn known(name: &str) -> Option<bool> {
    if name == "-o" {
        return Some(true);
    }
    let long = name.strip_prefix("--")?;
    OPTIONS.iter().find(|(option, _)| *option == long).map(|(_, takes)| *takes)
}

pub(crate) fn names() -> impl Iterator<Item = String> {
    OPTIONS.iter().map(|(name, _)| format!("--{name}"))
}

/// All options, for `opal plan`, and for those before a task's name.
pub(crate) fn args() -> Vec<Arg> {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(id(name)).long(name).action(ArgAction::SetTrue).help(help)
    };
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(id(name)).long(name).value_name(value).help(help)
    };
    let path = |arg: Arg, hint| arg.value_parser(clap::value_parser!(PathBuf)).value_hint(hint);
    let args = vec![
        flag("dry-run", "Show the plan and run nothing; what takes time is left open"),
        flag("resolve", "Look at everything: a contract where the output is a file or a pipe"),
        value("format", "FORMAT", "How to show the plan: tree, json, or cmd:PROGRAM for your own"),
        flag("json", "The same as --format json"),
        value("hash-algo", "ALGORITHM", "sha256 or blake3")
            .value_parser(["sha256", "blake3"])
            .hide_possible_values(true),
        path(
            value("output", "FILE", "Write a contract to FILE, - for standard output"),
            ValueHint::FilePath,
        )
        .short('o'),
        value("sign", "KEY", "Sign the contract: a name of `opal keys`, or a path"),
        value("recipient", "AGE1…|FILE", "Let this runner run the contract too; may be repeated")
            .action(ArgAction::Append),
        value("identity", "FILE|cmd:PROGRAM", "A runner key for this once"),
        value("expires", "DURATION", "When the contract ends, as in 24h"),
        flag("once", "Let the contract run a single time"),
        path(value("root", "DIR", "Where opal keeps keys and records"), ValueHint::DirPath),
    ];
    args.into_iter().map(|arg| arg.help_heading("Options of opal")).collect()
}

/// Apart from the names of a task's parameters.
fn id(name: &'static str) -> String {
    format!("opal:{name}")
}

/// A task's command line with opal's options behind its own. A function's flags win.
pub(crate) fn behind(task: Command) -> Command {
    let taken: Vec<String> = task
        .get_arguments()
        .flat_map(|arg| {
            let all = arg.get_long_and_visible_aliases().unwrap_or_default();
            all.into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let free = |arg: &Arg| arg.get_long().is_some_and(|long| !taken.iter().any(|t| t == long));
    task.args(args().into_iter().filter(free))
}

impl PlanOptions {
    /// Those that stood before the name.
    pub(crate) fn before(words: &[OsString]) -> Result<Self, Failure> {
        let command = Command::new("opal").no_binary_name(true).args(args());
        let matches = command.try_get_matches_from(words).map_err(|error| {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Failure::usage(line, "see `opal plan --help`")
        })?;
        Self::from(&matches)
    }

    pub(crate) fn from(matches: &ArgMatches) -> Result<Self, Failure> {
        let flag = |name| matches.try_get_one::<bool>(&id(name)).ok().flatten().copied();
        let flag = |name| flag(name).unwrap_or(false);
        let text = |name| matches.try_get_one::<String>(&id(name)).ok().flatten().cloned();
        let path = |name| matches.try_get_one::<PathBuf>(&id(name)).ok().flatten().cloned();
        let many = matches.try_get_many::<String>(&id("recipient")).ok().flatten();
        let expires = text("expires").map(|text| duration(&text)).transpose()?;
        let format = if flag("json") { Some("json".to_owned()) } else { text("format") };
        if let Some(format) = &format {
            check_format(format)?;
        }
        Ok(Self {
            dry_run: flag("dry-run"),
            resolve: flag("resolve"),
            format,
            algorithm: text("hash-algo").and_then(|name| Algorithm::named(&name)),
            output: path("output"),
            sign: text("sign"),
            recipients: many.map(|all| all.cloned().collect()).unwrap_or_default(),
            identity: text("identity"),
            expires,
            once: flag("once"),
            root: path("root"),
        })
    }

    /// These, and where they say nothing, `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            dry_run: self.dry_run || other.dry_run,
            resolve: self.resolve || other.resolve,
            format: self.format.or(other.format),
            algorithm: self.algorithm.or(other.algorithm),
            output: self.output.or(other.output),
            sign: self.sign.or(other.sign),
            recipients: [self.recipients, other.recipients].concat(),
            identity: self.identity.or(other.identity),
            expires: self.expires.or(other.expires),
            once: self.once || other.once,
            root: self.root.or(other.root),
        }
    }

    /// Whether something was asked that only a contract has.
    pub(crate) fn contract_only(&self) -> Option<&'static str> {
        let asked = [
            (self.sign.is_some(), "--sign"),
            (!self.recipients.is_empty(), "--recipient"),
            (self.expires.is_some(), "--expires"),
            (self.once, "--once"),
        ];
        asked.into_iter().find_map(|(asked, name)| asked.then_some(name))
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format.as_deref() == Some("json")
    }
}

fn duration(text: &str) -> Result<Duration, Failure> {
    match Duration::parse(text) {
        Ok(duration) if duration.as_nanos() > 0 => Ok(duration),
        Ok(_) => Err(Failure::usage("`--expires` is in the past", "give it some time: `24h`")),
        Err(error) => Err(Failure::usage(
            format!("`--expires {text}`: {error}"),
            "write it as `24h` or `30m`",
        )),
    }
}

fn check_format(format: &str) -> Result<(), Failure> {
    let program = format.strip_prefix("cmd:").is_some_and(|program| !program.trim().is_empty());
    if program || matches!(format, "tree" | "json") {
        return Ok(());
    }
    Err(Failure::usage(
        format!("`{format}` is no format of a plan"),
        "known are tree, json and cmd:PROGRAM, as in `--format 'cmd:jq .steps'`",
    ))
}
