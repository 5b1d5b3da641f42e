//! The helper `opal-serve`: parts of opal that need an async runtime or a database, and that few people use.
//!
//! Its first argument names the part, its second one the build of the `opal` that started it; the others are
//! the part's own.
//!
//! Deliberately not here: planning, verifying and running. A part that needs one of them starts `opal`.

mod index;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use opal_helper::{BUILD, SERVE, Unusable};

/// `EX_UNAVAILABLE`: it cannot be used as it is installed.
const UNAVAILABLE: u8 = 69;

/// Runs the part that is named.
#[must_use]
pub fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let (part, build) = (words.next(), words.next());
    let (Some(part), Some(build)) = (part, build) else {
        let why = format!("`{SERVE}` is a helper, which `opal` starts when it needs it");
        return fail(&why, "see `opal --help`", 2);
    };
    if build != BUILD {
        let build: String =
            build.to_string_lossy().chars().filter(char::is_ascii_graphic).take(80).collect();
        let why = format!("`{SERVE}` is of another build: it is {BUILD}, and opal is {build}");
        return fail(&why, &Unusable::OtherBuild { name: SERVE, build }.help(), UNAVAILABLE);
    }
    let part = part.to_string_lossy().into_owned();
    if part == index::PART {
        return index::serve();
    }
    fail(&format!("`{SERVE}` has no part `{part}`"), "see `opal --help`", 2)
}

/// Says why it ends.
fn fail(why: &str, help: &str, code: u8) -> ExitCode {
    // Nobody may be reading.
    let _ = writeln!(std::io::stderr(), "error: {why}\n  help: {help}");
    ExitCode::from(code)
}
