//! The whole of it, with `opal run` itself on real targets of this machine: the table of one run; runners, helpers
//! of targets and a server that are killed; and what the targets themselves wrote down.

use std::collections::BTreeMap;
use std::fs;

use opal_testing::processes::{eventually, kill, named};

use crate::shop::{Shop, Started, table};

/// A step that says on the target that it ran, and takes a moment.
const BLOCK: &str = "        echo @target.name >> \"$HOME/ran\"\n        sleep 0.2\n";

fn shop(count: usize, options: &str, runners: usize) -> Option<Shop> {
    Shop::with(count, options, BLOCK, runners)
}

/// How often the step ran on each target.
fn ran(shop: &Shop) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(shop.at("ran")).unwrap_or_default();
    text.lines().fold(BTreeMap::new(), |mut all, name| {
        *all.entry(name.to_owned()).or_insert(0) += 1;
        all
    })
}

fn real_runners(shop: &Shop, count: usize) -> Vec<Started> {
    (0..count).map(|number| shop.real_runner(number)).collect()
}

/// Targets of one contract: 1,000 in the long run of the tests.
fn fleet() -> usize {
    if opal_testing::rounds(0) > 0 { 1_000 } else { 120 }
}

/// (1), (7): the table is that of a direct run, and nothing is readable on the server.
#[test]
fn a_contract_on_a_pool_has_the_table_of_a_direct_run() {
    let count = fleet();
    let Some(shop) = shop(count, ", batch=\"50%\", max_concurrency=20", 4) else { return };
    let direct = shop.opal(&["task", "--root", &shop.name("d")]);
    direct.code(0);
    let file = shop.contract("prod.plan", &[]);
    let _runners = real_runners(&shop, 4);
    let pooled = shop.dispatch(&file, &[]);
    pooled.code(0);
    assert_eq!(table(&pooled.stdout), table(&direct.stderr));
    assert_eq!(ran(&shop).len(), count);
    assert!(ran(&shop).values().all(|times| *times == 2), "{:?}", ran(&shop));
    for canary in ["sleep 0.2", "hosts.ini", &format!("t{count}")] {
        assert!(!shop.nats.has(canary), "{canary}");
    }
}

/// Ends the helper of a target that is worked on, as the kernel does it that has no memory left.
fn kill_a_target(shop: &Shop) {
    if let Some(helper) = named("opal-target", &shop.name("")).first() {
        kill(helper);
    }
}

/// (2), (4): runners, targets and the server are killed again and again; no step begins twice.
#[test]
fn no_step_begins_twice_whoever_is_killed() {
    let rounds = usize::try_from(opal_testing::rounds(4)).unwrap();
    let count = 20 * rounds;
    let options = format!(", batch={}, tolerate={count}, max_concurrency=5", count / 4);
    let Some(mut shop) = shop(count, &options, 3) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for(&format!("{count} targets"));
    let mut runners = real_runners(&shop, 3);
    for round in 0..rounds {
        let before = ran(&shop).len();
        let is_over = || dispatching.said().contains(&format!("{count} of {count}"));
        eventually("some targets have run", || ran(&shop).len() > before || is_over());
        let victim = round % runners.len();
        runners[victim].child.kill().unwrap();
        runners[victim].child.wait().unwrap();
        runners[victim] = shop.real_runner(victim);
        kill_a_target(&shop);
        if round % 10 == 1 {
            shop.nats.kill();
            shop.nats.restart();
        }
    }
    let ended = dispatching.end();
    ended.code(0);
    assert!(ran(&shop).values().all(|times| *times == 1), "{:?}", ran(&shop));
    // What was in the middle of its step is lost, everything else is done.
    let rows = table(&ended.stdout);
    assert_eq!(rows.len(), count);
    assert!(rows.iter().all(|(_, status)| status == "ok" || status == "lost"), "{rows:?}");
}

/// (6): failures end a fleet across runners as they end it on one.
#[test]
fn failures_end_a_fleet_across_runners() {
    let block = "        test @target.name != t3\n";
    // One target at a time: whether another of its batch has begun when one fails is a matter of moments.
    let Some(shop) = Shop::with(8, ", batch=1, tolerate=0", block, 2) else { return };
    let direct = shop.opal(&["task", "--root", &shop.name("d")]);
    let file = shop.contract("prod.plan", &[]);
    let _runners = real_runners(&shop, 2);
    let pooled = shop.dispatch(&file, &[]);
    pooled.code(direct.code);
    assert_eq!(table(&pooled.stdout), table(&direct.stderr));
}
