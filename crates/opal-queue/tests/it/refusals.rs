//! What becomes of shares that runners refuse, and of claims and settings that are not as they should be.

use async_nats::jetstream::stream::{Config, RetentionPolicy};
use opal_testing::processes::{eventually, signal};
use opal_trust::keys::SigningKey;
use opal_trust::messages::{Kind, Message};
use opal_trust::order::OrderId;
use serde_json::{Value, json};

use crate::enemy::{Enemy, first_order, good, key_of, recipient_of};
use crate::shop::Shop;

#[test]
fn an_order_that_all_runners_decline_ends_with_words() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let other = SigningKey::generate().public();
    for runner in 0..2 {
        shop.policy(runner, &format!("dispatchers = [\"{other}\"]\n"));
    }
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let id = first_order(&enemy);
    let runners = shop.all_runners();
    let ran = dispatching.end();
    ran.code(77).says("a runner has declined a share").says("may not dispatch here");
    // It is still in the queue, so it is stopped: no runner may run it later.
    assert!(enemy.claim(&format!("{id}.stop")).is_some());
    // Each has said it once.
    for runner in &runners {
        assert_eq!(runner.said().matches("share 1 declined").count(), 1, "{}", runner.said());
    }
    assert_eq!(shop.logged("process"), 0);
}

#[test]
fn what_one_runner_declines_another_one_runs() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let other = SigningKey::generate().public();
    shop.policy(0, &format!("dispatchers = [\"{other}\"]\n"));
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let first = shop.runner(0);
    first.wait_for("share 1 declined (77)");
    let _second = shop.runner(1);
    dispatching.end().code(0).says("2 of 2 targets have ended");
}

#[test]
fn what_is_missing_on_a_runner_is_declined_and_a_changed_contract_is_refused() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    let runners = shop.all_runners();
    shop.flag("away", true);
    shop.dispatch(&file, &[]).code(69).says("declined a share: error: no route from this runner");
    for runner in &runners {
        runner.wait_for("share 1 declined (69)");
    }
    shop.flag("away", false);
    shop.flag("refuse", true);
    let ran = shop.dispatch(&file, &[]);
    ran.code(76).says("refused a share: error: the contract is not the plan");
    // One runner says it for all.
    let id = ran.stderr.split_whitespace().nth(1).unwrap().trim_end_matches(':');
    let refused =
        |said: &str| said.lines().filter(|it| it.contains(id) && it.contains("(76)")).count();
    assert_eq!(runners.iter().map(|it| refused(&it.said())).sum::<usize>(), 1);
}

fn claim(order: OrderId, share: u32, content: &Value) -> Message {
    let content = content.to_string().into_bytes();
    Message { kind: Kind::Claim, order, share, attempt: 7, number: 1, content }
}

#[test]
fn a_claim_of_another_runner_holds_until_it_is_silent() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let id = first_order(&enemy);
    let held = claim(id, 1, &json!({"journal": [0, 0], "state": "held"}));
    let held = held.sign(&key_of(&shop, "r1"));
    enemy.put_claim(&format!("{id}.1"), held.clone());
    let _runner = shop.runner(0);
    dispatching.end().code(0).says("2 of 2 targets have ended");
    // The next attempt after the one of the other runner.
    let now = Message::open(&enemy.claim(&format!("{id}.1")).unwrap(), Kind::Claim).unwrap();
    assert_eq!((now.0.attempt, shop.logged("process")), (8, 1));
}

#[test]
fn a_claim_that_is_malformed_or_of_another_order_is_refused_with_words() {
    let held = json!({"journal": [0, 0], "state": "held"});
    for (content, is_other, said) in [
        (json!({"journal": [0], "state": "held"}), false, "does not say what it should"),
        (json!({"journal": [0, 0], "state": "mine"}), false, "does not say what it should"),
        (held, true, "is of another order or share"),
    ] {
        let Some(shop) = Shop::open(2, "", 1) else { return };
        let file = shop.contract("prod.plan", &[]);
        let dispatching = shop.dispatching(&file, &[]);
        dispatching.wait_for("2 targets");
        let enemy = Enemy::of(&shop);
        let id = first_order(&enemy);
        let about = if is_other { OrderId::draw() } else { id };
        let bytes = claim(about, 1, &content).sign(&key_of(&shop, "r0"));
        enemy.put_claim(&format!("{id}.1"), bytes);
        let _runner = shop.runner(0);
        dispatching.end().code(76).says(said);
        assert_eq!(shop.logged("process"), 0);
    }
}

/// A runner of the pool says that two targets have started by the same change of the counter.
#[test]
fn dispatch_stops_an_order_whose_starts_are_out_of_order() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let id = first_order(&enemy);
    for (number, name) in [(1, "t1"), (2, "t2")] {
        let content = format!("{}\n", json!({"start": [name], "version": 1})).into_bytes();
        let message =
            Message { kind: Kind::Event, order: id, share: 1, attempt: 1, number, content };
        let to = [recipient_of(&shop, "d")];
        let sealed = opal_trust::keys::seal_to(&message.sign(&key_of(&shop, "r1")), &to).unwrap();
        enemy.publish(format!("opal.events.{id}.1"), sealed);
    }
    dispatching.wait_for("the counter was reset");
    dispatching.wait_for("stopping the order");
    eventually("the stop is in the queue", || enemy.claim(&format!("{id}.stop")).is_some());
    let _runner = shop.runner(0);
    dispatching.end().code(76);
    assert_eq!(shop.logged("begun"), 0, "{:?}", shop.log());
}

