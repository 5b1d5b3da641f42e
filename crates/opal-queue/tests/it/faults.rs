//! Runners and servers that die, stop for a while, or lose their connection.

use opal_testing::processes::{eventually, is_alive, signal};
use opal_testing::proxy::Proxy;

use crate::enemy::Enemy;
use crate::shop::{Shop, table};

#[test]
fn a_share_of_a_dead_runner_is_another_ones_and_knows_how_far_it_was() {
    let Some(shop) = Shop::open(3, "", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    let mut first = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun t1") == 1);
    // Until its claim has said so: a number in clear, of no target by name.
    let claims = |text: &str| shop.log().iter().any(|it| it == text);
    eventually("the claim was renewed", || shop.nats.has("{\"journal\":[1,0,0]"));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    eventually("it hears that its runner is gone", || claims("stop 1 no more input"));
    let process = shop.log().into_iter().find(|it| it.starts_with("process 1 ")).unwrap();
    let pid = process.split(' ').nth(2).unwrap().to_owned();
    eventually("its process has ended", || !is_alive(&pid));
    let left = shop.folders();
    assert_eq!(left.len(), 1, "a runner that is killed removes nothing");
    let _second = shop.runner(1);
    eventually("what it has left is removed", || !left[0].exists());
    eventually("another has the share", || shop.logged("process 1") == 2);
    shop.flag("hold", false);
    dispatching.end().code(0).says("3 of 3 targets have ended");
    assert!(claims("claims 1 {\"t1\": 1}"), "{:?}", shop.log());
}

#[test]
fn a_runner_that_ends_gives_its_shares_back_at_once() {
    let Some(shop) = Shop::open(3, "", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    let first = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    signal(&first.child, "TERM");
    first.end().code(0);
    assert!(shop.log().iter().any(|it| it == "stop 1 the runner ends"));
    shop.flag("hold", false);
    let _second = shop.runner(1);
    dispatching.end().code(0);
}

#[test]
fn a_runner_that_was_paused_stops_its_work_and_changes_nothing() {
    let Some(shop) = Shop::open(3, "", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    let first = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    signal(&first.child, "STOP");
    let _second = shop.runner(1);
    eventually("another has the share", || shop.logged("process 1") == 2);
    signal(&first.child, "CONT");
    first.wait_for("share 1 was given up: its claim could not be renewed");
    shop.flag("hold", false);
    dispatching.end().code(0);
    assert!(shop.log().iter().any(|it| it.starts_with("stop 1 the claim of this runner")));
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_nothing() {
    let Some(mut shop) = Shop::open(4, ", batch=2", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("4 targets");
    let _runners = shop.all_runners();
    eventually("a target has begun", || shop.logged("begun") == 1);
    shop.nats.kill();
    shop.nats.restart();
    shop.flag("hold", false);
    dispatching.end().code(0).says("4 of 4 targets have ended");
    assert_eq!(shop.logged("begun"), 4);
}

#[test]
fn a_runner_without_a_connection_stops_its_work() {
    let Some(shop) = Shop::open(3, "", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    let proxy = Proxy::start(shop.nats.port());
    let server = format!("nats://127.0.0.1:{}", proxy.port());
    let first = shop.runner_with(0, &server, &serde_json::json!({}));
    eventually("a target has begun", || shop.logged("begun") == 1);
    proxy.stall();
    eventually("it stops", || shop.logged("stop 1 the claim of this runner") == 1);
    drop(first);
    let _second = shop.runner(1);
    shop.flag("hold", false);
    dispatching.end().code(0);
}

/// The queue is away when a target asks whether it may start.
#[test]
fn a_target_that_asks_in_an_outage_starts_when_the_queue_is_back() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    // Its claim holds for 20 s, as it does in earnest.
    shop.second = "1000";
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let runner = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun t1") == 1);
    shop.nats.kill();
    shop.flag("hold", false);
    runner.wait_for("share 1 waits: the queue does not answer");
    shop.nats.restart();
    dispatching.end().code(0).says("2 of 2 targets have ended");
    assert_eq!((shop.logged("begun"), shop.logged("refused")), (2, 0), "{:?}", shop.log());
}

/// What has failed for a runner that died is counted for its successor, once.
#[test]
fn failures_of_a_dead_runner_are_not_forgotten() {
    let Some(shop) = Shop::open(3, ", tolerate=1", 2) else { return };
    shop.flag("fail-t1", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    shop.flag("hold-t2", true);
    let mut first = shop.runner(0);
    eventually("the second target has begun", || shop.logged("begun t2") == 1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    // On the second runner the first target is well, and the second one fails.
    shop.flag("fail-t1", false);
    shop.flag("fail-t2", true);
    shop.flag("hold-t2", false);
    let _second = shop.runner(1);
    dispatching.end().code(3).says("2 of 3 targets failed (tolerate=1)");
    assert_eq!(shop.logged("begun t3"), 0);
    assert_eq!(shop.logged("refused t3 more targets have failed than are tolerated"), 1);
}

/// The server settles a delivery by the acknowledgement of an earlier one.
#[test]
fn a_late_acknowledgement_changes_nothing() {
    let Some(shop) = Shop::open(3, "", 2) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("3 targets");
    let first = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    signal(&first.child, "STOP");
    let _second = shop.runner(1);
    eventually("another has the share", || shop.logged("process 1") == 2);
    let enemy = Enemy::of(&shop);
    enemy.say("$JS.ACK.opal-eu.runners.1.1.1.0.0", "+ACK");
    eventually("the message is settled", || enemy.waiting() == 0);
    signal(&first.child, "CONT");
    first.wait_for("share 1 was given up");
    shop.flag("hold", false);
    let ran = dispatching.end();
    ran.code(0).says("3 of 3 targets have ended");
    assert!(table(&ran.stdout).iter().all(|(_, status)| status == "ok"));
    // The first runner had begun one target, and no other of its work came after the second one's.
    eventually("its process hears that the share has ended", || shop.logged("kept 1") == 1);
    assert_eq!(shop.logged("begun"), 4);
}

#[test]
fn a_share_is_kept_only_when_the_queue_has_its_result() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let first = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    // It gives the share back, so the result of its process counts for nothing.
    signal(&first.child, "TERM");
    first.end().code(0);
    assert_eq!(shop.logged("kept"), 0);
    shop.flag("hold", false);
    let _again = shop.runner(0);
    dispatching.end().code(0);
    eventually("the process of the share hears it", || shop.logged("kept 1 True") == 1);
}
