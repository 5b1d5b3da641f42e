//! A pool whose targets are hosts: real SSH servers, each on a port and with an account of its own.

use std::collections::BTreeMap;
use std::fs;

use opal_testing::processes::eventually;
use opal_testing::sshd::Sshd;

use crate::acceptance::{begun, is_at_work};
use crate::shop::{Shop, table};

const SERVERS: usize = 3;

/// More than one share has.
const HOSTS: usize = 54;

/// Names of hosts, as many for each server.
fn names(server: usize) -> Vec<String> {
    let each = HOSTS / SERVERS;
    (1..=each).map(|number| format!("t{}", server * each + number)).collect()
}

/// Servers, and a client in the configuration of the first that knows all of them.
fn servers() -> Option<Vec<Sshd>> {
    let mut first = Sshd::start()?;
    let mut others = Vec::new();
    for server in 1..SERVERS {
        let other = Sshd::start()?;
        first.name_other(&names(server).join(" "), &other);
        others.push(other);
    }
    let own = names(0);
    first.name_hosts(&own.iter().map(String::as_str).collect::<Vec<_>>());
    Some(std::iter::once(first).chain(others).collect())
}

/// How often each host was worked on, as its accounts say.
fn ran(servers: &[Sshd]) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for server in servers {
        let text = fs::read_to_string(server.account().home.join("ran")).unwrap_or_default();
        text.lines().for_each(|name| *all.entry(name.to_owned()).or_insert(0) += 1);
    }
    all
}

#[test]
fn hosts_of_several_servers_are_done_once_though_a_runner_is_killed() {
    let all: Vec<String> = (0..SERVERS).flat_map(names).collect();
    let source = format!(
        "fun task() {{\n    @ssh.hosts({all:?}, tolerate={HOSTS}, max_concurrency=4) {{\n        \
         echo @target.name >> ran\n        sleep 0.1\n    }}\n}}\n"
    );
    let Some(servers) = servers() else { return };
    let Some(mut shop) = Shop::of(&source, 1, 2) else { return };
    shop.path = Some(servers[0].path());
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for(&format!("{HOSTS} targets in 2 shares"));
    let mut runners = [shop.real_runner(0), shop.real_runner(1)];
    let mut victim = None;
    eventually("a runner works, and hosts were worked on", || {
        victim = runners.iter().position(is_at_work);
        victim.is_some() && ran(&servers).len() > 2
    });
    let victim = victim.unwrap();
    runners[victim].child.kill().unwrap();
    runners[victim].child.wait().unwrap();
    runners[victim] = shop.real_runner(victim);
    let ended = dispatching.end();
    ended.code(0);
    let rows = table(&ended.stdout);
    assert_eq!(rows.len(), HOSTS);
    assert!(rows.iter().all(|(_, status)| status == "ok" || status == "lost"), "{rows:?}");
    let done = rows.iter().filter(|(_, status)| status == "ok").count();
    assert!(done > HOSTS / 2, "{rows:?}");
    assert!(ran(&servers).values().all(|times| *times == 1), "{:?}", ran(&servers));
    let mut count = 0;
    for server in &servers {
        let begun = begun(&server.account().home.join(".local/state/opal"));
        assert!(begun.values().all(|times| *times == 1), "{begun:?}");
        count += begun.len();
    }
    assert!(count >= 2 * done, "{count} steps of {done} hosts");
}
