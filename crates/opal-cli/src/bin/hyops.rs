//! The `hyops` binary: the commands of `opal module` and `opal blueprint`, by the names that operators
//! of modules know.
//!
//! All of it is in the `opal` that it was installed with: this only calls it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// The first word of opal where it is called like this.
const HYOPS: &str = "__hyops";

fn main() -> ExitCode {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let opal = own.map(|path| path.with_file_name("opal"));
    let why = match opal {
        Ok(opal) => {
            #[expect(clippy::disallowed_methods, reason = "this is all that the binary does")]
            let error = Command::new(&opal).arg(HYOPS).args(std::env::args_os().skip(1)).exec();
            format!("`{}` cannot be run: {error}", opal.display())
        }
        Err(error) => format!("the path of this program is unknown: {error}"),
    };
    // Nobody may be reading.
    let _ = writeln!(
        std::io::stderr(),
        "error: {why}\n  help: `hyops` and `opal` must be installed in one directory"
    );
    ExitCode::from(69)
}
