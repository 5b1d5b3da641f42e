//! All that this helper says to people. Documents go to standard output, everything else to standard error.

use std::io::Write as _;
use std::process::ExitCode;

use opal_core::view::visible;

/// Says why it ends.
pub(crate) fn fail(why: &str, help: &str, code: u8) -> ExitCode {
    say(&format!("error: {why}\n  help: {help}"));
    ExitCode::from(code)
}

/// Says something. Nobody may be reading.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible::lines(text));
}

/// Prints what was asked for.
pub(crate) fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", visible::lines(text));
}
