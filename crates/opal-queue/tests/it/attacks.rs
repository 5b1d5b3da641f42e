//! Attacks that fail: what somebody who owns the queue, or has the credentials of a runner, may try.

use opal_testing::processes::eventually;
use opal_trust::keys::{Credentials, Runner, SigningKey, seal_to};
use opal_trust::messages::{Kind, Message};
use opal_trust::order::OrderId;
use opal_vault::root::Root;
use serde_json::json;

use crate::enemy::{Enemy, Forged, archive, bad_archive, digest, good, now};
use crate::shop::{Shop, Started};

/// A shop whose pool exists, and a runner that has done one order of two targets.
fn open() -> Option<(Shop, Started, Enemy, String)> {
    let shop = Shop::open(2, "", 2)?;
    let file = shop.contract("prod.plan", &[]);
    let runner = shop.runner(0);
    shop.dispatch(&file, &[]).code(0);
    let enemy = Enemy::of(&shop);
    Some((shop, runner, enemy, file))
}

#[test]
fn an_order_that_is_not_in_order_starts_nothing() {
    let Some((shop, runner, enemy, file)) = open() else { return };
    // A good one, made by hand, runs: what follows is refused for the one thing that differs.
    good(&shop, &file).send(&enemy);
    eventually("the good order runs", || shop.logged("ended") == 4);
    let stranger = SigningKey::generate();
    type Change<'c> = Box<dyn Fn(&mut Forged) + 'c>;
    let cases: Vec<(&str, Change<'_>)> = vec![
        ("a key that may not dispatch here", Box::new(|it| it.key = stranger.clone())),
        ("past its end", Box::new(|it| (it.order.made, it.order.end) = (now() - 20, now() - 10))),
        (
            "dated in the future",
            Box::new(|it| (it.order.made, it.order.end) = (now() + 400, now() + 500)),
        ),
        ("another order or pool", Box::new(|it| it.order.pool = "us".into())),
        ("for other runners", Box::new(|it| it.order.runners[0].key = stranger.public())),
        (
            "the contract is not what the order names",
            Box::new(|it| it.order.contract = digest(b"x")),
        ),
        (
            "the sources is not what the order names",
            Box::new(|it| {
                it.bundle = archive(&[("commands.opl", "fun task() { echo evil }\n")]);
            }),
        ),
        (
            "not a regular file",
            Box::new(|it| {
                it.bundle = bad_archive("commands.opl", tar::EntryType::Symlink);
                it.order.bundle = digest(&it.bundle);
            }),
        ),
        (
            "cannot be sent to runners",
            Box::new(|it| {
                it.bundle = bad_archive("../commands.opl", tar::EntryType::Regular);
                it.order.bundle = digest(&it.bundle);
            }),
        ),
        ("is not among its files", Box::new(|it| it.order.source = "other.opl".into())),
        (
            "not the targets of the contract",
            Box::new(|it| it.order.shares[0].targets[1] = "t3".into()),
        ),
        ("differ in whether it runs once", Box::new(|it| it.order.once = true)),
        (
            "not sealed to this runner",
            Box::new(|it| {
                it.readers = vec![Runner::ephemeral("a test").recipient()];
            }),
        ),
        (
            "the contract is damaged",
            Box::new(|it| {
                let last = it.contract.len() - 200;
                it.contract[last] ^= 1;
                it.order.contract = digest(&it.contract);
            }),
        ),
    ];
    for (said, change) in cases {
        let mut forged = good(&shop, &file);
        change(&mut forged);
        forged.send(&enemy);
        let id = forged.order.id.to_string();
        eventually(said, || runner.said().lines().any(|it| it.contains(&id) && it.contains(said)));
    }
    // Not even a process was started for one of them.
    assert_eq!((shop.logged("process"), shop.logged("begun")), (2, 4));
}

