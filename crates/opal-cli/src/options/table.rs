//! Every option of plans and runs: one table for the command line, help and completion.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ValueHint};
use opal_core::action::BranchOutput;

/// An option.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) short: Option<char>,
    takes: Takes,
    pub(super) of: Of,
    help: &'static str,
}

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Plan,
    Run,
    Both,
    /// `opal verify`.
    Verify,
}

/// What follows it.
#[derive(Clone, Copy, Debug)]
enum Takes {
    Nothing,
    Text(&'static str),
    /// It may stand more than once.
    Texts(&'static str),
    /// Behind a `=` only, or nothing.
    Optional(&'static str),
    OneOf(&'static str, &'static [&'static str]),
    /// The same for completion; opal itself says what is wrong with another word.
    Named(&'static str, &'static [&'static str]),
    File(&'static str),
    Files(&'static str),
    Folder(&'static str),
}

use Of::{Both, Plan, Run, Verify};
use Takes::{File, Files, Folder, Named, Nothing, OneOf, Optional, Text, Texts};

const fn row(name: &'static str, takes: Takes, of: Of, help: &'static str) -> Row {
    Row { name, short: None, takes, of, help }
}

const fn short(short: char, row: Row) -> Row {
    Row { short: Some(short), ..row }
}

#[rustfmt::skip]
pub(super) static ROWS: [Row; 38] = [
    short('n', row("dry-run", Nothing, Plan, "Show the plan and run nothing; expensive values are deferred")),
    row("resolve", Nothing, Plan, "Resolve every value; write a contract if the output is a file or a pipe"),
    row("format", Text("FORMAT"), Plan, "How to show the plan: tree, json, json-compact, html, or cmd:PROGRAM for your own"),
    row("defaults", Nothing, Plan, "Also show arguments that have their default value"),
    row("paths", Nothing, Plan, "Show the path of each step, for --from"),
    row("json", Nothing, Both, "Print one JSON document: the plan, the result of the run, or the result of a verification"),
    row("hash-algo", OneOf("ALGORITHM", &["sha256", "blake3"]), Plan, "The hash algorithm: sha256 or blake3"),
    short('o', row("out", File("FILE"), Plan, "Write a contract to FILE, - for standard output")),
    row("sign", Text("KEY"), Plan, "Sign the contract: a name of `opal keys`, or a path"),
    row("recipient", Texts("AGE1…|FILE"), Plan, "Let this runner run the contract too; may be repeated"),
    row("identity", Text("FILE|cmd:PROGRAM"), Both, "The runner key to use"),
    row("expires", Text("DURATION"), Plan, "When the contract expires, as in 24h"),
    row("once", Nothing, Plan, "Let the contract run only once"),
    row("cache", Nothing, Plan, "Let runs of the contract skip unchanged blocks of @cached"),
    row("root", Folder("DIR"), Both, "The directory for keys and records"),
    row("changed-since", Text("REF"), Both, "Of DIR/...:TASK, select only projects that have changed since this commit"),
    row("on", Text("TARGETS"), Both, "Run the task on other hosts: HOST, HOST,HOST or INVENTORY#PATTERN"),
    row("limit", Text("PATTERN"), Both, "Narrow every fleet to the targets that match, as in web:!web3, or @failed[:RUN]"),
    row("env-file", Files("FILE"), Both, "Read variables that the environment does not set; may be repeated"),
    row("debug", OneOf("LEVEL", &["paths", "detailed"]), Both, "Trace each stage on standard error: paths or detailed"),
    row("telemetry", OneOf("LEVEL", &["basic", "timing"]), Both, "Print counts of each stage on standard error: basic, or timing with times"),
    row("timeout", Text("DURATION"), Run, "Time out the run after this time, as in 30m; exit 124"),
    row("from", Text("PATH|step:N|step:PATH"), Run, "Start at this step of the plan, and skip those before it"),
    row("resume", Optional("RUN"), Run, "Start at the step where the last run failed, or that run"),
    short('y', row("yes", Nothing, Run, "Answer every question with yes")),
    short('j', row("jobs", Text("N"), Run, "Run at most N steps in parallel, over the whole run")),
    row("output", Named("HOW", BranchOutput::FLEET_NAMES), Both, "Show branches and targets live (prefixed), one after the other (grouped), or equal outputs once (folded)"),
    row("verify-first", Nothing, Run, "Verify every resource first, and show what will be skipped"),
    row("no-record", Nothing, Run, "Keep no record of the run"),
    row("no-cache", Nothing, Run, "Run every block of @cached, whatever has changed"),
    row("sync", Nothing, Run, "Sync the record to disk before each step starts"),
    row("no-pty", Nothing, Run, "Give steps pipes, even on a terminal"),
    row("events", File("FILE|-"), Run, "Write the events as JSON Lines, - for standard output"),
    row("report", Files("FILE|github"), Run, "Write a report: FILE.xml (JUnit), .md, .html or .json, or the job summary; may be repeated"),
    short('v', row("verbose", Nothing, Run, "Also show blocks, paths, times and debug messages")),
    short('q', row("quiet", Nothing, Run, "Show only failures, apart from the output of steps")),
    row("timings", Nothing, Run, "Show how long each step took, at the end"),
    row("otlp", Nothing, Run, "Send the run to OpenTelemetry after it ended, as a trace and metrics"),
];

/// What `opal verify` and `opal apply` have: which steps are meant.
#[rustfmt::skip]
pub(super) static SELECTS: [Row; 2] = [
    row("only", Texts("ID"), Verify, "Select only this step, by its id or path; may be repeated"),
    row("skip", Texts("ID"), Verify, "Leave out this step, by its id or path; may be repeated"),
];

/// What `opal verify` has besides those that are for everybody.
#[rustfmt::skip]
pub(super) static VERIFY_ROWS: [Row; 4] = [
    row("timeout", Text("DURATION"), Verify, "The time limit of each verification, overriding the steps; 30s by default"),
    short('j', row("jobs", Text("N"), Verify, "Verify at most N resources at a time, up to 32; 16 by default")),
    row("report", Files("FILE|github"), Verify, "Write a report: FILE.xml (JUnit), .md, .html or .json, or the job summary; may be repeated"),
    short('v', row("verbose", Nothing, Verify, "Also show the differences, and how to unblock blocked resources")),
];

impl Row {
    pub(super) const fn takes_value(&self) -> bool {
        !matches!(self.takes, Nothing | Optional(_))
    }

    pub(super) fn is_of(&self, wanted: Of) -> bool {
        self.of == Both || wanted == Both || self.of == wanted
    }

    /// Apart from the names of a task's parameters.
    pub(super) fn id(name: &str) -> String {
        format!("opal:{name}")
    }

    pub(super) fn arg(&self) -> Arg {
        let heading = match self.of {
            Run => "Options of a run",
            Verify => "Options for resources",
            Plan | Both => "Options of opal",
        };
        let arg = Arg::new(Self::id(self.name)).long(self.name).help(self.help);
        let arg = arg.help_heading(heading).short(self.short);
        let path = |arg: Arg, hint| arg.value_parser(clap::value_parser!(PathBuf)).value_hint(hint);
        // Of an option that is given twice the last one counts.
        let arg = match self.takes {
            Texts(_) | Files(_) => arg,
            _ => arg.overrides_with(Self::id(self.name)),
        };
        match self.takes {
            Nothing => arg.action(ArgAction::SetTrue),
            Text(value) => arg.value_name(value),
            Texts(value) => arg.value_name(value).action(ArgAction::Append),
            Optional(value) => {
                arg.value_name(value).num_args(0..=1).require_equals(true).default_missing_value("")
            }
            OneOf(value, known) => {
                arg.value_name(value).value_parser(known.to_vec()).hide_possible_values(true)
            }
            Named(value, known) => {
                let known: Vec<PossibleValue> = known.iter().map(PossibleValue::new).collect();
                let parser = Suggested(known);
                arg.value_name(value).value_parser(parser).hide_possible_values(true)
            }
            File(value) => path(arg.value_name(value), ValueHint::FilePath),
            Files(value) => {
                path(arg.value_name(value).action(ArgAction::Append), ValueHint::FilePath)
            }
            Folder(value) => path(arg.value_name(value), ValueHint::DirPath),
        }
    }
}

/// Any text, with values to complete.
#[derive(Clone, Debug)]
struct Suggested(Vec<PossibleValue>);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}
