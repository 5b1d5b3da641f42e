//! `opal blueprint`.

use std::path::PathBuf;

use clap::{Arg, Command, ValueHint};

use super::modules::{module_root, out_dir, runtime_root, skip_preflight};
use super::shared::json;
use crate::options;

pub(crate) fn blueprint() -> Command {
    Command::new("blueprint")
        .about("Run modules in order: check a blueprint, show what it would do, apply it")
        .subcommand_required(true)
        .subcommands(commands("opal blueprint"))
        .after_help(
            "Name a blueprint by its file, or by its reference below `--blueprints-root`, by \
             default `blueprints/` next to the modules.\n\nExamples:\n  opal blueprint validate \
             demo/site@v1\n  opal blueprint plan demo/site@v1\n  opal blueprint apply \
             demo/site@v1",
        )
}

/// All commands for blueprints, as `program` is called.
pub(crate) fn commands(program: &str) -> [Command; 3] {
    let example = |verb| format!("Example:\n  {program} {verb} demo/site@v1");
    [
        Command::new("validate")
            .about("Check a blueprint, and that all its modules exist")
            .args([named(), blueprints_root(), module_root(), runtime_root(), json()])
            .after_help(example("validate")),
        Command::new("plan")
            .about("Show which steps would run, which would be skipped, and which wait for others")
            .args([named(), blueprints_root(), module_root(), runtime_root(), json()])
            .args(options::variables_args())
            .after_help(example("plan")),
        Command::new("apply")
            .about("Run the steps in order; stop at the first failure")
            .args([
                named(),
                blueprints_root(),
                module_root(),
                runtime_root(),
                out_dir(),
                skip_preflight(),
            ])
            .args(options::blueprint_args())
            .after_help(example("apply")),
    ]
}

fn named() -> Arg {
    Arg::new("blueprint")
        .required(true)
        .value_name("REF|FILE")
        .value_hint(ValueHint::FilePath)
        .help("A blueprint: demo/site@v1, or its file")
}

fn blueprints_root() -> Arg {
    Arg::new("blueprints-root")
        .long("blueprints-root")
        .value_name("DIR")
        .value_parser(clap::value_parser!(PathBuf))
        .value_hint(ValueHint::DirPath)
        .help("The directory of the blueprints")
}
