//! `opal module`.

use clap::{Arg, Command, ValueHint};

use super::json;

/// What the next versions do with a module: said to be missing, never mistaken for a typing error.
pub(crate) const LATER: [&str; 6] = ["apply", "deploy", "destroy", "plan", "preflight", "verify"];

pub(super) fn module() -> Command {
    Command::new("module")
        .about("Look at modules: what they want, and whether everything for it is there")
        .subcommand_required(true)
        .allow_external_subcommands(true)
        .subcommands([list(), show(), validate(), lint()])
        .after_help(
            "Modules are found below `--module-root`, $HYOPS_MODULES_ROOT, or `modules/` beside the \
             installed opal; packs below $HYOPS_PACKS_ROOT, or in `packs/` beside the modules.\n\n\
             Exit: 0 all is well, 65 something is wrong, 66 it is not there, 78 a root is not there.\n\n\
             Examples:\n  opal module list\n  opal module show core/network\n  \
             opal module validate core.network --inputs prod.yml\n  opal module lint modules packs",
        )
}

fn list() -> Command {
    Command::new("list")
        .about("List the modules there are")
        .args([module_root(), json()])
        .after_help(
            "Examples:\n  opal module list\n  opal module list --json | jq -r '.modules[].module_ref'",
        )
}

fn show() -> Command {
    Command::new("show")
        .about("Show what a module wants: inputs, credentials, dependencies, outputs")
        .args([reference(), module_root(), json()])
        .after_help(
            "Examples:\n  opal module show core/network\n  opal module show core.network --json",
        )
}

fn validate() -> Command {
    Command::new("validate")
        .about("Check a module, its profile, its pack and its inputs, without running anything")
        .args([
            reference(),
            Arg::new("inputs")
                .long("inputs")
                .value_name("FILE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Inputs in YAML; $HYOPS_INPUT_<key> and $HYOPS_INPUTS_JSON win over them"),
            module_root(),
            json(),
        ])
        .after_help(
            "Examples:\n  opal module validate core/network\n  \
             opal module validate core/network --inputs prod.yml\n  \
             HYOPS_INPUT_network__mtu=9000 opal module validate core/network",
        )
}

fn lint() -> Command {
    Command::new("lint")
        .about("Look through directories of modules, profiles, blueprints and packs")
        .args([
            Arg::new("folders")
                .required(true)
                .num_args(1..)
                .value_name("DIR")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::DirPath)
                .help("What to look through"),
            json(),
        ])
        .after_help(
            "Examples:\n  opal module lint modules\n  opal module lint modules packs --json",
        )
}

fn reference() -> Arg {
    Arg::new("module")
        .required(true)
        .value_name("REF")
        .help("A module: core/network, or core.network")
}

fn module_root() -> Arg {
    Arg::new("module-root")
        .long("module-root")
        .value_name("DIR")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::DirPath)
        .help("The directory of the modules")
}
