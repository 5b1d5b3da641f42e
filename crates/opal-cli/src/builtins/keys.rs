//! `opal keys`.

use clap::{Arg, Command};

use super::shared::{flag, json, root};

pub(super) fn keys() -> Command {
    Command::new("keys")
        .about("Make and show keys: the runner key of this machine, and signing keys")
        .subcommand_required(true)
        .subcommands([
            Command::new("generate")
                .about("Make a key; the private key stays under the runtime root")
                .args([
                    Arg::new("name").value_name("NAME").help("The name; by default signing, runner or approve"),
                    flag("sign", "Make a key for signing contracts (default)"),
                    flag("seal", "Make a key that contracts can be sealed to").conflicts_with("sign"),
                    flag("approve", "Make a key with a passphrase for `opal plan approve`")
                        .conflicts_with_all(["sign", "seal"]),
                    root(),
                    json(),
                ])
                .after_help(
                    "Examples:\n  opal keys generate release\n  opal keys generate ci --seal\n  \
                     opal keys generate ann --approve",
                ),
            Command::new("list")
                .about("List the keys under the runtime root")
                .args([root(), json()])
                .after_help("Example:\n  opal keys list"),
            Command::new("show")
                .about("Print the public key")
                .args([
                    Arg::new("name").value_name("NAME").help("The key; by default the runner key in use"),
                    Arg::new("identity")
                        .long("identity")
                        .value_name("FILE|cmd:PROGRAM")
                        .conflicts_with("name")
                        .help("The runner key to use; by default $OPAL_IDENTITY or the key of this machine"),
                    root(),
                    json(),
                ])
                .after_help("Examples:\n  opal keys show runner\n  opal keys show release"),
        ])
        .after_help("Examples:\n  opal keys generate release\n  opal keys show runner")
}
