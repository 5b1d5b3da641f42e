//! The `opal` binary, with the commands that most runs need.

use std::process::ExitCode;

fn main() -> ExitCode {
    opal_cli::opal()
}
