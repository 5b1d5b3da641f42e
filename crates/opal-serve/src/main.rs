//! The `opal-serve` binary: parts of opal that need an async runtime or a database. `opal` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    opal_serve::run(std::env::args_os().skip(1))
}
