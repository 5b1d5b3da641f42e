//! `opal verify`, `opal apply` and `opal convert`.

use clap::{Arg, Command, ValueHint};

use super::shared::{arguments, flag, source};
use crate::options;

pub(super) fn verify() -> Command {
    Command::new("verify")
        .about("Look at the resources of a task or a configuration, and change nothing")
        .args(options::verify_args())
        .args([
            source(),
            Arg::new("target")
                .required(true)
                .value_name("TASK|FILE.opl|CONFIG.yaml")
                .value_hint(ValueHint::FilePath)
                .help("What to look at"),
            arguments("For the task or the script"),
        ])
        .after_help(
            "Exit: 0 everything is as described, 1 something is not, 2 the configuration or the \
             command line is wrong, 3 it could not be done.\n\n\
             Examples:\n  opal verify server.yaml\n  opal verify server.yaml --verbose    \
             with the differences\n  opal verify server.yaml --only nginx --only motd\n  \
             opal verify deploy production --json | jq '.summary'",
        )
}

pub(super) fn apply() -> Command {
    Command::new("apply")
        .about("Bring about what a configuration describes; what is as described stays untouched")
        .args(options::apply_args())
        .arg(config().help("A declarative configuration"))
        .after_help(
            "Exit: 0 done, 1 a step failed or is blocked, 2 the configuration or the command line \
             is wrong; else as `opal run`.\n\n\
             Examples:\n  opal apply server.yaml\n  opal apply server.yaml --dry-run    \
             what would change\n  opal apply server.yaml --verify-first",
        )
}

pub(super) fn convert() -> Command {
    Command::new("convert")
        .about("Print a configuration as a program, or a Go template as a Jinja template")
        .args([
            config()
                .value_name("FILE")
                .help("A configuration (.yaml), or a Go template (.tmpl, .gotmpl, .tpl)"),
            Arg::new("from")
                .long("from")
                .value_name("FORMAT")
                .value_parser(["go-template"])
                .help("What FILE is, whatever its name"),
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Write to FILE, which must not be there yet; else to standard output"),
            Arg::new("output").long("output").hide(true),
            flag("force", "Write over a FILE that is there").requires("out"),
        ])
        .after_help(
            "Examples:\n  opal convert server.yaml\n  opal convert server.yaml -o server.opl\n  \
             opal convert app.conf.tmpl -o app.conf.j2",
        )
}

fn config() -> Arg {
    Arg::new("config")
        .required(true)
        .value_name("CONFIG.yaml")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
}
