//! A network that is cut in the middle of a step: the step is `lost`, and nothing of it is left.

use std::fs;

use opal_testing::processes::eventually;
use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;

use crate::fleets::table;
use crate::servers::servers;
use crate::support::{Opal, Ran};

/// Two hosts, of which `web2` is after a network that can fail.
fn far(options: &str, block: &str) -> Option<(Sshd, Proxy, Opal)> {
    let source = format!(
        "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\"], tolerate=1{options}) {{\n{block}    }}\n}}\n"
    );
    let (mut sshd, opal) = servers(&["web1", "web2"], &source)?;
    let proxy = Proxy::start(sshd.port());
    let (own, port) = (sshd.port(), proxy.port());
    sshd.configure(&format!("Host web2\n  Port {port}\n  HostKeyAlias [127.0.0.1]:{own}\n"));
    Some((sshd, proxy, opal))
}

/// Runs the task, and does something once `web2` has begun.
fn run_and(sshd: &Sshd, opal: &Opal, then: impl FnOnce() + Send) -> Ran {
    let begun = sshd.account().home.join("begun");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            eventually("the step runs", || begun.exists());
            then();
        });
        opal.call(&["task"])
    })
}

const STAYS: &str = "        test @target.name = web1 || { echo $$ > begun.new; mv begun.new begun; \
                     (setsid sleep 4321 &); sleep 4321; }\n";

#[test]
fn a_step_whose_network_falls_silent_is_lost_and_nothing_of_it_is_left() {
    let Some((sshd, proxy, opal)) = far(", lost=3s", STAYS) else { return };
    let uid = sshd.account().uid();
    let ran = run_and(&sshd, &opal, || proxy.stall());
    ran.code(0);
    let rows = table(&ran.stderr);
    assert_eq!((rows[0][1], rows[1][1]), ("ok", "lost"), "{}", ran.stderr);
    ran.says("69");
    // The server of the half-open connection waits; all else has ended.
    eventually("nothing of the step is left", || {
        !opal_testing::processes::owned_by(uid)
            .iter()
            .any(|it| it.1.contains("sleep 4321") || it.1.contains("opal-target"))
    });
}

#[test]
fn a_step_whose_network_comes_back_is_repeated_and_never_runs_twice_at_once() {
    // Each attempt waits a while: two at once would find each other.
    let block = "        @retry(attempts=3, delay=1ms, lost=\"retry\") {\n            \
                 test @target.name = web1 || { mkdir alone && echo x >> attempts && \
                 { test -e healed || { trap 'rmdir alone' EXIT; touch begun; sleep 4321; }; }; rmdir alone; }\n        }\n";
    let Some((sshd, proxy, opal)) = far(", lost=3s", block) else { return };
    let home = sshd.account().home.clone();
    let ran = run_and(&sshd, &opal, || {
        proxy.stall();
        fs::write(home.join("healed"), "").unwrap();
        proxy.heal();
    });
    ran.code(0);
    assert!(table(&ran.stderr).iter().all(|row| row[1] == "ok"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(home.join("attempts")).unwrap(), "x\nx\n");
}
