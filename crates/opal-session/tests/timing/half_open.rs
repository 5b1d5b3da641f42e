//! The shell on a target that waits for its helper, and hears neither of it nor of an end.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use opal_session::reach::script::script;
use opal_session::reach::{Dialling, Nonce};
use opal_session::wire::Timing;

#[test]
#[expect(clippy::disallowed_methods, reason = "a shell of its own, as a server starts it")]
fn a_shell_whose_connection_is_half_open_ends_and_leaves_nothing() {
    for (byte, sent) in [(0xa1, &b""[..]), (0xa2, b"20000 raw 00\nthe first bytes")] {
        let nonce = Nonce([byte; 16]);
        let timing = Timing { ping: Duration::from_secs(1), lost: Duration::from_secs(3) };
        let dialling = Dialling { nonce, digests: Vec::new(), is_read_only: true, timing };
        let mut shell = Command::new("sh")
            .args(["-c", &script(&dialling)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It stays open.
        let mut input = shell.stdin.take().unwrap();
        input.write_all(sent).unwrap();
        assert!(!shell.wait().unwrap().success());
        for folder in ["/dev/shm", "/tmp"] {
            let made = Path::new(folder).join(format!("opal-{}", nonce.text()));
            assert!(!made.exists(), "{}", made.display());
        }
        drop(input);
    }
}
