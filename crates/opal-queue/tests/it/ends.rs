//! Orders that reach their end: nothing starts any more, and whoever follows them hears it.

use opal_testing::processes::eventually;
use opal_trust::messages::{Kind, Message};
use serde_json::json;

use crate::enemy::{Enemy, first_order, key_of, now};
use crate::shop::{Shop, Started, table};

/// Seconds until an order ends: enough for a runner to begin on a busy machine.
const SOON: i64 = 15;

fn statuses(text: &str) -> Vec<String> {
    table(text).into_iter().map(|(_, status)| status).collect()
}

/// An order of two targets that ends soon. On the first target the runner waits; the last value is the end.
fn begun() -> Option<(Shop, Started, Started, i64)> {
    let shop = Shop::open(2, "", 1)?;
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let runner = shop.runner(0);
    let dispatching = shop.dispatching(&file, &["--end", &format!("{SOON}s")]);
    eventually("a target has begun", || shop.logged("begun t1") == 1);
    Some((shop, runner, dispatching, now() + SOON))
}

#[test]
fn no_target_starts_after_the_end_of_an_order() {
    let Some((shop, _runner, dispatching, end)) = begun() else { return };
    eventually("the order has ended", || now() > end);
    shop.flag("hold", false);
    let ran = dispatching.end();
    ran.code(124);
    assert_eq!(statuses(&ran.stdout), ["ok", "skipped"]);
    assert_eq!(shop.logged("refused t2 the order is past its end"), 1, "{:?}", shop.log());
}

#[test]
fn what_still_runs_after_the_end_of_an_order_is_stopped_and_called_lost() {
    let Some((shop, _runner, dispatching, _)) = begun() else { return };
    let ran = dispatching.end();
    ran.code(124).says("the order is past its end").says("no runner has said how it ended");
    assert_eq!(statuses(&ran.stdout), ["lost", "skipped"]);
    assert_eq!(shop.logged("stop 1 the order is past its end"), 1, "{:?}", shop.log());
}

#[test]
fn an_order_that_nobody_takes_ends_for_all_who_follow_it() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &["--end", "1s"]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let id = first_order(&enemy);
    let (root, text) = (shop.name("d"), id.to_string());
    let tail = ["runs", "tail", &text, "--pool", "eu", "--insecure-queue", "--root", &root];
    let tailing = shop.start("tail.log", &tail);
    let ran = dispatching.end();
    ran.code(124).says("the order is past its end");
    assert_eq!(statuses(&ran.stdout), ["skipped", "skipped"]);
    assert!(enemy.claim(&format!("{id}.stop")).is_some());
    tailing.end().code(124).says("the order is past its end");
    // Of one that has ended before.
    shop.opal(&tail).code(124).says("2 targets in 1 share");
    let runner = shop.runner(0);
    runner.wait_for("share 1 refused (124): the order is past its end");
    assert_eq!(shop.logged("process"), 0);
}

/// The server may send a message again that was acknowledged.
#[test]
fn a_share_that_has_run_is_not_refused_after_the_end_of_its_order() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let end = now() + SOON + 5;
    shop.dispatch(&file, &["--end", &format!("{SOON}s"), "--detach"]).code(0);
    let enemy = Enemy::of(&shop);
    let (subject, ticket) = enemy.first_share();
    let runner = shop.runner(0);
    eventually("the queue has the result", || shop.logged("kept 1 True") == 1);
    eventually("its message is settled", || enemy.waiting() == 0);
    eventually("the order has ended", || now() > end);
    enemy.publish(subject, ticket);
    eventually("the second message is settled", || enemy.waiting() == 0);
    assert!(!runner.said().contains("refused"), "{}", runner.said());
    assert_eq!(shop.logged("process"), 1);
}

/// The limit of what the guide promises: a runner of the pool is trusted not to withhold work.
#[test]
fn a_runner_of_the_pool_can_withhold_a_share_and_the_order_says_so_at_its_end() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &["--end", "5s"]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let order = first_order(&enemy);
    let content = json!({"journal": [0, 0], "state": "done"}).to_string().into_bytes();
    let claim = Message { kind: Kind::Claim, order, share: 1, attempt: 1, number: 1, content };
    enemy.put_claim(&format!("{order}.1"), claim.sign(&key_of(&shop, "r1")));
    let _runner = shop.runner(0);
    let ran = dispatching.end();
    ran.code(124);
    assert_eq!(statuses(&ran.stdout), ["skipped", "skipped"]);
    assert_eq!(shop.logged("process"), 0);
}
