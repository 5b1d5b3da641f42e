//! Somebody who owns the queue, or has the credentials of a runner, and what they forge.

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

use crate::shop::Shop;

/// Somebody who can do everything on the server.
pub(crate) struct Enemy {
    runtime: Runtime,
    client: async_nats::Client,
    stream: jetstream::Context,
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Algorithm::Sha256.digest(&[bytes])
}

impl Enemy {
    pub(crate) fn of(shop: &Shop) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (client, stream) = runtime.block_on(async {
            let client = async_nats::connect(shop.nats.address()).await.unwrap();
            (client.clone(), jetstream::new(client))
        });
        Self { runtime, client, stream }
    }

    /// Says something that nobody has to acknowledge.
    pub(crate) fn say(&self, subject: &'static str, text: &'static str) {
        self.runtime.block_on(async {
            self.client.publish(subject, text.into()).await.unwrap();
            self.client.flush().await.unwrap();
        });
    }

    /// Makes a stream, or gives one other settings.
    pub(crate) fn set(&self, config: jetstream::stream::Config) {
        self.runtime.block_on(async {
            match self.stream.get_stream(&config.name).await {
                Ok(_) => self.stream.update_stream(config).await.map(|_| ()).unwrap(),
                Err(_) => self.stream.create_stream(config).await.map(|_| ()).unwrap(),
            }
        });
    }

    pub(crate) fn settings(&self, name: &str) -> jetstream::stream::Config {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream(name).await.unwrap();
            stream.cached_info().config.clone()
        })
    }

    pub(crate) fn put_claim(&self, key: &str, bytes: Vec<u8>) {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.put(key, bytes.into()).await.unwrap();
        });
    }

    pub(crate) fn claim(&self, key: &str) -> Option<Vec<u8>> {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.get(key).await.unwrap().map(|it| it.to_vec())
        })
    }

    pub(crate) fn remove_claim(&self, key: &str) {
        self.runtime.block_on(async {
            let claims = self.stream.get_key_value("opal-claims-eu").await.unwrap();
            claims.purge(key).await.unwrap();
        });
    }

    pub(crate) fn store(&self, name: &str, bytes: &[u8]) {
        self.runtime.block_on(async {
            let objects = self.stream.get_object_store("opal-objects-eu").await.unwrap();
            objects.put(name, &mut &*bytes).await.unwrap();
        });
    }

    /// Makes an object that leads to another one.
    pub(crate) fn link(&self, name: &str, to: &str) {
        self.runtime.block_on(async {
            let objects = self.stream.get_object_store("opal-objects-eu").await.unwrap();
            let found = objects.get(to).await.unwrap();
            objects.add_link(name, &found).await.unwrap();
        });
    }

    pub(crate) fn publish(&self, subject: String, bytes: Vec<u8>) {
        self.runtime.block_on(async {
            self.stream.publish(subject, bytes.into()).await.unwrap().await.unwrap();
        });
    }

    /// The message of the first share that waits, once it was sent.
    pub(crate) fn first_share(&self) -> (String, Vec<u8>) {
        eventually("a share was sent", || self.waiting() > 0);
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            let message =
                stream.get_first_raw_message_by_subject("opal.shares.eu.>", 1).await.unwrap();
            (message.subject.to_string(), message.payload.to_vec())
        })
    }

    pub(crate) fn redelivered(&self) -> usize {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            let info = stream.consumer_info("runners").await.unwrap();
            info.num_redelivered
        })
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.runtime.block_on(async {
            let stream = self.stream.get_stream("opal-eu").await.unwrap();
            stream.cached_info().state.messages
        })
    }
}

/// An order that was made by hand, and everything it names.
pub(crate) struct Forged {
    pub(crate) order: Order,
    pub(crate) contract: Vec<u8>,
    pub(crate) bundle: Vec<u8>,
    pub(crate) readers: Vec<Recipient>,
    pub(crate) key: SigningKey,
}

/// The archive of the sources of a contract, as opal writes it.
pub(crate) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
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
pub(crate) fn bad_archive(name: &str, kind: tar::EntryType) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(0);
    header.set_cksum();
    zstd::encode_all([header.as_bytes().as_slice(), &[0; 1024]].concat().as_slice(), 3).unwrap()
}

pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// A good order, signed by whoever may dispatch: each attack changes one thing.
pub(crate) fn good(shop: &Shop, contract: &str) -> Forged {
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
    pub(crate) fn send(&self, enemy: &Enemy) {
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

    /// Says that it was dispatched, to this machine.
    pub(crate) fn announce(&self, enemy: &Enemy, to: Recipient) {
        let line = self.order.sign(&self.key).unwrap();
        let sealed = seal_to(line.as_bytes(), std::slice::from_ref(&to)).unwrap();
        let name = digest(&sealed).hex();
        enemy.store(&name, &sealed);
        let said = json!({"dispatched": {"order": name, "path": "task", "tolerate": 0}});
        let message = Message {
            kind: Kind::Event,
            order: self.order.id,
            share: 0,
            attempt: 1,
            number: 1,
            content: format!("{said}\n").into_bytes(),
        };
        let sealed = seal_to(&message.sign(&self.key), &[to]).unwrap();
        enemy.publish(format!("opal.events.{}.0", self.order.id), sealed);
    }
}

/// The order of the first share that waits.
pub(crate) fn first_order(enemy: &Enemy) -> OrderId {
    OrderId::parse(enemy.first_share().0.split('.').nth(3).unwrap()).unwrap()
}

/// The key with which a runner signs.
pub(crate) fn key_of(shop: &Shop, runner: &str) -> SigningKey {
    Credentials::new(&Root::new(shop.at(runner))).queue_key().unwrap()
}

/// The key that things are sealed to which a machine may read.
pub(crate) fn recipient_of(shop: &Shop, machine: &str) -> Recipient {
    Runner::of_machine(&Root::new(shop.at(machine))).unwrap().recipient()
}