#[test]
fn two_orders_of_a_single_use_contract_run_it_once() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &["--once", "--expires", "1h"]);
    let first = shop.dispatching(&file, &[]);
    first.wait_for("2 targets");
    let _runner = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    // While the first order runs.
    shop.dispatch(&file, &[]).code(76).says("was dispatched in another order before");
    shop.flag("hold", false);
    first.end().code(0);
    shop.dispatch(&file, &[]).code(76).says("was dispatched in another order before");
    assert_eq!(shop.logged("begun"), 2);
    // Each refusal of the contract leaves a record, as where `opal run` refuses it.
    let root = shop.name("r0");
    let refused = shop.opal(&["runs", "list", "--json", "--root", &root]);
    let count = refused.code(0).stdout.matches("\"reason\": \"used\"").count();
    assert_eq!(count, 2, "{refused:?}");
}

/// The owner of the queue can send as many as they like.
#[test]
fn orders_that_nobody_trusts_leave_no_record() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let runner = shop.runner(0);
    shop.dispatch(&file, &[]).code(0);
    let enemy = Enemy::of(&shop);
    let mut forged = good(&shop, &file);
    forged.key = SigningKey::generate();
    forged.send(&enemy);
    runner.wait_for("may not dispatch here");
    assert!(!shop.at("r0/logs").exists());
}

#[test]
fn tail_shows_orders_of_trusted_keys_only() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let enemy = Enemy::of(&shop);
    let mut forged = good(&shop, &file);
    forged.key = SigningKey::generate();
    forged.announce(&enemy, recipient_of(&shop, "d"));
    let (id, root) = (forged.order.id.to_string(), shop.name("d"));
    let tail = ["runs", "tail", &id, "--pool", "eu", "--insecure-queue", "--root", &root];
    let ran = shop.opal(&tail);
    ran.code(77).says("whose orders this machine does not trust");
    assert_eq!(ran.stdout, "");
}

#[test]
fn tail_marks_messages_that_are_unsigned_missing_repeated_or_of_strangers() {
    let Some(shop) = Shop::open(2, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let enemy = Enemy::of(&shop);
    let id = first_order(&enemy);
    let to = [recipient_of(&shop, "d")];
    let say = |key: &SigningKey, number: u64| {
        let content = format!("{}\n", json!({"event": {"kind": "canary"}})).into_bytes();
        let message =
            Message { kind: Kind::Event, order: id, share: 1, attempt: 1, number, content };
        let sealed = opal_trust::keys::seal_to(&message.sign(key), &to).unwrap();
        enemy.publish(format!("opal.events.{id}.1"), sealed);
    };
    enemy.publish(format!("opal.events.{id}.1"), b"nonsense".to_vec());
    say(&SigningKey::generate(), 1);
    let other = key_of(&shop, "r1");
    [1, 3, 1].into_iter().for_each(|number| say(&other, number));
    let _runner = shop.runner(0);
    let (text, root) = (id.to_string(), shop.name("d"));
    let tail = ["runs", "tail", &text, "--pool", "eu", "--insecure-queue", "--root", &root];
    let ran = shop.opal(&tail);
    ran.code(0)
        .says("share 1: not signed, or not for this machine")
        .says("not a runner of the order; it counts for nothing")
        .says("message 2 is missing")
        .says("a message came twice");
    // What came before the gap and after it, and neither the stranger's nor the second one.
    assert_eq!(ran.stdout.matches("canary").count(), 2, "{}", ran.stdout);
    let ran = shop.opal(&[&tail[..], &["--json"]].concat());
    let lines: Vec<Value> =
        ran.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.iter().filter(|it| it["unsigned"] == true).count(), 1);
    assert_eq!(lines.iter().filter(|it| it["notice"].is_string()).count(), 3);
}

#[test]
fn streams_with_other_settings_are_refused_by_both_sides() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let enemy = Enemy::of(&shop);
    let shares = || Config {
        name: "opal-eu".into(),
        subjects: vec!["opal.shares.eu.>".into()],
        ..Config::default()
    };
    enemy.set(Config { retention: RetentionPolicy::Limits, ..shares() });
    shop.dispatch(&file, &[]).code(78).says("`opal-eu` on the server has another `retention`");
    // Of a pool that exists, somebody limits the events.
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let enemy = Enemy::of(&shop);
    enemy.set(Config { max_messages: 100, ..enemy.settings("opal-events") });
    shop.dispatch(&file, &[]).code(78).says("another `max_msgs`");
    let root = shop.name("r0");
    let check = ["runner", "--pool", "eu", "--root", &root, "--insecure-queue", "--check"];
    shop.opal(&check).code(78).says("`opal-events` on the server has another `max_msgs`");
    let runner = shop.runner(0);
    runner.wait_for("another `max_msgs`");
    assert_eq!(shop.logged("process"), 0);
}

#[test]
fn ctrl_c_in_an_outage_prints_the_table_and_says_that_nothing_was_stopped() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let _runner = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    dispatching.wait_for("0 of 2 targets have ended");
    shop.nats.kill();
    signal(&dispatching.child, "INT");
    dispatching.wait_for("stopping: no further target starts");
    signal(&dispatching.child, "INT");
    let ran = dispatching.end();
    ran.code(130).says("did not take the stop of order").says("TARGET");
}

#[test]
fn a_stop_that_an_outage_holds_up_is_sent_when_the_queue_is_back() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let id = first_order(&Enemy::of(&shop));
    // It follows the order now.
    dispatching.wait_for("0 of 2 targets have ended");
    shop.nats.kill();
    signal(&dispatching.child, "INT");
    dispatching.wait_for("stopping: no further target starts");
    shop.nats.restart();
    let enemy = Enemy::of(&shop);
    eventually("the stop is in the queue", || enemy.claim(&format!("{id}.stop")).is_some());
    let _runner = shop.runner(0);
    dispatching.end().code(130);
    assert_eq!(shop.logged("begun"), 0);
}