#[test]
fn what_the_server_changes_is_refused() {
    let Some((shop, runner, enemy, file)) = open() else { return };
    let forged = good(&shop, &file);
    let line = forged.order.sign(&forged.key).unwrap();
    let sealed = seal_to(line.as_bytes(), &forged.readers).unwrap();
    let name = digest(&sealed).hex();
    // Other bytes under the same name.
    enemy.store(&name, &seal_to(b"other", &forged.readers).unwrap());
    let ticket = json!({"approvals": null, "bundle": name, "contract": name, "order": name});
    let subject = |share: u32| format!("opal.shares.eu.{}.{share}", forged.order.id);
    enemy.publish(subject(1), ticket.to_string().into_bytes());
    runner.wait_for("the order in the queue is damaged");
    // The right bytes, but reached by a link: whose they are is the server's choice each time.
    let linked = good(&shop, &file);
    let line = linked.order.sign(&linked.key).unwrap();
    let sealed = seal_to(line.as_bytes(), &linked.readers).unwrap();
    let linked_name = digest(&sealed).hex();
    enemy.store("elsewhere", &sealed);
    enemy.link(&linked_name, "elsewhere");
    let ticket = json!({"approvals": null, "bundle": linked_name, "contract": linked_name, "order": linked_name});
    let id = linked.order.id.to_string();
    enemy.publish(format!("opal.shares.eu.{id}.1"), ticket.to_string().into_bytes());
    let is_refused =
        |line: &str| line.contains(&id) && line.contains("the order in the queue is damaged");
    eventually("the link is refused", || runner.said().lines().any(is_refused));
    enemy.publish(subject(2), b"no ticket".to_vec());
    runner.wait_for("the message of the share is damaged");
    enemy.publish("opal.shares.eu.x.y".into(), b"x".to_vec());
    runner.wait_for("a message without a share was removed");
    assert_eq!(shop.logged("process"), 1);
}

#[test]
fn a_share_that_is_sent_again_runs_nothing() {
    let Some((shop, _runner, enemy, file)) = open() else { return };
    let forged = good(&shop, &file);
    forged.send(&enemy);
    eventually("it runs", || shop.logged("process") == 2);
    eventually("all have ended", || enemy.waiting() == 0);
    // Without an id, so that the server does not drop it.
    forged.send(&enemy);
    eventually("it is taken and settled", || enemy.waiting() == 0);
    assert_eq!((shop.logged("process"), shop.logged("begun")), (2, 4));
}

#[test]
fn a_contract_that_runs_once_is_not_run_by_a_second_order() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let _runner = shop.runner(0);
    let file = {
        // The pool exists with the first order.
        shop.contract("prod.plan", &["--once", "--expires", "1h"])
    };
    let root = shop.name("d");
    let words = ["dispatch", &file, "--pool", "eu", "--root", &root, "--insecure-queue"];
    shop.opal(&words).code(0);
    shop.opal(&words).code(76).says("was dispatched in another order before");
    assert_eq!(shop.logged("begun"), 2);
}

#[test]
fn a_contract_is_signed_as_the_policy_of_the_runner_demands() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let ops = shop.public("d", "ops");
    let other = SigningKey::generate().public();
    shop.policy(0, &format!("dispatchers = [\"{ops}\"]\ntrusted_keys = [\"{other}\"]\n"));
    let runner = shop.runner(0);
    for (name, more, said) in [
        ("unsigned.plan", &[][..], "(77): the contract is not signed"),
        (
            "foreign.plan",
            &["--sign", "ops"],
            "(77): the contract is signed by a key that is not trusted",
        ),
    ] {
        let file = shop.contract(name, more);
        shop.dispatch(&file, &["--detach"]).code(0);
        runner.wait_for(said);
    }
    assert_eq!(shop.logged("process"), 0);
}

