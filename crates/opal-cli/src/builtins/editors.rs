//! The commands for editors.

use clap::{Arg, ArgAction, Command, ValueHint};

use super::shared::{flag, json};

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

/// What `opal self` reaches and no other way: nothing is taken from the names of tasks.
pub(crate) fn syntax() -> Command {
    Command::new("syntax")
        .about("Show what each character of a source is, for the grammars of editors")
        .args([
            Arg::new("file")
                .value_name("FILE")
                .required_unless_present("words")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("A source file, - for standard input"),
            flag("words", "Show the keywords, types and built-in paths instead")
                .conflicts_with("file"),
            json(),
        ])
        .after_help(
            "Exit: 0 success, 65 the source has syntax errors, 66 the file could not be read.\n\n\
             Examples:\n  opal self syntax commands.opl\n  opal self syntax commands.opl --json\n  \
             opal self syntax --words --json",
        )
}
