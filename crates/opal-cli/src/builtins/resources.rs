//! `opal verify`, `opal apply`, `opal convert` and `opal adopt`.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};

use super::shared::{arguments, flag, global, json, root, source};
use crate::options;

pub(super) fn verify() -> Command {
    Command::new("verify")
        .about("Verify the resources of a task or a configuration, without changing anything")
        .args(options::verify_args())
        .args([
            source(),
            global(),
            Arg::new("target")
                .required(true)
                .value_name("TASK|FILE.opl|CONFIG.yaml")
                .value_hint(ValueHint::FilePath)
                .help("The task or file to verify"),
            arguments("Arguments of the task or the script"),
        ])
        .after_help(
            "Exit: 0 everything is in the desired state, 1 something is not, 2 the configuration \
             or the command line is invalid, 3 verification failed.\n\nExamples:\n  opal verify \
             server.yaml\n  opal verify server.yaml --verbose    with the differences\n  opal \
             verify server.yaml --only nginx --only motd\n  opal verify deploy production --json \
             | jq '.summary'",
        )
}

pub(super) fn apply() -> Command {
    Command::new("apply")
        .about("Apply a configuration; resources in the desired state are not touched")
        .args(options::apply_args())
        .arg(config().help("A declarative configuration"))
        .after_help(
            "Exit: 0 done, 1 a step failed or is blocked, 2 the configuration or the command line \
             is invalid; otherwise as `opal run`.\n\nExamples:\n  opal apply server.yaml\n  opal \
             apply server.yaml --dry-run    what would change\n  opal apply server.yaml \
             --verify-first",
        )
}

pub(super) fn convert() -> Command {
    Command::new("convert")
        .about("Convert tasks of other tools, configurations and Go templates")
        .args([
            config().value_name("FILE").help(
                "A justfile, Makefile, Taskfile.yml or package.json, a configuration (.yaml), or a \
                 Go template (.tmpl, .gotmpl, .tpl)",
            ),
            Arg::new("from")
                .long("from")
                .value_name("FORMAT")
                .value_parser(formats())
                .help("The format of FILE, regardless of its name"),
            out(),
            Arg::new("output").long("output").hide(true),
            flag("force", "Overwrite an existing FILE").requires("out"),
            flag("json", "Print the result and the report as JSON"),
            flag("inline", "Translate scripts of a package.json, instead of calling its manager"),
        ])
        .after_help(
            "Exit codes: 0 everything was converted, 1 something was omitted, 2 FILE cannot be read.\n\n\
             Examples:\n  opal convert justfile -o commands.opl\n  opal convert server.yaml -o server.opl\n  \
             opal convert app.conf.tmpl -o app.conf.j2",
        )
}

pub(super) fn adopt() -> Command {
    Command::new("adopt")
        .about("Write steps for the objects of a Terraform state file, and verify them")
        .args([
            Arg::new("state")
                .required(true)
                .value_name("STATE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("A state file of Terraform or OpenTofu (version 4); it is only read"),
            out(),
            flag("force", "Overwrite an existing FILE").requires("out"),
            root(),
            json(),
        ])
        .after_help(
            "Only providers of this project start, and only if they are accepted on this machine. The \
             environment configures them. Sensitive values are not written: the steps read them from the \
             environment.\n\n\
             Exit: 0 every object has a step and is in the desired state, 1 some do not, 65 STATE is not a \
             state file, 66 STATE cannot be read, 74 FILE cannot be written.\n\n\
             Examples:\n  opal adopt terraform.tfstate\n  opal adopt terraform.tfstate -o infra.opl\n  \
             terraform state pull > pulled.tfstate && opal adopt pulled.tfstate -o infra.opl\n  \
             opal adopt terraform.tfstate --json | jq '.objects[] | select(.status != \"satisfied\")'",
        )
}

fn out() -> Arg {
    Arg::new("out")
        .short('o')
        .long("out")
        .value_name("FILE")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("Write to FILE, which must not exist; by default to standard output")
}

/// What `--from` takes.
fn formats() -> PossibleValuesParser {
    let tasks = opal_convert::Format::ALL.into_iter().map(opal_convert::Format::name);
    tasks.chain(["go-template"]).collect::<Vec<_>>().into()
}

fn config() -> Arg {
    Arg::new("config")
        .required(true)
        .value_name("CONFIG.yaml")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
}
