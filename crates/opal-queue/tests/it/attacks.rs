//! Attacks that fail: what somebody who owns the queue, or has the credentials of a runner, may try.

use std::fs;

use async_nats::jetstream;
use opal_core::hash::{Algorithm, Digest};
use opal_testing::processes::eventually;
use opal_trust::keys::{Credentials, Recipient, Runner, SigningKey, seal_to};
use opal_trust::messages::{Kind, Message};
use opal_trust::order::{Order, OrderId, RunnerKeys, Share};
use opal_vault::root::Root;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::shop::{Shop, Started};

/// Somebody who can do everything on the server.
struct Enemy {
    runtime: Runtime,
    stream: jetstream::Context,
}

fn digest(bytes: &[u8]) -> Digest {
    Algorithm::Sha256.digest(&[bytes])
}

impl Enemy {
    fn of(shop: &Shop) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stream = runtime.block_on(async {
            jetstream::new(async_nats::connect(shop.nats.address()).await.unwrap())
        });
        Self { runtime, stream }
    }

    fn put_claim(&self, key: &str, bytes: Vec<u8>) {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.put(key, bytes.into()).await.unwrap();
        });
    }

    fn claim(&self, key: &str) -> Option<Vec<u8>> {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.get(key).await.unwrap().map(|it| it.to_vec())
        })
    }

    fn remove_claim(&self, key: &str) {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.purge(key).await.unwrap();
        });
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.runtime.block_on(async {
            let objects = self.stream.get_object_store("opal-objects-eu").await.unwrap();
            objects.put(name, &mut &*bytes).await.unwrap();
        });
    }

    fn publish(&self, subject: String, bytes: Vec<u8>) {
        self.runtime.block_on(async {
            self.stream.publish(subject, bytes.into()).await.unwrap().await.unwrap();
        });
    }

    /// The message of the first share that waits.
    fn first_share(&self) -> (String, Vec<u8>) {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            let message =
                stream.get_first_raw_message_by_subject("opal.shares.eu.>", 1).await.unwrap();
            (message.subject.to_string(), message.payload.to_vec())
        })
    }

    fn redelivered(&self) -> usize {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            let info = stream.consumer_info("runners").await.unwrap();
            info.num_redelivered
        })
    }

    fn waiting(&self) -> u64 {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            stream.cached_info().state.messages
        })
    }
}

/// An order that was made by hand, and everything it names.
struct Forged {
    order: Order,
    contract: Vec<u8>,
    bundle: Vec<u8>,
    readers: Vec<Recipient>,
    key: SigningKey,
}

/// The archive of the sources of a contract, as opal writes it.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(text.len() as u64);
        out.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    zstd::encode_all(out.into_inner().unwrap().as_slice(), 3).unwrap()
}

/// One entry with a name and a kind that nobody checks.
fn bad_archive(name: &str, kind: tar::EntryType) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(0);
    header.set_cksum();
    zstd::encode_all([header.as_bytes().as_slice(), &[0; 1024]].concat().as_slice(), 3).unwrap()
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// A good order, signed by whoever may dispatch: each attack changes one thing.
fn good(shop: &Shop, contract: &str) -> Forged {
    let root = Root::new(shop.at("d"));
    let key = Credentials::new(&root).signing_key("ops").unwrap();
    let own = Root::new(shop.at("r0"));
    let runner = RunnerKeys {
        recipient: Runner::of_machine(&own).unwrap().recipient(),
        key: Credentials::new(&own).queue_key().unwrap().public(),
    };
    let dispatcher = Runner::of_machine(&root).unwrap().recipient();
    let contract = fs::read(contract).unwrap();
    let source = fs::read_to_string(shop.at("project/commands.opl")).unwrap();
    let bundle = archive(&[("commands.opl", &source)]);
    let order = Order {
        id: OrderId::draw(),
        contract: digest(&contract),
        approvals: None,
        bundle: digest(&bundle),
        source: "commands.opl".into(),
        pool: "eu".into(),
        runners: vec![runner.clone()],
        dispatcher,
        made: now(),
        end: now() + 3600,
        once: false,
        shares: vec![Share { batch: 1, targets: vec!["t1".into(), "t2".into()] }],
    };
    Forged { order, contract, bundle, readers: vec![runner.recipient], key }
}

impl Forged {
    /// Sends its first share.
    fn send(&self, enemy: &Enemy) {
        let line = self.order.sign(&self.key).unwrap();
        let store = |bytes: &[u8]| {
            let sealed = seal_to(bytes, &self.readers).unwrap();
            let name = digest(&sealed).hex();
            enemy.store(&name, &sealed);
            name
        };
        let ticket = json!({
            "approvals": null, "bundle": store(&self.bundle), "contract": store(&self.contract),
            "order": store(line.as_bytes()),
        });
        let subject = format!("opal.shares.eu.{}.1", self.order.id);
        enemy.publish(subject, ticket.to_string().into_bytes());
    }
}

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
fn a_runner_whose_clock_is_off_takes_nothing() {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    if !opal_testing::needs::has("`faketime`", std::path::Path::new(library).exists()) {
        return;
    }
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let root = shop.name("r0");
    for more in [&[][..], &["--check"]] {
        let words = ["runner", "--pool", "eu", "--root", &root, "--insecure-queue"];
        let mut command = shop.command(&[&words[..], more].concat());
        command
            .env("LD_PRELOAD", library)
            .env("FAKETIME", "+120s")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(69), "{said}");
        assert!(said.contains("from the server's; at most 60 s are accepted"), "{said}");
    }
}
