//! Steps that are lost with their connection, inside `@retry`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::processes::eventually;

use crate::servers::servers;

/// Loses its connection in the first attempt, and writes down every attempt.
const LOST: &str = "echo x >> attempts; test -e there || { touch there; kill -9 $PPID; }";

#[test]
fn a_lost_step_is_repeated_in_a_direct_run_and_under_contract_only_where_the_source_says_so() {
    let said = "under contract it is repeated only with `@retry(lost=\"retry\")`";
    for block in ["@ssh.host(\"web1\")", "@ssh.hosts([\"web1\"])"] {
        for (argument, is_contract, is_repeated) in [
            ("", false, true),
            (", lost=\"fail\"", false, false),
            (", lost=\"retry\"", false, true),
            ("", true, false),
            (", lost=\"fail\"", true, false),
            (", lost=\"retry\"", true, true),
        ] {
            let source = format!(
                "fun task() {{\n    @retry(attempts=2, delay=1ms{argument}) {{\n        {block} {{\n            \
                 {LOST}\n        }}\n    }}\n}}\n"
            );
            let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
            let ran = if is_contract {
                opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
                opal.call(&["--root", "root", "run", "--plan", "c.plan"])
            } else {
                opal.call(&["task"])
            };
            ran.code(if is_repeated { 0 } else { 69 });
            let attempts = std::fs::read_to_string(sshd.account().home.join("attempts")).unwrap();
            assert_eq!(attempts.lines().count(), 1 + usize::from(is_repeated), "{source}");
            if is_contract && argument.is_empty() {
                ran.says(said);
            } else {
                ran.hides(said);
            }
        }
    }
}

#[test]
fn inside_a_block_the_next_step_has_another_connection_and_the_files_of_the_block() {
    let source = "fun task() {\n    @ssh.host(\"web1\", files={\"f\": \"f\"}, env={KEY: \"x\"}) {\n        \
                  mkdir -p deep\n        cd deep\n        @retry(attempts=2, delay=1ms) {\n            \
                  test -e there || { touch there; kill -9 $PPID; }\n            cat \"$OPAL_FILES/f\"\n        }\n        \
                  try {\n            kill -9 $PPID\n        } catch {\n            echo caught\n        }\n        \
                  basename \"$PWD\"\n        echo \"$KEY\"\n        \
                  @file.copy(destination=\"copied\", content=\"x\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let ran = opal.file("f", "sent\n").call(&["task"]);
    assert_eq!(ran.code(0).stdout, "sent\ncaught\ndeep\nx\n");
    assert!(sshd.account().home.join("copied").exists());
}

#[test]
fn other_failures_are_repeated_under_contract() {
    let source = "fun task() {\n    @retry(attempts=2, delay=1ms) {\n        @ssh.host(\"web1\") {\n            \
                  test -e there || { touch there; exit 3; }\n        }\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
    opal.call(&["--root", "root", "run", "--plan", "c.plan"]).code(0);
}

#[test]
fn a_host_that_reboots_is_reached_again_once_it_is_up() {
    // `boot` is what differs from boot to boot.
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        cp boot before\n        touch goes-down\n        \
                  @retry(attempts=100, delay=300ms, max_delay=300ms) {\n            test \"$(cat boot)\" != \"$(cat before)\"\n        }\n        \
                  @file.copy(destination=\"copied\", content=\"x\")\n        echo back\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    let home = sshd.account().home.clone();
    fs::write(home.join("boot"), "first\n").unwrap();
    // Who connects while it is down is heard of.
    let (ssh, log) = (opal.path().join("bin/ssh"), opal.path().join("log"));
    let inner = sshd.directory().join("bin/ssh");
    let script =
        format!("#!/bin/sh\necho x >>{}\nexec {} \"$@\"\n", log.display(), inner.display());
    let opal = opal.file("bin/ssh", script);
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", opal.path().join("bin").display(), sshd.path().display());
    let opal = opal.env("PATH", &path);
    let calls = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            eventually("the host goes down", || home.join("goes-down").exists());
            sshd.go_down();
            let before = calls();
            eventually("it is tried while it is down", || calls() > before + 1);
            fs::write(home.join("boot"), "second\n").unwrap();
            sshd.come_up();
        });
        opal.call(&["task"])
    });
    assert_eq!(ran.code(0).stdout, "back\n");
    assert_eq!(fs::read_to_string(home.join("copied")).unwrap(), "x");
}
