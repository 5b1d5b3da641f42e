//! What is sent to a target stops when it is to: a signal, a second one, and the time of a block.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use opal_testing::processes::{eventually, signal};
use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;

use crate::servers::servers;
use crate::support::Opal;

/// Every step that sends much. It would take minutes.
const STEPS: [(&str, &str); 5] = [
    ("a copy", "@file.copy(\"big\", \"there\")"),
    ("a directory", "@file.copy(\"folder\", \"there\", recursive=true)"),
    ("a template", "@file.template(\"big\", \"there\")"),
    ("a redirection", "sh -c 'exec cat /dev/zero' > @file.write(\"there\")"),
    ("the files of a block", "@as(\"root\") { echo never }"),
];

const WARM: &str = "fun warm() {\n    @ssh.host(\"web1\") {\n        true\n    }\n}\n";

/// What one such step sends.
const BYTES: usize = 16 << 20;

/// So much is on its way before it is to stop.
const BEGUN: u64 = 2 << 20;

/// What the network lets through in all that a step may take after it is to stop.
const LATEST: Duration = Duration::from_secs(20);

/// A host behind a slow network, and a project with a task that sends.
fn slow(step: &str, around: &str) -> Option<(Sshd, Proxy, Opal)> {
    let block = match step.starts_with("@as") {
        true => {
            "@ssh.host(\"web1\", files={\"big\": \"big\"}) {\n        echo never\n    }".to_owned()
        }
        false => format!("@ssh.host(\"web1\") {{\n        {step}\n    }}"),
    };
    let block = match around {
        "" => block,
        around => format!("{around} {{\n    {block}\n    }}"),
    };
    let (mut sshd, opal) =
        servers(&["web1"], &format!("fun task() {{\n    {block}\n}}\n\n{WARM}"))?;
    // The helper is there already.
    opal.call(&["warm"]).code(0);
    let proxy = Proxy::start(sshd.port());
    let port = proxy.port();
    sshd.configure(&format!(
        "Host web1\n  Port {port}\n  StrictHostKeyChecking no\n  Compression no\n"
    ));
    proxy.delay(Duration::from_millis(15));
    let opal = opal.file("big", vec![b'x'; BYTES]);
    fs::create_dir(opal.path().join("folder")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(opal.path().join("folder").join(name), vec![b'x'; BYTES / 2]).unwrap();
    }
    Some((sshd, proxy, opal))
}

/// Nothing of what was half sent is there.
fn assert_nothing_left(home: &Path, what: &str) {
    eventually("nothing half written is left", || {
        let is_big = |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.len() > 4096);
        let folder = fs::read_dir(home.join("there")).into_iter().flatten().flatten();
        let entries = fs::read_dir(home).unwrap().flatten().chain(folder);
        !entries.map(|entry| entry.path()).any(|path| is_big(&path))
    });
    assert!(!home.join("there").is_file(), "{what}");
}

#[test]
fn one_signal_stops_every_step_that_sends() {
    for (what, step) in STEPS {
        let Some((sshd, proxy, opal)) = slow(step, "") else { return };
        let mut child = opal.interruptible().arg("task").spawn().unwrap();
        eventually("it sends", || proxy.sent() > BEGUN);
        let since = Instant::now();
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{what}");
        assert!(since.elapsed() < LATEST, "{what}: {:?}", since.elapsed());
        assert_nothing_left(&sshd.account().home, what);
    }
}

#[test]
fn the_time_of_a_block_stops_every_step_that_sends() {
    for (what, step) in STEPS {
        let Some((sshd, _proxy, opal)) = slow(step, "@timeout(4s)") else { return };
        let since = Instant::now();
        let ran = opal.call(&["task"]);
        ran.code(124);
        assert!(since.elapsed() < Duration::from_secs(4) + LATEST, "{what}: {:?}", since.elapsed());
        assert_nothing_left(&sshd.account().home, what);
    }
}

#[test]
fn a_second_signal_closes_a_connection_that_passes_nothing() {
    let Some((_sshd, proxy, opal)) = slow(STEPS[0].1, "") else { return };
    let mut child = opal.interruptible().arg("task").spawn().unwrap();
    eventually("it sends", || proxy.sent() > BEGUN);
    proxy.stall();
    signal(&child, "INT");
    let (mut stderr, mut said) = (child.stderr.take().unwrap(), Vec::new());
    while !String::from_utf8_lossy(&said).contains("the same signal again kills them") {
        let mut some = [0; 1024];
        let count = stderr.read(&mut some).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&some[..count]);
    }
    let since = Instant::now();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
}
