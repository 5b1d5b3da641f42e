//! Shares of orders: `opal run --plan FILE --order ORDER --share N`, with targets that are this machine.

mod pool;
mod refused;
mod takeover;
mod talking;

use pool::pool;

/// A step that leaves a mark on the target.
const MARK: &str = "        echo @target.name >> \"$HOME/marks\"\n";

#[test]
fn a_share_runs_its_targets_and_a_replay_repeats_no_step() {
    let Some(pool) = pool(3, MARK, "") else { return };
    pool.order(&[&["h1", "h2"], &["h3"]], |_| {});
    let ran = pool.share(1);
    ran.code(0).says("h1      ok").says("h2      ok").hides("h3");
    assert_eq!(pool.marks(), ["h1", "h2"]);
    assert_eq!(pool.journals().len(), 2);
    let again = pool.share(1);
    again.code(0).says("ended before: journal entry 2");
    assert_eq!(pool.marks(), ["h1", "h2"]);
    pool.share(2).code(0).says("h3      ok");
    assert_eq!(pool.marks(), ["h1", "h2", "h3"]);
    // Without the order it is any contract, and keeps no journal.
    pool.opal.call(&["run", "--plan", "c.plan"]).code(0);
    assert_eq!((pool.marks().len(), pool.journals().len()), (6, 3));
}

#[test]
fn a_target_without_a_place_for_a_journal_is_lost_before_its_first_step() {
    let Some(pool) = pool(2, MARK, "") else { return };
    pool.order(&[&["h1", "h2"]], |_| {});
    let memory = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap();
    let home = [("HOME", memory.path().to_str().unwrap())];
    let words = ["run", "--plan", "c.plan", "--order", "order", "--share", "1"];
    let ran = pool.opal.call_with(&home, &words);
    ran.code(69).says("h1      lost").says("on a file system of the kind `tmpfs`");
    assert!(!memory.path().join("marks").exists());
}

#[test]
fn a_single_use_contract_is_used_by_one_order_and_each_share_ends_once() {
    let Some(pool) = pool(2, MARK, "") else { return };
    pool.opal.call(&["plan", "task", "-o", "c.plan", "--once", "--expires", "1h"]).code(0);
    pool.order(&[&["h1"], &["h2"]], |_| {});
    pool.share(1).code(0);
    let ended = pool.share(1);
    ended.code(76).says("share 1 of this order has already run to its end here");
    // The rest of the order still runs, and nothing else does.
    let direct = pool.opal.call(&["run", "--plan", "c.plan"]);
    direct.code(76).says("has already been run");
    pool.order(&[&["h1"], &["h2"]], |order| order.id = opal_trust::order::OrderId::draw());
    pool.share(2).code(76).says("has already been used, by another order or directly");
    pool.order(&[&["h1"], &["h2"]], |_| {});
    pool.share(2).code(0);
    assert_eq!(pool.marks(), ["h1", "h2"]);
    let refused = pool.opal.call(&["runs", "list", "--json"]).json();
    let used = refused["runs"].as_array().unwrap().iter();
    assert_eq!(used.filter(|run| run["status"] == "refused").count(), 3, "{refused:#}");
}

#[test]
fn a_share_that_failed_has_ended_and_one_that_was_stopped_has_not() {
    let block = "        test -e \"$HOME/fine\"\n";
    let Some(pool) = pool(1, block, "") else { return };
    pool.opal.call(&["plan", "task", "-o", "c.plan", "--once", "--expires", "1h"]).code(0);
    pool.order(&[&["h1"]], |_| {});
    pool.share(1).code(1).says("h1      failed");
    pool.share(1).code(76).says("has already run to its end");
}
