//! `opal man`: the manual pages, from the table of the commands.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};
use clap_mangen::Man;

use crate::builtins;
use crate::failure::{Exit, Failure};
use crate::view;

pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(folder) = matches.get_one::<PathBuf>("out") {
        for (name, command) in pages() {
            let path = folder.join(format!("{name}.1"));
            write(&path, &rendered(name, command)?)?;
        }
        return Ok(Exit::Done);
    }
    let wanted = match matches.get_one::<String>("name") {
        Some(name) => format!("opal-{name}"),
        None => "opal".to_owned(),
    };
    let found = pages().into_iter().find(|(name, _)| *name == wanted);
    let Some((name, command)) = found else {
        let message = format!("no manual page `{wanted}`");
        return Err(Failure::usage(message, "see `opal --help` for the names of the commands"));
    };
    view::print_bytes(&rendered(name, command)?)
}

/// One page for opal, and one for each command and subcommand.
fn pages() -> Vec<(String, Command)> {
    let opal = builtins::opal();
    let mut pages = vec![("opal".to_owned(), opal.clone())];
    let mut at = 0;
    while let Some((name, command)) = pages.get(at) {
        let below = command.get_subcommands();
        let below: Vec<_> =
            below.map(|it| (format!("{name}-{}", it.get_name()), it.clone())).collect();
        pages.extend(below);
        at += 1;
    }
    pages
}

fn rendered(name: String, command: Command) -> Result<Vec<u8>, Failure> {
    let words = name.replace('-', " ");
    // The page of a command has the name of its file, and its usage is what is typed.
    let command = command.name(name).bin_name(words).disable_help_subcommand(true);
    let mut page = Vec::new();
    let written = Man::new(command)
        .source(concat!("opal ", env!("CARGO_PKG_VERSION")))
        .manual("opal")
        .render(&mut page);
    written.map_err(|error| Failure::unwritable("the manual page", &error))?;
    Ok(page)
}

fn write(path: &Path, page: &[u8]) -> Result<(), Failure> {
    super::plan::file::write_file(path, page)
}
