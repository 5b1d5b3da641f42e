//! A resolved plan to the bytes of a contract.

use std::collections::BTreeMap;

use opal_core::Registry;
use opal_core::contract::{
    Contract, Encoding, FormatError, PluginRecord, Provenance, Seed, Sign, encode, schema_hash,
};
use opal_core::decorator::Descriptor;
use opal_core::plan::{Plan, RedirectTarget, Step};

use super::OwnKeys;
use super::plan_keys::Drawn;
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

/// Writes the contract of a plan that was made with `keys`.
pub fn make(plan: Plan, keys: &mut OwnKeys<'_>, making: Making<'_>) -> Result<Vec<u8>, Unmade> {
    let placeholder_key = keys.own_placeholder_key().map_err(Unmade::Key)?;
    let mut provenance = making.provenance;
    provenance.placeholder_key_id = placeholder_key.id();
    provenance.plugins = plugins(&plan, &keys.drawn, making.registry);
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
    let contract = Contract::new(plan, making.created, provenance).map_err(Unmade::Format)?;
    let encoding = Encoding {
        envelope: &sealed,
        auth_key: &envelope.secret.auth_key(),
        compress: contract.is_worth_packing(),
        signer: making.signer.map(|key| key as &dyn Sign),
    };
    encode(&contract, &encoding).map_err(Unmade::Format)
}

/// The plugins whose decorators the plan uses or has drawn values from, by name.
fn plugins(plan: &Plan, drawn: &Drawn, registry: &Registry) -> Vec<PluginRecord> {
    let mut found = BTreeMap::new();
    let mut note = |descriptor: Option<&'static Descriptor>| {
        if let Some((descriptor, plugin)) = descriptor.and_then(|d| Some((d, d.plugin?))) {
            found.entry((plugin.name, descriptor.path)).or_insert_with(|| PluginRecord {
                name: plugin.name.into(),
                version: plugin.version.into(),
                source: plugin.source.into(),
                verification: plugin.verification.into(),
                signed_by: plugin.signed_by.map(Into::into),
                schema: Some(schema_hash(descriptor)),
                checksum: Some(plugin.checksum.into()),
                engine: Some(plugin.engine.into()),
                capabilities: plugin.capabilities.iter().map(|it| (*it).to_owned()).collect(),
            });
        }
    };
    let named = |path: &str| registry.get(path.trim_start_matches('@'));
    plan.reads.iter().for_each(|read| note(named(&read.decorator)));
    drawn.values().for_each(|descriptor| note(Some(descriptor)));
    let mut open: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = open.pop() {
        note(step.node.path().and_then(named));
        open.extend(&step.block);
        open.extend(step.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Step(step) => Some(&**step),
            RedirectTarget::Shell(_) => None,
        }));
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use opal_core::decorator::Plugin;
    use opal_core::hash::{Algorithm, Digest};
    use opal_core::plan::{Node, Redirect, RedirectOperator};
    use opal_core::text::Span;

    use super::*;

    static STORE: Plugin = Plugin {
        name: "store",
        version: "1.0.0",
        source: "registry:store",
        verification: "passed",
        signed_by: None,
        checksum: "sha256:00",
        engine: "wasm",
        capabilities: &[],
    };
    static PUT: Descriptor =
        Descriptor { path: "store.put", plugin: Some(&STORE), ..Descriptor::BASE };
    static DRAW: Descriptor =
        Descriptor { path: "store.draw", plugin: Some(&STORE), ..Descriptor::BASE };
    static OTHER: Descriptor =
        Descriptor { path: "store.other", plugin: Some(&STORE), ..Descriptor::BASE };

    fn step(decorator: &'static str) -> Step {
        Step::new(Node::named(decorator).unwrap(), decorator, Span::at(0))
    }

    #[test]
    fn what_a_plan_redirects_to_and_draws_from_is_recorded() {
        let registry = Registry::new(&[&PUT, &DRAW, &OTHER]).expect("each path is there once");
        let mut command = step("@shell");
        let target = RedirectTarget::Step(Box::new(step("@store.put")));
        command
            .redirects
            .push(Redirect { operator: RedirectOperator::parse(">").unwrap(), target });
        let drawn = Drawn::from([(DRAW.path, &DRAW)]);
        let empty = Plan::empty("deploy", Algorithm::Sha256, Digest([0; 32]));
        let plan = Plan { steps: vec![command], ..empty };
        let found = plugins(&plan, &drawn, &registry).into_iter();
        let schemas: Vec<_> = found.map(|it| it.schema).collect();
        assert_eq!(schemas, [Some(schema_hash(&DRAW)), Some(schema_hash(&PUT))]);
    }
}
