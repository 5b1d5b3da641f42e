//! A resolved plan to the bytes of a contract.

use std::collections::BTreeMap;

use opal_core::Registry;
use opal_core::contract::{
    Contract, Encoding, FormatError, PluginRecord, Provenance, Seed, Sign, encode, schema_hash,
};
use opal_core::plan::{Plan, Step};

use super::OwnKeys;
use crate::keys::{Envelope, KeyError, Recipient, SealError, SigningKey};

/// What a contract gets besides its plan.
#[derive(Debug)]
pub struct Making<'m> {
    /// Unix time.
    pub created: i64,
    /// Who, where and from what; keys, plugins and the seed are filled in here.
    pub provenance: Provenance,
    /// Runners that may run it, besides this one.
    pub recipients: &'m [Recipient],
    pub signer: Option<&'m SigningKey>,
    pub registry: &'m Registry,
}

/// Why there is no contract.
#[derive(Debug)]
pub enum Unmade {
    Format(FormatError),
    Key(KeyError),
    Seal(SealError),
}

/// Steps and values from this size on are packed; below it packing gains nothing.
const PACKED_FROM_BYTES: usize = 4096;

/// Writes the contract of a plan that was made with `keys`.
pub fn make(plan: Plan, keys: &mut OwnKeys<'_>, making: Making<'_>) -> Result<Vec<u8>, Unmade> {
    let placeholder_key = keys.own_placeholder_key().map_err(Unmade::Key)?;
    let mut provenance = making.provenance;
    provenance.placeholder_key_id = placeholder_key.id();
    provenance.plugins = plugins(&plan, making.registry);
    provenance.signer = making.signer.map(|key| *key.public().as_bytes());
    provenance.seed = Some(Seed {
        alg: "chacha20-drbg".into(),
        kdf: "hkdf-sha256".into(),
        scope: "plan".into(),
        seed_hash: keys.secret.seed_hash(),
    });
    let envelope = Envelope {
        secret: keys.secret.clone(),
        placeholder_key,
        regen: std::mem::take(&mut keys.regen),
    };
    let (runner, project) = keys.runner().map_err(Unmade::Key)?;
    provenance.project = Some(project.clone());
    let sealed = envelope.seal(runner, making.recipients).map_err(Unmade::Seal)?;
    let large = plan.steps.len() * 64 + plan.values.len() * 64 > PACKED_FROM_BYTES;
    let contract = Contract::new(plan, making.created, provenance).map_err(Unmade::Format)?;
    let encoding = Encoding {
        envelope: &sealed,
        auth_key: &envelope.secret.auth_key(),
        compress: large,
        signer: making.signer.map(|key| key as &dyn Sign),
    };
    encode(&contract, &encoding).map_err(Unmade::Format)
}

/// The plugins whose decorators the plan uses, by name.
fn plugins(plan: &Plan, registry: &Registry) -> Vec<PluginRecord> {
    let mut found = BTreeMap::new();
    let mut note = |path: &str| {
        let descriptor = registry.get(path.trim_start_matches('@'));
        if let Some((descriptor, plugin)) = descriptor.and_then(|d| Some((d, d.plugin?))) {
            found.entry((plugin.name, descriptor.path)).or_insert_with(|| PluginRecord {
                name: plugin.name.into(),
                version: plugin.version.into(),
                source: plugin.source.into(),
                verification: plugin.verification.into(),
                signed_by: plugin.signed_by.map(Into::into),
                schema: Some(schema_hash(descriptor)),
            });
        }
    };
    plan.reads.iter().for_each(|read| note(&read.decorator));
    let mut open: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = open.pop() {
        note(&step.decorator);
        open.extend(&step.block);
    }
    found.into_values().collect()
}
