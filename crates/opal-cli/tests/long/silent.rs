//! Programs on the way to a target that never answer, with the real time that opal gives them.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use opal_testing::processes::is_running;

use crate::needs;
use crate::support::{Opal, Ran, binary};

/// A `sudo` of this machine that says something and hangs, for one call of opal only: in a namespace of its own,
/// it is in the place of the real one.
#[test]
fn a_sudo_that_neither_asks_nor_starts_is_denied_after_20_seconds_with_its_last_line() {
    let source = "fun task() {\n    @as(\"nobody\") {\n        id\n    }\n}\n";
    let hangs = "#!/bin/sh\necho 'waiting for the directory server' >&2\nexec sleep 54391\n";
    let opal = Opal::project(source).file("sudo", hangs);
    let stand_in = opal.path().join("sudo");
    std::fs::set_permissions(&stand_in, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mount = format!("mount --bind '{}' /usr/bin/sudo && exec \"$@\"", stand_in.display());
    let words = ["unshare", "-m", "sh", "-c", &mount, "sh"];
    let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    let tried = opal.started_by(&[&words[..], &["true".as_ref()]].concat()).status();
    let can = tried.is_ok_and(|status| status.success());
    if !needs::has("sudo, root and mount namespaces", can) {
        return;
    }
    let since = Instant::now();
    let mut command = opal.started_by(&[&words[..], &[binary().as_os_str()]].concat());
    let ran = Ran::from(command.arg("task").output().unwrap());
    ran.code(77)
        .says("`nobody`: no answer through `sudo` within 20s: waiting for the directory server")
        .says("try `sudo -u nobody true`")
        .hides("unreachable");
    assert!(since.elapsed() >= Duration::from_secs(20));
    assert!(!is_running("sleep 54391"));
}
