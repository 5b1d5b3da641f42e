//! Steps on a terminal, with a test in the place of a person.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::Opal;

/// What a terminal shows, and the exit code; the keys are typed once it has shown `said`.
fn on_a_terminal(opal: &Opal, said: &str, keys: &[u8]) -> (i32, String) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    tcsetwinsize(&own, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    let open = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    let mut command = opal.interruptible();
    let mut child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (mut own, mut shown, mut bytes) = (File::from(own), String::new(), [0; 4096]);
    let mut is_typed = false;
    // An error is the end: nobody has the other side open any more.
    while let Ok(count @ 1..) = own.read(&mut bytes) {
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if !is_typed && shown.contains(said) {
            is_typed = true;
            own.write_all(keys).unwrap();
        }
    }
    (child.wait().unwrap().code().unwrap_or(-1), shown)
}

#[test]
fn a_server_outlives_its_run() {
    let opal = Opal::machine("fun main() {\n    sleep 600 & echo $! > pid\n    echo done\n}\n");
    let opal = opal.args(["main"]);
    let (code, shown) = on_a_terminal(&opal, "done", b"");
    let pid = fs::read_to_string(opal.path().join("pid")).unwrap().trim().parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    let is_there = test_kill_process(pid).is_ok();
    let _ = kill_process(pid, Signal::KILL);
    assert!(code == 0 && is_there, "{code} {shown}");
}

#[test]
fn a_pager_shows_its_first_page_and_takes_its_keys() {
    if !Path::new("/usr/bin/less").exists() {
        return;
    }
    let text = "fun main() {\n    seq 200 | /usr/bin/less\n    echo left\n}\n";
    let opal = Opal::machine(text).env("TERM", "xterm").env("LESS", "").args(["main"]);
    let (code, shown) = on_a_terminal(&opal, "\r\n23\r\n", b"q");
    assert!(code == 0 && shown.contains("left\r\n") && !shown.contains("150"), "{code} {shown}");
}
