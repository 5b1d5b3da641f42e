//! `opal audit`.

use clap::{Arg, Command, ValueHint};

use super::shared::{json, root};

pub(super) fn audit() -> Command {
    Command::new("audit")
        .about("Export the records of contracts, and check that none was edited or removed")
        .subcommand_required(true)
        .subcommands([export(), verify()])
        .after_help(
            "Examples:\n  opal audit verify\n  opal audit export --sign release > audit.jsonl",
        )
}

fn export() -> Command {
    Command::new("export")
        .about("Print the records of contract runs, refusals and rejections, one JSON object on each line")
        .args([
            Arg::new("since")
                .long("since")
                .value_name("TIME")
                .help("Only records that ended then or later: 2d, 2026-11-18"),
            Arg::new("sign")
                .long("sign")
                .value_name("KEY")
                .help("Sign all lines with this key of `opal keys`; the signature is the last line"),
            root(),
        ])
        .after_help(
            "Direct runs are not in it.\n\nExamples:\n  opal audit export > audit.jsonl\n  \
             opal audit export --since 30d --sign release > audit.jsonl",
        )
}

fn verify() -> Command {
    Command::new("verify")
        .about("Check the chain of records of this machine, or an export")
        .args([
            Arg::new("file")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .help("An export; by default the records of this machine"),
            Arg::new("key")
                .long("key")
                .value_name("KEY")
                .requires("file")
                .help("Require a signature by this key"),
            root(),
            json(),
        ])
        .after_help(
            "Exit: 0 nothing is missing or edited, 1 something is. What was removed at the end of the chain \
             leaves no trace; an export that is stored elsewhere shows it.\n\n\
             Examples:\n  opal audit verify\n  opal audit verify audit.jsonl --key release",
        )
}
