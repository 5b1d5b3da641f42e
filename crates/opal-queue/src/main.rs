//! The `opal-queue` binary: contracts that are sent to runners. `opal` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    opal_queue::run(std::env::args_os().skip(1))
}
