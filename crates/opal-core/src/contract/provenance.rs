//! PROVENANCE: who made a contract, of what and with what. Nothing of it is in the PlanHash.
//!
//! One object of canonical JSON holds it together with what the plan knows and its hash does not:
//! the target's arguments, the plan-time reads, the reasons of steps, what was seen of resources, and
//! for each value its roots, its holders and, where it is public, the value itself.

mod parts;
pub(super) mod read;
mod resources;
mod targets;

use std::collections::{BTreeMap, BTreeSet};

use super::error::{FormatError, Section};
use super::json::Writer;
use super::{weight, wire_v1};
use crate::gather::Gather as _;
use crate::hash::Digest;
use crate::plan::{Key, Plan};

use parts::{RECORD_WEIGHT, write_optional, write_set};

pub use resources::Seen;
pub use targets::TargetRecord;

/// What a contract says about its making, apart from the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The version of the tool.
    pub compiler: String,
    pub source: Option<Source>,
    /// Every source file that was read, in the order of the paths.
    pub sources: Vec<SourceFile>,
    /// The commit of the source, where it is in a repository.
    pub commit: Option<String>,
    /// Whether the source had changes that are not in that commit.
    pub modified: bool,
    /// Options that change a run and are not in the hash, by their names without dashes, each with
    /// its values; a flag has none.
    pub options: BTreeMap<String, Vec<String>>,
    pub generated_by: Option<String>,
    pub host: Option<String>,
    /// What placeholder keys are derived for.
    pub project: Option<String>,
    /// Which key the placeholders were made with; values of two contracts can only be compared
    /// where this is the same.
    pub placeholder_key_id: String,
    pub plugins: Vec<PluginRecord>,
    /// What the verification of each resource of the plan found, in the order of the plan.
    pub resources: Vec<Seen>,
    /// Who answered on each target of the plan, in the order of the plan.
    pub targets: Vec<TargetRecord>,
    pub seed: Option<Seed>,
    /// The Unix time from which on it may not be run.
    pub expires: Option<i64>,
    /// Whether it may be run only once.
    pub once: bool,
    /// The Ed25519 key that the signature can be checked with. It is there if and only if the file
    /// is signed, so that a damaged signature is found without any policy; it says nothing about
    /// whether that key is to be trusted.
    pub signer: Option<[u8; 32]>,
}

/// Where the source was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// From where the planner ran.
    pub path: String,
    pub absolute: String,
}

/// A file that the plan was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    /// Of its bytes, with the algorithm of the plan.
    pub digest: Digest,
}

/// A plugin that the plan uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRecord {
    pub name: String,
    pub version: String,
    pub source: String,
    pub verification: String,
    pub signed_by: Option<String>,
    pub schema: Option<Digest>,
    /// Of all files of the package: `sha256:…`.
    pub checksum: Option<String>,
    pub engine: Option<String>,
    /// What it may do, in order.
    pub capabilities: Vec<String>,
}

/// What is known of the seed without opening the envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// `chacha20-drbg`.
    pub alg: String,
    /// `hkdf-sha256`.
    pub kdf: String,
    pub scope: String,
    pub seed_hash: Digest,
}

/// The section, and what it needs in memory.
pub(super) fn write(plan: &Plan, made: &Provenance) -> Result<(Vec<u8>, usize), FormatError> {
    let unwritable = |reason: String| FormatError::unwritable(Section::Provenance, reason);
    let mut json = Writer::default();
    let mut heavy = 0;
    json.open(b'{');
    if !plan.target.arguments.is_empty() {
        json.plain_key("arguments");
        json.open(b'{');
        for (name, argument) in &plan.target.arguments {
            json.key(name);
            let (weight, problem) = wire_v1::value(&mut json, argument);
            heavy += weight + RECORD_WEIGHT + name.len();
            problem.map_or(Ok(()), |problem| Err(unwritable(problem)))?;
        }
        json.close(b'}');
    }
    write_optional(&mut json, "commit", made.commit.as_deref());
    write_optional(&mut json, "compiler", Some(&made.compiler));
    if let Some(expires) = made.expires {
        json.plain_key("expires");
        json.int(expires);
    }
    write_optional(&mut json, "generated_by", made.generated_by.as_deref());
    write_optional(&mut json, "host", made.host.as_deref());
    write_flag(&mut json, "modified", made.modified);
    write_flag(&mut json, "once", made.once);
    heavy += write_options(&mut json, &made.options);
    write_optional(&mut json, "placeholder_key_id", Some(&made.placeholder_key_id));
    heavy += write_plugins(&mut json, &made.plugins);
    write_optional(&mut json, "project", made.project.as_deref());
    heavy += write_reads(&mut json, plan).map_err(unwritable)?;
    heavy += write_reasons(&mut json, plan);
    heavy += resources::write(&mut json, plan, &made.resources).map_err(unwritable)?;
    if let Some(seed) = &made.seed {
        json.plain_key("seed");
        json.open(b'{');
        write_optional(&mut json, "alg", Some(&seed.alg));
        write_optional(&mut json, "kdf", Some(&seed.kdf));
        write_optional(&mut json, "scope", Some(&seed.scope));
        write_optional(&mut json, "seed_hash", Some(&seed.seed_hash.hex()));
        json.close(b'}');
    }
    write_optional(&mut json, "signer", made.signer.map(|key| Digest(key).hex()).as_deref());
    if let Some(source) = &made.source {
        json.plain_key("source");
        json.open(b'{');
        write_optional(&mut json, "absolute", Some(&source.absolute));
        write_optional(&mut json, "path", Some(&source.path));
        json.close(b'}');
    }
    heavy += write_sources(&mut json, &made.sources);
    heavy += targets::write(&mut json, plan, &made.targets).map_err(unwritable)?;
    heavy += write_values(&mut json, plan).map_err(unwritable)?;
    json.close(b'}');
    heavy += json.out.len();
    Ok((json.out, heavy))
}

