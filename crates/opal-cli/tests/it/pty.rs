//! A terminal, with a test in the place of a person.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Starts something on a terminal of its own, and gives the side of the person.
pub(crate) fn start(mut command: Command) -> (Child, File) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    tcsetwinsize(&own, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    let open = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    (child, File::from(own))
}
