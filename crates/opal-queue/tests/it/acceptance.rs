//! The whole of it, with `opal run` itself on real targets of this machine: the table of one run; runners, helpers
//! of targets and a server that are killed; and what the targets themselves wrote down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use opal_testing::processes::{eventually, kill, named};
use serde_json::{Value, json};

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

/// How often each step has begun, by the journals in a directory.
pub(crate) fn begun(folder: &Path) -> BTreeMap<(PathBuf, String), usize> {
    let journals = fs::read_dir(folder).into_iter().flatten();
    let mut all = BTreeMap::new();
    for journal in journals.map(|it| it.unwrap().path()) {
        let text = fs::read_to_string(&journal).unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let [_, "begun", _, path, _] = words[..] {
                *all.entry((journal.clone(), path.to_owned())).or_insert(0) += 1;
            }
        }
    }
    all
}

/// Whether a runner has a share that has not ended, as far as it has said.
pub(crate) fn is_at_work(runner: &Started) -> bool {
    let said = runner.said();
    let count = |is: fn(&str) -> bool| {
        said.lines().filter(|line| line.contains(": share ") && is(line)).count()
    };
    let taken = count(|line| line.ends_with(" target") || line.ends_with(" targets"));
    taken > count(|line| line.contains(" ended: ") || line.contains(" was given up"))
}

const RUNNERS: usize = 4;

/// (2), (4): runners, targets and the server are killed again and again; no step begins twice.
#[test]
fn no_step_begins_twice_whoever_is_killed() {
    let rounds = usize::try_from(opal_testing::rounds(4)).unwrap();
    let count = 20 * rounds;
    let options = format!(", batch={}, tolerate={count}, max_concurrency=2", count / 4);
    let Some(mut shop) = shop(count, &options, RUNNERS) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for(&format!("{count} targets"));
    let mut runners = real_runners(&shop, RUNNERS);
    for round in 0..rounds {
        let before = ran(&shop).len();
        let mut victim = None;
        eventually("a runner works, and targets have run since the last round", || {
            let said = dispatching.said();
            assert!(
                !said.contains(&format!("{count} of {count}")),
                "over in round {round}: {said}"
            );
            // Not always the first one.
            let mut all = (0..RUNNERS).map(|it| (round + it) % RUNNERS);
            victim = all.find(|it| is_at_work(&runners[*it]));
            victim.is_some() && ran(&shop).len() > before
        });
        let victim = victim.unwrap();
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
    let begun = begun(&shop.at(".local/state/opal"));
    assert!(begun.values().all(|times| *times == 1), "{begun:?}");
    assert!(ran(&shop).values().all(|times| *times == 1), "{:?}", ran(&shop));
    // What was in the middle of its step is lost, everything else is done.
    let rows = table(&ended.stdout);
    assert_eq!(rows.len(), count);
    assert!(rows.iter().all(|(_, status)| status == "ok" || status == "lost"), "{rows:?}");
    let done = rows.iter().filter(|(_, status)| status == "ok").count();
    assert!(done > count / 2, "{done} of {count}: {rows:?}");
    // The journals that were counted are those of these targets: both steps of each that is done.
    let paths: BTreeSet<&String> = begun.keys().map(|(_, path)| path).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert!(begun.len() >= 2 * done && begun.len() <= 2 * count, "{} of {done}", begun.len());
}

/// What `targets.json` says of each target, without how long it took and what only a pool can say.
fn results(path: &Path) -> Vec<Value> {
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let fleet = &document["fleets"][0];
    let row = |row: &Value| ["target", "status", "step", "path", "code"].map(|it| row[it].clone());
    let rows = fleet["targets"].as_array().unwrap().iter().map(row).map(|it| json!(it));
    std::iter::once(fleet["path"].clone()).chain(rows).collect()
}

/// The only `targets.json` in the directories of a directory.
fn only(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path().join("targets.json"));
    let found: Vec<PathBuf> = entries.filter(|it| it.exists()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
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
    let (run, dispatch) = (shop.at("d/logs/run/task"), shop.at("d/logs/dispatch"));
    assert_eq!(results(&only(&dispatch)), results(&only(&run)));
}
