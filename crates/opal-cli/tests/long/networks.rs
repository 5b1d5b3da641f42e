//! Networks that lose every packet, in the middle of everything: namespaces of the system with rules of
//! iptables.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use opal_testing::network::Network;
use opal_testing::processes::{eventually, is_busy, owned_by};
use opal_testing::sshd::Sshd;

use crate::needs;
use crate::support::{Opal, Ran, binary};

/// A machine in a network of its own, and a project that works on it.
struct Far {
    opal: Opal,
    sshd: Sshd,
    // Last: the server ends before it.
    network: Network,
}

impl Far {
    fn new(source: &str) -> Option<Self> {
        let helper = binary().with_file_name("opal-target");
        if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
            return None;
        }
        let network = Network::new()?;
        let mut sshd = Sshd::start_in(&network)?;
        sshd.name_hosts(&["web1"]);
        let opal = Opal::project(source).env("PATH", sshd.path().to_str().unwrap());
        Some(Self { opal, sshd, network })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.sshd.account().home.join(name)
    }

    fn call(&self, words: &[&str]) -> Ran {
        self.opal.call(&[&["--root", "root"], words].concat())
    }

    /// Calls opal, and does something once a fact holds.
    fn call_and(
        &self,
        words: &[&str],
        when: impl Fn() -> bool + Sync,
        then: impl FnOnce() + Send,
    ) -> Ran {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                eventually("it has come so far", &when);
                then();
            });
            self.call(words)
        })
    }

    /// What is left on the machine, without the server's own part of a half-open connection.
    fn left(&self) -> Vec<String> {
        let all = owned_by(self.sshd.account().uid()).into_iter().map(|(_, line)| line);
        all.filter(|line| !line.starts_with("sshd")).collect()
    }
}

fn on_web1(options: &str, steps: &str) -> String {
    format!("fun task() {{\n    @ssh.host(\"web1\"{options}) {{\n        {steps}\n    }}\n}}\n")
}

const STAYS: &str = "touch begun; (setsid sleep 54321 &); sleep 54321";

#[test]
fn a_step_whose_packets_are_lost_is_lost_after_30_seconds_and_nothing_is_left_after_35() {
    let Some(far) = Far::new(&on_web1("", STAYS)) else { return };
    let mut since = Instant::now();
    let ran = far.call_and(
        &["task"],
        || far.at("begun").exists(),
        || {
            far.network.cut();
            since = Instant::now();
        },
    );
    let took = since.elapsed();
    ran.code(69).says("the connection to `web1` was lost: nothing was heard for 30s");
    assert!(took >= Duration::from_secs(20), "{took:?}");
    eventually("nothing is left", || far.left().is_empty());
    // The bar, with some room on a busy machine.
    let (took, bar) = (since.elapsed(), if is_busy() { 40 } else { 35 });
    assert!(took < Duration::from_secs(bar), "{took:?}");
    assert_eq!(far.call(&["runs", "show"]).code(0).stdout.matches("lost").count().min(1), 1);
}

#[test]
fn a_lost_step_is_repeated_once_the_network_is_back_and_never_runs_twice_at_once() {
    let steps = "@retry(attempts=20, delay=500ms, lost=\"retry\") {\n            \
                 mkdir alone && echo x >> attempts && { test -e healed || { trap 'rmdir alone' EXIT; touch begun; sleep 54321; }; }; \
                 rmdir alone\n        }";
    for is_contract in [false, true] {
        let options = ", lost=3s, connect_timeout=2s";
        let Some(far) = Far::new(&on_web1(options, steps)) else { return };
        let words: &[&str] = match is_contract {
            false => &["task"],
            true => {
                far.call(&["plan", "task", "-o", "c.plan"]).code(0);
                &["run", "--plan", "c.plan"]
            }
        };
        let ran = far.call_and(
            words,
            || far.at("begun").exists(),
            || {
                far.network.cut();
                // Long enough that opal has lost it, and has tried again.
                std::thread::sleep(Duration::from_secs(6));
                fs::write(far.at("healed"), "").unwrap();
                far.network.heal();
            },
        );
        ran.code(0);
        assert_eq!(fs::read_to_string(far.at("attempts")).unwrap(), "x\nx\n", "{ran:?}");
    }
}

#[test]
fn a_network_that_is_gone_while_the_helper_is_sent_leaves_no_helper_that_is_used() {
    let Some(far) = Far::new(&on_web1(", connect_timeout=2s", "echo there")) else { return };
    if !far.network.slow(8_000) {
        return;
    }
    let half = || {
        let entries = fs::read_dir(far.at(".cache/opal")).into_iter().flatten().flatten();
        entries.map(|it| it.metadata().map_or(0, |found| found.len())).any(|size| size > 0)
    };
    let ran = far.call_and(&["task"], half, || far.network.cut());
    assert_eq!(ran.code(69).says("host unreachable: no answer within 32s").stdout, "");
    far.network.heal();
    // The server of the half-open connection hears of its end now, or never; another one is not confused.
    assert_eq!(far.call(&["task"]).code(0).stdout, "there\n");
}

#[test]
fn a_network_that_is_gone_while_a_host_is_verified_blocks_what_is_verified() {
    let steps = "@file.copy(destination=\"x\", content=\"x\")\n        \
                 @shell(\"true\", check=\"touch begun; sleep 54321\")";
    let Some(far) = Far::new(&on_web1(", lost=3s", steps)) else { return };
    let ran = far.call_and(&["verify", "task"], || far.at("begun").exists(), || far.network.cut());
    assert_ne!(ran.code, 0);
    ran.says("blocked").says("nothing was heard for 3s");
    eventually("nothing is left", || far.left().is_empty());
}

#[test]
fn a_host_that_never_answers_is_unreachable_when_the_time_to_connect_is_over() {
    let source = on_web1(", connect_timeout=2s", "@file.copy(destination=\"x\", content=\"x\")");
    let Some(far) = Far::new(&source) else { return };
    far.network.cut();
    let since = Instant::now();
    far.call(&["task"]).code(69).says("host unreachable: connection timed out");
    let verified = far.call(&["verify", "task"]);
    assert_ne!(verified.says("host unreachable: connection timed out").code, 0);
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    far.network.heal();
    far.call(&["task"]).code(0);
}
