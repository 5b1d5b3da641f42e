//! `opal plugin`: packages of decorators.

use clap::{Arg, Command, ValueHint};

use super::publishing;
use super::shared::{json, root};
use crate::commands::plugin::author::{KINDS, LANGUAGES};

fn directory(help: &'static str) -> Arg {
    Arg::new("directory")
        .value_name("DIR")
        .required(true)
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::DirPath)
        .help(help)
}

fn accept() -> Arg {
    Arg::new("accept")
        .long("accept")
        .value_name("FILE")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("Accept what this list names, as `opal plugin accepted` prints it, and ask nothing")
}

fn from() -> Arg {
    Arg::new("from")
        .long("from")
        .value_name("DIR")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::DirPath)
        .help("Read the packages of registries from this mirror")
}

fn trust() -> Arg {
    Arg::new("trust")
        .long("trust")
        .action(clap::ArgAction::SetTrue)
        .help("Trust another key of a Terraform provider, or a mirror that nothing vouches for")
}

fn package(help: &'static str) -> Arg {
    Arg::new("package").value_name("PACKAGE").help(help)
}

/// `opal plugin add`, which is `opal add` too.
pub(super) fn add() -> Command {
    Command::new("add")
        .about("Add a package of decorators to this project")
        .args([
            package("A directory, a name in a registry, a git repository or a Terraform provider: ./plugins/house, acme/vault@1.2, github.com/team/k8s@v1, terraform/hashicorp/aws@6.47").required(true),
            Arg::new("as")
                .long("as")
                .value_name("NAME")
                .help("The first segment of its decorators in this project"),
            Arg::new("allow")
                .long("allow")
                .value_name("CAPABILITY")
                .action(clap::ArgAction::Append)
                .help("A host that the package leaves to you: net:vault.example; may be repeated"),
            accept(),
            trust(),
            root(),
            json(),
        ])
        .after_help(
            "It shows what the package can do, asks, and writes opal.mod and opal.lock.\n\n\
             Examples:\n  opal plugin add ./plugins/house\n  opal plugin add acme/vault@1.2 --as v --allow net:vault.example\n  opal plugin add github.com/team/k8s@v1.0.0",
        )
}

fn choice(
    name: &'static str,
    value: &'static str,
    of: &'static [&'static str],
    help: &'static str,
) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .value_parser(of.to_vec())
        .default_value(of[0])
        .help(help)
}

fn verify() -> Command {
    Command::new("verify")
        .about("Test a package: its manifest, its tests and the laws of decorators")
        .args([
            directory("The directory of the package; by default the current one").required(false),
            Arg::new("report")
                .long("report")
                .value_name("FILE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Write the report to this file, as JSON"),
            Arg::new("rebuild")
                .long("rebuild")
                .num_args(0)
                .action(clap::ArgAction::SetTrue)
                .help("Build the code again with the command of `[build]`, and compare"),
            root(),
            json(),
        ])
        .after_help(
            "The code runs in the sandbox and gets the answers of the tests, nothing of this machine.\n\
             With --rebuild, the command of `[build]` runs as you: use it for packages that you trust.\n\n\
             Examples:\n  opal plugin verify\n  opal plugin verify plugins/house --report report.json",
        )
}

pub(super) fn plugin() -> Command {
    Command::new("plugin")
        .about("Add, accept and inspect packages of decorators")
        .subcommand_required(true)
        .subcommands([
            add(),
            Command::new("remove")
                .about("Remove a package from this project")
                .args([package("The key in opal.mod, or the name").required(true), root(), json()])
                .after_help("Example:\n  opal plugin remove ./plugins/house"),
            Command::new("update")
                .about("Update packages within the versions of opal.mod, and accept what changed")
                .args([
                    package("Only these packages").num_args(0..),
                    accept(),
                    trust(),
                    root(),
                    json(),
                ])
                .after_help("Examples:\n  opal plugin update\n  opal plugin update acme/vault"),
            Command::new("install")
                .about("Fetch what opal.lock has, and accept the packages on this machine")
                .args([accept(), from(), trust(), root(), json()])
                .after_help(
                    "Examples:\n  opal plugin install\n  opal plugin install --accept /etc/opal/accepted.toml",
                ),
            Command::new("search")
                .about("Search the registries of this project")
                .args([
                    Arg::new("word").value_name("WORD").num_args(1..).required(true).help("Words of the name, the summary or a decorator"),
                    root(),
                    json(),
                ])
                .after_help("Example:\n  opal plugin search vault"),
            Command::new("list")
                .about("List the packages of this project")
                .args([root(), json()])
                .after_help("Example:\n  opal plugin list"),
            Command::new("info")
                .about("Show what a package is, has and can do")
                .args([package("The key in opal.mod, the name, a directory, or a name in a registry").required(true), root(), json()])
                .after_help("Example:\n  opal plugin info ./plugins/house"),
            Command::new("accepted")
                .about("Print what was accepted on this machine, for --accept on another")
                .args([root(), json()])
                .after_help("Example:\n  opal plugin accepted > accepted.toml"),
            Command::new("trust")
                .about("Let packages below a directory change without a question on this machine")
                .args([directory("The directory of your own packages"), root(), json()])
                .after_help("Example:\n  opal plugin trust ./plugins"),
            Command::new("init")
                .about("Write a first package: in opal, or in a language that gives WebAssembly")
                .args([
                    directory("A new directory"),
                    choice("language", "LANGUAGE", &LANGUAGES, "What it is written in"),
                    choice("kind", "KIND", &KINDS, "What its decorator is"),
                    json(),
                ])
                .after_help(
                    "Examples:\n  opal plugin init plugins/house\n  opal plugin init plugins/vault --language rust --kind state",
                ),
            verify(),
            publishing::pack(),
            publishing::publish(),
            publishing::yank(),
            publishing::mirror(),
        ])
        .after_help("Examples:\n  opal plugin init plugins/house\n  opal plugin add ./plugins/house")
}
