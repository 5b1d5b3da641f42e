//! The helper `opal-serve`: parts of opal that need an async runtime or a database, and that few people use.
//!
//! Its first argument names the part, its second one the build of the `opal` that started it; the others are
//! the part's own.
//!
//! | part | what it is |
//! |---|---|
//! | `index` | queries over runs (`opal runs stats`, `opal runs sql`), in a database that is derived from records |
//! | `lsp` | serving editors: only starts the crate `opal-lsp` |
//! | [`mcp`] | tools for agents, by the Model Context Protocol |
//! | `otlp` | sending a run as a trace and metrics, after it (`--otlp`) |
//! | [`ui`] | pages for a person: inbox, contracts, records |
//!
//! `child` starts `opal`, for agents and pages.
//!
//! Deliberately not here: planning, verifying and running. A part that needs one of them starts `opal`.

mod child;
mod index;
mod lsp;
mod mcp;
mod notice;
mod otlp;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use notice::fail;
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
    // Values must not be in a file after a crash.
    opal_files::memory::keep_private();
    match part.to_str() {
        Some("lsp") => lsp::run(words),
        Some(part) if part == index::PART => index::serve(),
        Some("mcp") => mcp::run(words),
        Some("ui") => ui::run(words),
        Some(part) if part == otlp::PART => otlp::serve(),
        _ => fail(&format!("`{SERVE}` has no such part"), "see `opal --help`", 2),
    }
}
