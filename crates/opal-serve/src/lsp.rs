//! The part for editors: the language server on standard input and output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use opal_lsp::{Ended, Settings, transport};

/// Serves until the editor ends. The argument is the directory of the packages on this machine.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let packages = words.next().map(PathBuf::from);
    let settings = Settings { version: env!("CARGO_PKG_VERSION").to_owned(), packages };
    let (connection, streams) = transport::connect(std::io::stdin(), std::io::stdout());
    let ended = opal_lsp::serve(&connection, &settings);
    // The writer ends once nobody can send any more; the reader may wait for its client for ever.
    drop(connection);
    if ended == Ended::Well {
        streams.finish();
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}
