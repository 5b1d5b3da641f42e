//! Every option of plans and runs: one table for the command line, help and completion.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ValueHint};

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
    Look,
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
    File(&'static str),
    Files(&'static str),
    Folder(&'static str),
}

use Of::{Both, Look, Plan, Run};
use Takes::{File, Files, Folder, Nothing, OneOf, Optional, Text, Texts};

const fn row(name: &'static str, takes: Takes, of: Of, help: &'static str) -> Row {
    Row { name, short: None, takes, of, help }
}

const fn short(short: char, row: Row) -> Row {
    Row { short: Some(short), ..row }
}

#[rustfmt::skip]
pub(super) static ROWS: [Row; 31] = [
    short('n', row("dry-run", Nothing, Plan, "Show the plan and run nothing; what takes time is left open")),
    row("resolve", Nothing, Plan, "Look at everything: a contract where the output is a file or a pipe"),
    row("format", Text("FORMAT"), Plan, "How to show the plan: tree, json, json-compact, or cmd:PROGRAM for your own"),
    row("defaults", Nothing, Plan, "Show arguments that have their default value, too"),
    row("paths", Nothing, Plan, "Show the path of each step, as --from takes it"),
    row("json", Nothing, Both, "One JSON document: the plan, how the run ended, or what a look has found"),
    row("hash-algo", OneOf("ALGORITHM", &["sha256", "blake3"]), Plan, "sha256 or blake3"),
    short('o', row("out", File("FILE"), Plan, "Write a contract to FILE, - for standard output")),
    row("sign", Text("KEY"), Plan, "Sign the contract: a name of `opal keys`, or a path"),
    row("recipient", Texts("AGE1…|FILE"), Plan, "Let this runner run the contract too; may be repeated"),
    row("identity", Text("FILE|cmd:PROGRAM"), Both, "A runner key for this once"),
    row("expires", Text("DURATION"), Plan, "When the contract ends, as in 24h"),
    row("once", Nothing, Plan, "Let the contract run a single time"),
    row("root", Folder("DIR"), Both, "Where opal keeps keys and records"),
    row("env-file", Files("FILE"), Both, "Variables for what the environment does not set; may be repeated"),
    row("debug", OneOf("LEVEL", &["paths", "detailed"]), Both, "Trace each stage on standard error: paths or detailed"),
    row("telemetry", OneOf("LEVEL", &["basic", "timing"]), Both, "Counts of each stage on standard error: basic, or timing with times"),
    row("timeout", Text("DURATION"), Run, "End the run where it takes longer, as in 30m; exit 124"),
    row("from", Text("PATH|step:N|step:PATH"), Run, "Start at this step of the plan, and skip those before it"),
    row("resume", Optional("RUN"), Run, "Start at the step where the last run failed, or that run"),
    short('y', row("yes", Nothing, Run, "Answer every question with yes")),
    short('j', row("jobs", Text("N"), Run, "At most N steps side by side, over the whole run")),
    row("output", Text("prefixed|grouped"), Both, "Show parallel branches live with prefixes, or one after the other"),
    row("verify-first", Nothing, Run, "Look at every resource first, and say what will be skipped"),
    row("no-record", Nothing, Run, "Keep no record of the run"),
    row("sync", Nothing, Run, "Have the record on the disk before each step starts"),
    row("no-pty", Nothing, Run, "Give steps pipes, also on a terminal"),
    row("events", File("FILE|-"), Run, "Write what happens as JSON Lines, - for standard output"),
    short('v', row("verbose", Nothing, Run, "Also show blocks, paths, times and debug messages")),
    short('q', row("quiet", Nothing, Run, "Of opal's own lines, show failures only")),
    row("timings", Nothing, Run, "Show how long each step took, at the end")
];

/// What `opal verify` and `opal apply` have: which steps are meant.
#[rustfmt::skip]
pub(super) static SELECTS: [Row; 2] = [
    row("only", Texts("ID"), Look, "Only this step, by its id or path; may be repeated"),
    row("skip", Texts("ID"), Look, "All steps but this one, by its id or path; may be repeated"),
];

/// What `opal verify` has besides those that are for everybody.
#[rustfmt::skip]
pub(super) static LOOKS: [Row; 3] = [
    row("timeout", Text("DURATION"), Look, "How long each look may take, whatever the steps say; else 30s"),
    short('j', row("jobs", Text("N"), Look, "At most N looks at a time, and never more than 32; else 16")),
    short('v', row("verbose", Nothing, Look, "Also show the differences, and what to do about what is blocked")),
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
            Look => "Options for resources",
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
            File(value) => path(arg.value_name(value), ValueHint::FilePath),
            Files(value) => {
                path(arg.value_name(value).action(ArgAction::Append), ValueHint::FilePath)
            }
            Folder(value) => path(arg.value_name(value), ValueHint::DirPath),
        }
    }
}