#[test]
fn events_of_strangers_count_for_nothing() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let (subject, _) = enemy.first_share();
    let id = OrderId::parse(subject.split('.').nth(3).unwrap()).unwrap();
    let to = vec![Runner::of_machine(&Root::new(shop.at("d"))).unwrap().recipient()];
    let content = json!({"result": {"exit": 0, "targets": [{"target": "t1", "status": "ok"}, {"target": "t2", "status": "ok"}]}});
    let content = format!("{content}\n").into_bytes();
    let message = Message {
        kind: Kind::Event,
        order: id,
        share: 1,
        attempt: 1,
        number: 1,
        content: content.clone(),
    };
    let stranger = message.sign(&SigningKey::generate());
    let runner = Credentials::new(&Root::new(shop.at("r0"))).queue_key().unwrap();
    // Another order's, by a runner of this pool.
    let other = Message { order: OrderId::draw(), ..message }.sign(&runner);
    for bytes in [content, stranger, other] {
        enemy.publish(format!("opal.events.{id}.1"), seal_to(&bytes, &to).unwrap());
    }
    enemy.publish(format!("opal.events.{id}.1"), b"not sealed".to_vec());
    dispatching.wait_for("not a runner of the order; it counts for nothing");
    eventually("each is marked", || {
        dispatching.said().matches("not signed by a runner").count() == 3
    });
    shop.flag("fail-t2", true);
    shop.flag("hold", false);
    let _runner = shop.runner(0);
    dispatching.end().code(3).says("1 of 2 targets failed");
}

#[test]
fn a_claim_of_somebody_else_does_not_take_a_share_away() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let (subject, _) = enemy.first_share();
    let id = OrderId::parse(subject.split('.').nth(3).unwrap()).unwrap();
    let content = json!({"journal": [0, 0], "state": "done"}).to_string().into_bytes();
    let claim = Message { kind: Kind::Claim, order: id, share: 1, attempt: 1, number: 1, content };
    enemy.put_claim(&format!("{id}.1"), claim.sign(&SigningKey::generate()));
    let _runner = shop.runner(0);
    dispatching.end().code(76).says("the claim in the queue is not signed by a runner of the pool");
    assert_eq!(shop.logged("process"), 0);
}

#[test]
fn a_counter_that_was_reset_stops_the_order() {
    let Some(shop) = Shop::open(3, ", batch=1", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    let _runner = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun") == 1);
    let enemy = Enemy::of(&shop);
    let (subject, _) = enemy.first_share();
    let id = subject.split('.').nth(3).unwrap().to_owned();
    assert!(enemy.claim(&format!("{id}.count")).is_some());
    enemy.remove_claim(&format!("{id}.count"));
    shop.flag("hold", false);
    dispatching.end().code(76).says("the counter of the queue was reset or changed");
    assert_eq!(shop.logged("begun"), 1);
}

#[test]
fn a_last_batch_that_is_sent_first_waits_for_its_turn() {
    let Some(shop) = Shop::open(2, ", batch=1", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &[]);
    dispatching.wait_for("2 targets");
    let enemy = Enemy::of(&shop);
    let (subject, ticket) = enemy.first_share();
    let _runner = shop.runner(0);
    eventually("a target has begun", || shop.logged("begun t1") == 1);
    enemy.publish(subject.trim_end_matches('1').to_owned() + "2", ticket);
    eventually("the runner has put it back", || enemy.redelivered() > 0);
    assert_eq!(shop.logged("process 2"), 0);
    shop.flag("hold", false);
    dispatching.end().code(0);
    let log = shop.log();
    let at = |text: &str| log.iter().position(|it| it == text).unwrap();
    assert!(at("ended t1 ok") < at("begun t2"), "{log:?}");
}

#[test]
fn a_machine_whose_clock_is_off_takes_and_sends_nothing() {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    if !opal_testing::needs::has("`faketime`", std::path::Path::new(library).exists()) {
        return;
    }
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let root = shop.name("r0");
    let runner = ["runner", "--pool", "eu", "--root", &root, "--insecure-queue"];
    let check = [&runner[..], &["--check"]].concat();
    let own = shop.name("d");
    let dispatch = ["dispatch", &file, "--pool", "eu", "--root", &own, "--insecure-queue"];
    for (words, off) in [
        (&runner[..], "+120s"),
        (&runner, "-120s"),
        (&check, "+120s"),
        (&dispatch, "+120s"),
        (&dispatch, "-120s"),
    ] {
        let mut command = shop.command(words);
        command
            .env("LD_PRELOAD", library)
            .env("FAKETIME", off)
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(69), "{said}");
        assert!(said.contains("from the server's; at most 60 s are accepted"), "{words:?}: {said}");
    }
    assert_eq!(shop.logged("process"), 0);
}
