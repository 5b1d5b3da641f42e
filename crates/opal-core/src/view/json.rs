//! JSON, as `docs/schema/plan-1.json` describes it, with sorted keys.
//!
//! A constant argument is plain JSON. What is not a constant is an object whose first key begins
//! with `$`, so that no constant can be mistaken for it; a constant Map that has such a key itself
//! is `{"$map": …}`. The `command` of a shell step is one text for people.

mod argument;
mod step;

use serde_json::{Map, Value as Node, json};

use super::{Facts, PlanFormatter, PlanView, PluginFact, named_digest, time_text, visible};
use crate::contract::TargetRecord;
use crate::gather::Gather as _;
use crate::hash::{Algorithm, Digest};
use crate::plan::{Deferred, Read};
use crate::resource::Status;
use argument::{constant, constants};

/// The version of the document's form.
const FORMAT_VERSION: &str = "1.0.0";

/// Indented JSON with a line feed at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl PlanFormatter for Json {
    fn format(&self, view: &PlanView<'_>) -> Vec<u8> {
        let document = document(view);
        visible::json(&format!("{document:#}\n")).into_bytes()
    }
}

impl Json {
    /// The same document on one line: `--format json-compact`, and records.
    #[must_use]
    pub fn line(&self, view: &PlanView<'_>) -> Vec<u8> {
        visible::json(&format!("{}\n", document(view))).into_bytes()
    }
}

fn document(view: &PlanView<'_>) -> Node {
    let plan = view.plan;
    let mut header = json!({
        "format_version": FORMAT_VERSION,
        "hash_algorithm": plan.algorithm.name(),
        "mode": plan.mode.name(),
        "plan_hash": named_digest(plan.algorithm, &view.plan_hash),
        "source_hash": named_digest(plan.algorithm, &plan.source_hash),
    });
    if let Some(time) = view.facts.created.or(view.now).and_then(time_text) {
        header["timestamp"] = time.into();
    }
    let public = plan.values.iter().filter_map(|(key, value)| {
        let clear = value.public.as_ref()?;
        Some((key.to_string(), constant(clear)))
    });
    let holders = plan.values.iter().filter(|(_, value)| !value.holders.is_empty());
    let placeholders = plan.values.iter().map(|(key, value)| {
        let placeholder: Node = value.placeholder.to_string().into();
        (key.to_string(), placeholder)
    });
    json!({
        "arguments": constants(&plan.target.arguments),
        "deferred": plan.deferred.iter().map(deferred).collect::<Vec<_>>(),
        "header": header,
        "holders": holders
            .map(|(key, value)| (key.to_string(), json!(value.holders)))
            .gathered::<Map<_, _>>(),
        "notes": view.notes,
        "provenance": provenance(plan.algorithm, &view.facts),
        "public": public.gathered::<Map<_, _>>(),
        "reads": plan.reads.iter().map(read).collect::<Vec<_>>(),
        "steps": plan.steps.iter().map(|one| step::node(view, one)).collect::<Vec<_>>(),
        "target": plan.target.name,
        "values": placeholders.gathered::<Map<_, _>>(),
    })
}

fn deferred(deferred: &Deferred) -> Node {
    json!({"holders": deferred.holders, "key": &*deferred.key, "why": deferred.why})
}

fn read(read: &Read) -> Node {
    let path = read.decorator.trim_start_matches('@');
    let mut node = json!({"decorator": format!("@{path}"), "key": &*read.key});
    if let Some(placeholder) = &read.placeholder {
        node["placeholder"] = placeholder.to_string().into();
    }
    if let Some(public) = &read.public {
        node["public"] = constant(public);
    }
    node
}

fn provenance(algorithm: Algorithm, facts: &Facts) -> Node {
    let mut node = Map::new();
    let texts = [
        ("compiler_version", facts.compiler_version.clone()),
        ("source_commit", facts.source_commit.clone()),
        ("source_path", facts.source_path.clone()),
        ("generated_by", facts.generated_by.clone()),
        ("project", facts.project.clone()),
        ("expires", facts.expires.and_then(time_text)),
        ("placeholder_key", facts.key_of_process.then(|| "process".to_owned())),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    node.extend(texts.map(|(name, text)| (name.to_owned(), text.into())));
    node.insert("once".into(), facts.once.into());
    node.insert("plugins".into(), facts.plugins.iter().map(plugin).collect());
    if !facts.resources.is_empty() {
        let resource =
            |(path, status): &(Box<str>, Status)| json!({"path": path, "status": status.name()});
        node.insert("resources".into(), facts.resources.iter().map(resource).collect());
    }
    if !facts.options.is_empty() {
        node.insert("options".into(), json!(facts.options));
    }
    if let Some(seed) = &facts.seed {
        let hash = seed.seed_hash.hex();
        let seed =
            json!({"alg": seed.alg, "kdf": seed.kdf, "scope": seed.scope, "seed_hash": hash});
        node.insert("seed".into(), seed);
    }
    node.insert("signed_by".into(), json!(facts.signed_by));
    if facts.source_modified {
        node.insert("source_modified".into(), true.into());
    }
    if !facts.sources.is_empty() {
        let source = |(path, digest): &(String, Digest)| json!({"digest": named_digest(algorithm, digest), "path": path});
        node.insert("sources".into(), facts.sources.iter().map(source).collect());
    }
    if !facts.targets.is_empty() {
        node.insert("targets".into(), facts.targets.iter().map(target_record).collect());
    }
    node.into()
}

/// Who answered on a target when a contract was made.
#[must_use]
pub fn target_record(target: &TargetRecord) -> Node {
    let mut node = json!({
        "arch": target.arch,
        "machine": target.machine.to_string(),
        "name": target.name,
        "os": target.os,
        "transport": target.transport,
    });
    if let Some(user) = target.user {
        node["user"] = json!(user);
    }
    if let Some(key) = &target.host_key {
        node["host_key"] = json!({"algorithm": key.algorithm(), "identity": key.identity()});
    }
    node
}

fn plugin(plugin: &PluginFact) -> Node {
    let mut node = json!({"name": plugin.name, "version": plugin.version});
    let more = [
        ("source", &plugin.source),
        ("verification", &plugin.verification),
        ("signed_by", &plugin.signed_by),
    ];
    for (name, text) in more {
        if let Some(text) = text {
            node[name] = text.as_str().into();
        }
    }
    node
}
