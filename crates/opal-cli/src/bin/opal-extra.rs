//! The `opal-extra` binary: what few runs need, and what is large. `opal` starts it when it needs it.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 || std::io::stdin().is_terminal() {
        // Nobody may be reading.
        let _ = writeln!(
            std::io::stderr(),
            "error: `opal-extra` is a helper, which `opal` starts when it needs it\n  \
             help: see `opal --help`"
        );
        return ExitCode::from(2);
    }
    opal_extra::serve()
}
