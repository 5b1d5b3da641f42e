//! `opal keys`.

use clap::{Arg, Command};

use super::shared::{flag, json, root};

pub(super) fn keys() -> Command {
    Command::new("keys")
        .about("Make and show keys: the runner key of this machine, and keys to sign with")
        .subcommand_required(true)
        .subcommands([
            Command::new("generate")
                .about("Make a key; the private half stays under the runtime root")
                .args([
                    Arg::new("name").value_name("NAME").help("Its name; else signing, or runner"),
                    flag("sign", "A key to sign contracts with, which is the default"),
                    flag("seal", "A key that contracts can be sealed to").conflicts_with("sign"),
                    root(),
                    json(),
                ])
                .after_help(
                    "Examples:\n  opal keys generate release\n  opal keys generate ci --seal",
                ),
            Command::new("list")
                .about("List the keys under the runtime root")
                .args([root(), json()])
                .after_help("Example:\n  opal keys list"),
            Command::new("show")
                .about("Print the public half of a key")
                .args([
                    Arg::new("name").value_name("NAME").help("A key; else the runner's in use"),
                    Arg::new("identity")
                        .long("identity")
                        .value_name("FILE|cmd:PROGRAM")
                        .conflicts_with("name")
                        .help("A runner key for this once; else $OPAL_IDENTITY or the machine's"),
                    root(),
                    json(),
                ])
                .after_help("Examples:\n  opal keys show runner\n  opal keys show release"),
        ])
        .after_help("Examples:\n  opal keys generate release\n  opal keys show runner")
}
