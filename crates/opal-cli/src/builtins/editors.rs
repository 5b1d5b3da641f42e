//! The command for editors.

use clap::{Arg, ArgAction, Command};

pub(super) fn lsp() -> Command {
    Command::new("lsp")
        .about("Serve an editor: mistakes, completion and navigation in sources")
        .arg(
            Arg::new("stdio")
                .long("stdio")
                .action(ArgAction::SetTrue)
                .help("Speak on standard input and output; there is no other way"),
        )
        .after_help(
            "An editor starts this command. It checks what is open in the editor, and runs nothing.\n\n\
             Set it up: docs/guide/editors.md has a few lines for each editor.",
        )
}
