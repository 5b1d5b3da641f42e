//! A project whose targets are this machine, a contract, and orders for it.

use std::fs;
use std::path::PathBuf;

use opal_core::hash::{Algorithm, Digest};
use opal_trust::keys::{Runner, SigningKey};
use opal_trust::order::{Order, OrderId, RunnerKeys, Share};
use opal_vault::root::Root;

use crate::fleets::local;
use crate::support::{Opal, Ran};

pub(super) struct Pool {
    pub(super) opal: Opal,
    pub(super) key: SigningKey,
}

/// `h1` to `hN`, a contract for the block on them, and a dispatcher whom the policy knows.
pub(super) fn pool(count: usize, block: &str, options: &str) -> Option<Pool> {
    let opal = local(count, block, options)?.file("home/.keep", "");
    let home = opal.path().join("home").display().to_string();
    Some(Pool::of(opal.env("HOME", &home)))
}

impl Pool {
    pub(super) fn of(opal: Opal) -> Self {
        let key = SigningKey::generate();
        opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
        let pool = Self { opal, key };
        pool.policy(&format!("dispatchers = [\"{}\"]\n", pool.key.public()));
        pool
    }

    pub(super) fn policy(&self, text: &str) {
        fs::create_dir_all(self.opal.path().join("root/config")).unwrap();
        self.opal.write("root/config/policy.toml", text);
    }

    /// Writes an order for these shares, which the dispatcher has signed.
    pub(super) fn order(&self, shares: &[&[&str]], change: impl FnOnce(&mut Order)) {
        let order = self.unsigned(shares, change);
        self.opal.write("order", order.sign(&self.key).unwrap());
    }

    pub(super) fn unsigned(&self, shares: &[&[&str]], change: impl FnOnce(&mut Order)) -> Order {
        let runner = Runner::of_machine(&Root::new(self.opal.path().join("root"))).unwrap();
        let share = |names: &&[&str]| Share {
            batch: 1,
            targets: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let key = SigningKey::generate().public();
        let mut order = Order {
            id: OrderId::parse("00112233445566778899aabbccddeeff").unwrap(),
            contract: Algorithm::Sha256.digest(&[&self.opal.bytes("c.plan")]),
            approvals: None,
            bundle: Digest([3; 32]),
            source: "commands.opl".into(),
            pool: "eu".into(),
            runners: vec![RunnerKeys { recipient: runner.recipient(), key }],
            dispatcher: runner.recipient(),
            made: now() - 10,
            end: now() + 3600,
            once: false,
            shares: shares.iter().map(share).collect(),
        };
        change(&mut order);
        order
    }

    pub(super) fn share(&self, number: u32) -> Ran {
        let number = number.to_string();
        self.opal.call(&["run", "--plan", "c.plan", "--order", "order", "--share", &number])
    }

    /// What steps have left on the targets, sorted.
    pub(super) fn marks(&self) -> Vec<String> {
        let text = fs::read_to_string(self.opal.path().join("home/marks")).unwrap_or_default();
        let mut marks: Vec<String> = text.lines().map(str::to_owned).collect();
        marks.sort();
        marks
    }

    pub(super) fn journals(&self) -> Vec<PathBuf> {
        let folder = self.opal.path().join("home/.local/state/opal");
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// In Unix seconds.
pub(super) fn now() -> i64 {
    let now = opal_session::clock::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}
