//! Arguments that several commands take.

use clap::{Arg, ArgAction, ValueHint};

/// `-f` is also taken behind the names of commands that read a file.
pub(super) fn file() -> Arg {
    Arg::new("file")
        .short('f')
        .long("file")
        .value_name("FILE")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("The source file; by default commands.opl, here or in a parent directory")
}

/// `-g` is also taken behind the names of commands that read a file.
pub(super) fn global() -> Arg {
    Arg::new("global")
        .short('g')
        .long("global")
        .action(ArgAction::SetTrue)
        .help("Use ~/.config/opal/commands.opl; its tasks start in the working directory")
}

/// `--root` is also taken behind the names of commands that use it.
pub(super) fn root() -> Arg {
    Arg::new("root")
        .long("root")
        .value_name("DIR")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::DirPath)
        .help("The directory for keys and records; by default $OPAL_ROOT or ~/.opal")
}

pub(super) fn json() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document")
}

pub(super) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// `-f` where `FILE` is something else.
pub(super) fn source() -> Arg {
    file().id("source")
}

pub(super) fn arguments(help: &'static str) -> Arg {
    Arg::new("arguments")
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .value_name("ARGUMENTS")
        .help(help)
}