fn write_flag(json: &mut Writer, name: &'static str, is_set: bool) {
    if is_set {
        json.plain_key(name);
        json.bool(true);
    }
}

fn write_options(json: &mut Writer, options: &BTreeMap<String, Vec<String>>) -> usize {
    if options.is_empty() {
        return 0;
    }
    json.plain_key("options");
    json.open(b'{');
    let mut heavy = 0;
    for (name, values) in options {
        json.key(name);
        let count = write_set(json, values.iter().map(String::as_str));
        heavy += RECORD_WEIGHT + set_weight(count);
    }
    json.close(b'}');
    heavy
}

fn write_sources(json: &mut Writer, sources: &[SourceFile]) -> usize {
    if sources.is_empty() {
        return 0;
    }
    json.plain_key("sources");
    json.open(b'[');
    for source in sources {
        json.item();
        json.open(b'{');
        write_optional(json, "digest", Some(&source.digest.hex()));
        write_optional(json, "path", Some(&source.path));
        json.close(b'}');
    }
    json.close(b']');
    sources.len() * RECORD_WEIGHT
}

fn write_plugins(json: &mut Writer, plugins: &[PluginRecord]) -> usize {
    if plugins.is_empty() {
        return 0;
    }
    json.plain_key("plugins");
    json.open(b'[');
    for plugin in plugins {
        json.item();
        json.open(b'{');
        if !plugin.capabilities.is_empty() {
            json.plain_key("capabilities");
            write_set(json, plugin.capabilities.iter().map(String::as_str));
        }
        write_optional(json, "checksum", plugin.checksum.as_deref());
        write_optional(json, "engine", plugin.engine.as_deref());
        write_optional(json, "name", Some(&plugin.name));
        write_optional(json, "schema", plugin.schema.map(|schema| schema.hex()).as_deref());
        write_optional(json, "signed_by", plugin.signed_by.as_deref());
        write_optional(json, "source", Some(&plugin.source));
        write_optional(json, "verification", Some(&plugin.verification));
        write_optional(json, "version", Some(&plugin.version));
        json.close(b'}');
    }
    json.close(b']');
    plugins.len() * RECORD_WEIGHT
}

fn write_reads(json: &mut Writer, plan: &Plan) -> Result<usize, String> {
    if plan.reads.is_empty() {
        return Ok(0);
    }
    json.plain_key("reads");
    json.open(b'[');
    let mut heavy = 0;
    for read in &plan.reads {
        json.item();
        json.open(b'{');
        write_optional(json, "decorator", Some(&read.decorator));
        if let Some(found) = &read.placeholder {
            if found.algorithm != plan.algorithm {
                return Err(format!("`{}` was hashed with another algorithm", read.key));
            }
            write_optional(json, "digest", Some(&found.digest.hex()));
        }
        write_optional(json, "key", Some(&read.key));
        if let Some(found) = &read.placeholder {
            json.plain_key("length");
            json.int(found.length.into());
        }
        if let Some(public) = &read.public {
            json.plain_key("public");
            let (weight, problem) = wire_v1::value(json, public);
            heavy += weight;
            problem.map_or(Ok(()), Err)?;
        }
        json.close(b'}');
    }
    json.close(b']');
    Ok(heavy + plan.reads.len() * RECORD_WEIGHT)
}

fn write_reasons(json: &mut Writer, plan: &Plan) -> usize {
    let reasons = plan.all_steps().filter_map(|step| Some((&*step.path, step.reason()?)));
    let reasons: BTreeMap<&str, String> = reasons.gathered();
    if reasons.is_empty() {
        return 0;
    }
    json.plain_key("reasons");
    json.open(b'{');
    for (path, reason) in &reasons {
        json.key(path);
        json.string(reason);
    }
    json.close(b'}');
    reasons.keys().map(|path| weight::ITEM + path.len()).sum()
}

fn write_values(json: &mut Writer, plan: &Plan) -> Result<usize, String> {
    let mut heavy = 0;
    let mut started = false;
    for (key, value) in &plan.values {
        let rooted = !is_its_own_root(key, &value.roots);
        if !rooted && value.holders.is_empty() && value.public.is_none() {
            continue;
        }
        if !std::mem::replace(&mut started, true) {
            json.plain_key("values");
            json.open(b'{');
        }
        json.key(key);
        json.open(b'{');
        if !value.holders.is_empty() {
            json.plain_key("holders");
            heavy += set_weight(write_set(json, value.holders.iter().map(String::as_str)));
        }
        if let Some(public) = &value.public {
            json.plain_key("public");
            let (weight, problem) = wire_v1::value(json, public);
            heavy += weight;
            problem.map_or(Ok(()), Err)?;
        }
        if rooted {
            json.plain_key("roots");
            heavy += set_weight(write_set(json, value.roots.iter().map(|root| &**root)));
        }
        json.close(b'}');
    }
    if started {
        json.close(b'}');
    }
    Ok(heavy)
}

/// What so many texts need in memory.
const fn set_weight(count: usize) -> usize {
    weight::MAP + count * weight::ITEM
}

/// What a value that was read itself has, and what is therefore left out.
fn is_its_own_root(key: &Key, roots: &BTreeSet<Key>) -> bool {
    roots.len() == 1 && roots.contains(key)
}
