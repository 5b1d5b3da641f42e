//! The `opal-commands` binary: `opal` with all its commands. `opal` becomes it for those that few runs need.

use std::process::ExitCode;

fn main() -> ExitCode {
    opal_cli::opal_commands()
}
