//! The helper `opal-terraform`: drives the providers of Terraform and OpenTofu for opal.

use std::process::ExitCode;

use opal_terraform::process::exec;

/// A provider cannot be started.
const NOT_STARTED: u8 = 126;

/// The other side does not keep to the protocol.
const PROTOCOL: u8 = 76;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == exec::WORD) {
        let _ = exec::exec(arguments);
        return ExitCode::from(NOT_STARTED);
    }
    ExitCode::from(PROTOCOL)
}
