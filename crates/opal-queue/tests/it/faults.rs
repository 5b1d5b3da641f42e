//! Runners and servers that die, stop for a while, or lose their connection.

use opal_testing::processes::{eventually, signal};
use opal_testing::proxy::Proxy;

use crate::shop::Shop;

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
    eventually("its process has ended", || claims("stop 1 no more input"));
    let _second = shop.runner(1);
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
    first.wait_for("share 1 is another runner's now");
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
