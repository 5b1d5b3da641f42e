//! `opal runs` in the table.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, ValueHint};

use super::queue;
use super::shared::{flag, json, root};

pub(super) fn runs() -> Command {
    Command::new("runs")
        .about("List, show, report, query, follow, compare, clean up and remove runs")
        .subcommand_required(true)
        .subcommands([
            list(),
            show(),
            diff(),
            report(),
            stats(),
            sql(),
            export(),
            tail(),
            cleanup(),
            prune(),
        ])
        .after_help(
            "RUN is the id of a run, a prefix of it, or `last`.\n\nExamples:\n  opal runs list \
             --status failed\n  opal runs show last --logs",
        )
}

fn run(id: &'static str) -> Arg {
    Arg::new(id).value_name("RUN").help("An id, a prefix of it, or last")
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn list() -> Command {
    Command::new("list")
        .about("List runs, the newest first")
        .args([
            Arg::new("target")
                .long("target")
                .value_name("TASK")
                .help("List only runs of this task"),
            Arg::new("status")
                .long("status")
                .value_name("STATUS")
                .value_parser([
                    "running",
                    "executed",
                    "failed",
                    "drifted",
                    "refused",
                    "interrupted",
                    "crashed",
                ])
                .help("List only runs with this status"),
            flag("failed", "List only runs that failed, were interrupted or crashed")
                .conflicts_with("status"),
            option("since", "TIME", "List only runs that started then or later: 2d, 2026-11-18"),
            option("until", "TIME", "List only runs that started before"),
            option("host", "NAME", "List only runs on this machine"),
            option("commit", "COMMIT", "List only runs of this commit, by its first digits"),
            option("contract", "FILE|ID", "List only runs of this contract"),
            option("step", "PATH", "List only runs with this step"),
            option("grep", "TEXT", "List only runs whose steps printed this text"),
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .default_value("20")
                .help("List at most N runs"),
            root(),
            json(),
        ])
        .after_help(
            "Examples:\n  opal runs list\n  opal runs list --target deploy --status failed\n  \
             opal runs list --failed --since 2d\n  opal runs list --grep 'connection refused'",
        )
}

fn show() -> Command {
    Command::new("show")
        .about("Show how a run went")
        .args([
            run("run").default_value("last"),
            Arg::new("logs")
                .long("logs")
                .value_name("STEP")
                .num_args(0..=1)
                .default_missing_value("")
                .conflicts_with("events")
                .help("Print the output of all steps, or only of STEP, by its number or path"),
            flag("events", "Print the events, one JSON object on each line"),
            root(),
            json(),
        ])
        .after_help(
            "Examples:\n  opal runs show last\n  opal runs show last --logs\n  \
             opal runs show 20261115T08 --logs 3\n  opal runs show last --events | jq .kind",
        )
}

fn diff() -> Command {
    Command::new("diff")
        .about("Compare two runs: their plans, how they ended, and each step")
        .args([run("before").required(true), run("after").required(true), root(), json()])
        .after_help(
            "Exit: 0 the same, 1 different; durations are not compared.\n\nExample:\n  opal runs \
             diff 20261114 last",
        )
}

fn report() -> Command {
    Command::new("report")
        .about("Write the report of a run, from its record")
        .args([
            run("run").default_value("last"),
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .required(true)
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Write FILE.html, .md, .xml (JUnit) or .json; may be repeated"),
            root(),
        ])
        .after_help("Example:\n  opal runs report last -o run.html")
}

fn stats() -> Command {
    Command::new("stats")
        .about("Show how often tasks fail, how long they take, and since when")
        .args([
            Arg::new("task").value_name("TASK").help("Show also each step of this task"),
            root(),
            json(),
        ])
        .after_help("Examples:\n  opal runs stats\n  opal runs stats deploy")
}

fn sql() -> Command {
    Command::new("sql")
        .about("Query all runs with SQL")
        .args([
            Arg::new("query").value_name("QUERY").required(true).help("One SELECT statement"),
            flag("csv", "Print CSV").conflicts_with("json"),
            root(),
            json(),
        ])
        .after_help(
            "The tables are runs, steps, verifications and approvals, with the names that `opal runs \
             export` uses.\n\nExamples:\n  opal runs sql 'SELECT task, count(*) FROM runs GROUP BY \
             task'\n  opal runs sql \"SELECT id, host FROM runs WHERE status = 'failed'\" --csv",
        )
}

fn export() -> Command {
    Command::new("export")
        .about("Print runs as JSON Lines for databases, or send one to OpenTelemetry")
        .args([
            run("run").requires("otlp"),
            flag("otlp", "Send RUN as a trace and metrics, to OTEL_EXPORTER_OTLP_ENDPOINT")
                .requires("run")
                .conflicts_with_all(["format", "since"]),
            option("format", "FORMAT", "The format: jsonl")
                .value_parser(["jsonl"])
                .default_value("jsonl"),
            option(
                "since",
                "CURSOR|TIME",
                "Only what the export that gave this cursor did not have",
            ),
            root(),
        ])
        .after_help(
            "The last line has the cursor for the next export. Runs that go on are left for it.\n\n\
             Examples:\n  opal runs export > runs.jsonl\n  opal runs export --since 2d\n  opal runs export last --otlp",
        )
}

fn tail() -> Command {
    Command::new("tail")
        .about("Follow a run to its end: steps and their output")
        .args([
            run("run").help("An id, a prefix of it, or last; by default the newest running one"),
            queue::pool()
                .requires("run")
                .help("Read what the runners of this pool say about an order of `opal dispatch`"),
        ])
        .args(queue::server().map(|option| option.requires("pool")))
        .args([root(), json().help("Print the events, one JSON object on each line")])
        .after_help(
            "Examples:\n  opal runs tail\n  opal runs tail 3f2a9c01 --pool eu    an order: events that are not \
             signed, missing or repeated are marked",
        )
}

fn cleanup() -> Command {
    Command::new("cleanup")
        .about("Close what plugins opened in a run and did not close")
        .args([run("run"), root(), json()])
        .after_help(
            "A plugin could not close what it opened if opal was killed, the machine lost power or \
             the plugin crashed twice. The plugin must be installed and accepted as it was in the \
             run.\n\nExample:\n  opal runs cleanup last",
        )
}

fn prune() -> Command {
    Command::new("prune")
        .about("Remove the records of old runs, but not of running ones")
        .args([
            Arg::new("keep")
                .long("keep")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .help(
                    "Keep the newest N direct runs of each task; 100 by default, or 0 with an age",
                ),
            Arg::new("before")
                .long("before")
                .value_name("DATE")
                .conflicts_with("older-than")
                .help("Remove only runs that started before this day (UTC), as in 2026-01-31"),
            Arg::new("older-than")
                .long("older-than")
                .value_name("DURATION")
                .help("Remove only runs that started longer ago, as in 30d"),
            flag("dry-run", "Remove nothing; show what would be removed"),
            root(),
            json(),
        ])
        .after_help(
            "Records of contracts, including refused ones, are removed only by age: with --before \
             or --older-than.\n\nExamples:\n  opal runs prune --keep 10\n  opal runs prune \
             --older-than 30d --dry-run\n  opal runs prune --before 2026-01-31",
        )
}
