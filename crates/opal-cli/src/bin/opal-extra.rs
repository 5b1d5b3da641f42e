//! The `opal-extra` binary: what few runs need, and what is large. `opal` starts it when it needs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    opal_extra::serve()
}
