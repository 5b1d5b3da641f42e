//! The target helper: serves the session of its machine to opal, over standard input and output.
//!
//! opal sends it to a target and starts it there; nobody else does. Everything that it does is in
//! `opal_session::wire::server`.

use std::process::ExitCode;

use opal_session::wire::server::program;

fn main() -> ExitCode {
    match program::run(&[], std::env::args_os().skip(1), std::env::vars_os().collect()) {
        Ok(code) => ExitCode::from(code),
        Err(ended) => complain(&ended),
    }
}

#[expect(clippy::print_stderr, reason = "what opal shows if the helper does not answer; no values")]
fn complain(ended: &program::Ended) -> ExitCode {
    eprintln!("opal-target: {ended}");
    ExitCode::FAILURE
}
