//! PROVENANCE, read back.

mod resources;
mod targets;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{PluginRecord, Provenance, RECORD_WEIGHT, Seed, Source, SourceFile, is_its_own_root};
use crate::contract::json::read::{Read as Parsed, Reader};
use crate::contract::weight;
use crate::contract::wire_v1::read::parts::{push, text};
use crate::contract::wire_v1::read::value;
use crate::hash::{Algorithm, Digest};
use crate::placeholder::Placeholder;
use crate::plan::{Key, MAX_REASON, Note, Plan, PlanValue, Read, Step, is_reason};

/// Reads the section into `made` and into the parts of `plan` that it holds.
pub(in crate::contract) fn read(
    r: &mut Reader<'_>,
    plan: &mut Plan,
    made: &mut Provenance,
) -> Parsed<()> {
    let (mut compiled, mut keyed) = (false, false);
    r.object(|r, name| {
        match name {
            "arguments" => read_arguments(r, plan)?,
            "commit" => made.commit = Some(text(r)?),
            "compiler" => {
                made.compiler = text(r)?;
                compiled = true;
            }
            "expires" => made.expires = Some(r.int()?),
            "generated_by" => made.generated_by = Some(text(r)?),
            "host" => made.host = Some(text(r)?),
            "modified" => made.modified = read_flag(r)?,
            "once" => made.once = read_flag(r)?,
            "options" => read_options(r, made)?,
            "placeholder_key_id" => {
                made.placeholder_key_id = text(r)?;
                keyed = true;
            }
            "plugins" => {
                r.array(|r| {
                    r.charge(RECORD_WEIGHT)?;
                    made.plugins.push(read_plugin(r)?);
                    Ok(())
                })?;
                unless_empty(r, made.plugins.is_empty())?;
            }
            "project" => made.project = Some(text(r)?),
            "reads" => {
                r.array(|r| {
                    r.charge(RECORD_WEIGHT)?;
                    plan.reads.push(read_read(r, plan.algorithm)?);
                    Ok(())
                })?;
                unless_empty(r, plan.reads.is_empty())?;
            }
            "reasons" => read_reasons(r, plan)?,
            "resources" => {
                r.array(|r| {
                    let seen = resources::read(r, plan.algorithm)?;
                    r.charge(RECORD_WEIGHT + seen.path.len())?;
                    made.resources.push(seen);
                    Ok(())
                })?;
                unless_empty(r, made.resources.is_empty())?;
            }
            "seed" => made.seed = Some(read_seed(r)?),
            "signer" => made.signer = Some(r.digest()?.0),
            "source" => made.source = Some(read_source(r)?),
            "sources" => {
                r.array(|r| {
                    r.charge(RECORD_WEIGHT)?;
                    made.sources.push(read_source_file(r)?);
                    Ok(())
                })?;
                unless_empty(r, made.sources.is_empty())?;
            }
            "targets" => {
                made.targets = targets::read_all(r, plan.algorithm)?;
                unless_empty(r, made.targets.is_empty())?;
            }
            "values" => read_values(r, plan)?,
            _ => r.unknown(name)?,
        }
        Ok(())
    })?;
    if compiled && keyed {
        return Ok(());
    }
    r.fault("`compiler` and `placeholder_key_id` are required")
}

fn unless_empty(r: &Reader<'_>, empty: bool) -> Parsed<()> {
    if empty { r.fault("an empty or false member must be omitted") } else { Ok(()) }
}

/// A flag is there where it is set.
fn read_flag(r: &mut Reader<'_>) -> Parsed<bool> {
    let is_set = r.bool()?;
    unless_empty(r, !is_set)?;
    Ok(is_set)
}

fn read_options(r: &mut Reader<'_>, made: &mut Provenance) -> Parsed<()> {
    r.object(|r, name| {
        r.charge(RECORD_WEIGHT + weight::MAP)?;
        let mut values = Vec::new();
        r.array(|r| {
            r.charge(weight::ITEM)?;
            values.push(text(r)?);
            Ok(())
        })?;
        made.options.insert(name.to_owned(), values);
        Ok(())
    })?;
    unless_empty(r, made.options.is_empty())
}

fn read_source_file(r: &mut Reader<'_>) -> Parsed<SourceFile> {
    let (mut path, mut digest) = (None, None);
    r.object(|r, member| {
        match member {
            "digest" => digest = Some(r.digest()?),
            "path" => path = Some(text(r)?),
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    match (path, digest) {
        (Some(path), Some(digest)) => Ok(SourceFile { path, digest }),
        _ => r.fault("a source file needs a `path` and a `digest`"),
    }
}

fn read_arguments(r: &mut Reader<'_>, plan: &mut Plan) -> Parsed<()> {
    r.object(|r, name| {
        r.charge(RECORD_WEIGHT + name.len())?;
        let argument = value(r)?;
        plan.target.arguments.insert(name.to_owned(), argument);
        Ok(())
    })?;
    unless_empty(r, plan.target.arguments.is_empty())
}

fn read_plugin(r: &mut Reader<'_>) -> Parsed<PluginRecord> {
    let (mut name, mut version, mut source, mut verification) = (None, None, None, None);
    let (mut signed_by, mut schema, mut checksum, mut engine) = (None, None, None, None);
    let mut capabilities = Vec::new();
    r.object(|r, member| {
        match member {
            "capabilities" => {
                r.array(|r| {
                    r.charge(weight::ITEM)?;
                    capabilities.push(text(r)?);
                    Ok(())
                })?;
                unless_empty(r, capabilities.is_empty())?;
            }
            "checksum" => checksum = Some(text(r)?),
            "engine" => engine = Some(text(r)?),
            "name" => name = Some(text(r)?),
            "schema" => schema = Some(r.digest()?),
            "signed_by" => signed_by = Some(text(r)?),
            "source" => source = Some(text(r)?),
            "verification" => verification = Some(text(r)?),
            "version" => version = Some(text(r)?),
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    match (name, version, source, verification) {
        (Some(name), Some(version), Some(source), Some(verification)) => Ok(PluginRecord {
            name,
            version,
            source,
            verification,
            signed_by,
            schema,
            checksum,
            engine,
            capabilities,
        }),
        _ => r.fault("a plugin needs a `name`, a `version`, a `source` and a `verification`"),
    }
}

fn read_read(r: &mut Reader<'_>, algorithm: Algorithm) -> Parsed<Read> {
    let (mut key, mut decorator, mut digest, mut length) = (None, None, None, None);
    let mut public = None;
    r.object(|r, member| {
        match member {
            "decorator" => decorator = Some(text(r)?),
            "digest" => digest = Some(r.digest()?),
            "key" => key = Some(text(r)?),
            "length" => length = Some(read_length(r)?),
            "public" => public = Some(value(r)?),
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    let placeholder = placeholder(r, algorithm, digest, length)?;
    match (key, decorator) {
        (Some(key), Some(decorator)) => {
            Ok(Read { key: key.into(), decorator: decorator.into(), placeholder, public })
        }
        _ => r.fault("a read needs a `key` and a `decorator`"),
    }
}

fn read_length(r: &mut Reader<'_>) -> Parsed<u32> {
    let length = u32::try_from(r.int()?);
    length.or_else(|_| r.fault("a length must fit in 32 bits"))
}

fn placeholder(
    r: &Reader<'_>,
    algorithm: Algorithm,
    digest: Option<Digest>,
    length: Option<u32>,
) -> Parsed<Option<Placeholder>> {
    match (digest, length) {
        (Some(digest), Some(length)) => Ok(Some(Placeholder { length, algorithm, digest })),
        (None, None) => Ok(None),
        _ => r.fault("`digest` and `length` must occur together"),
    }
}

/// Paths, sorted, with what is not given to a step yet.
type Reasons = Vec<(Box<str>, Option<Box<str>>)>;

fn read_reasons(r: &mut Reader<'_>, plan: &mut Plan) -> Parsed<()> {
    let mut reasons = Reasons::new();
    r.object(|r, path| {
        r.charge(weight::ITEM + path.len())?;
        let reason = text(r)?;
        if !is_reason(&reason) {
            return r.fault(format!("a reason must be one line of 1 to {MAX_REASON} characters"));
        }
        push(&mut reasons, (path.into(), Some(reason.into())));
        Ok(())
    })?;
    unless_empty(r, reasons.is_empty())?;
    explain(&mut plan.steps, &mut reasons);
    match reasons.iter().find(|(_, reason)| reason.is_some()) {
        Some((path, _)) => r.fault(format!("`{path}` has a reason but is not a step")),
        None => Ok(()),
    }
}

fn explain(steps: &mut [Step], reasons: &mut Reasons) {
    for step in steps {
        if let Ok(index) = reasons.binary_search_by(|(path, _)| path.cmp(&step.path)) {
            step.note = reasons[index].1.take().map(|reason| Note::read(step, reason));
        }
        explain(&mut step.block, reasons);
    }
}

fn read_seed(r: &mut Reader<'_>) -> Parsed<Seed> {
    let (mut alg, mut kdf, mut scope, mut seed_hash) = (None, None, None, None);
    r.object(|r, member| {
        match member {
            "alg" => alg = Some(text(r)?),
            "kdf" => kdf = Some(text(r)?),
            "scope" => scope = Some(text(r)?),
            "seed_hash" => seed_hash = Some(r.digest()?),
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    match (alg, kdf, scope, seed_hash) {
        (Some(alg), Some(kdf), Some(scope), Some(seed_hash)) => {
            Ok(Seed { alg, kdf, scope, seed_hash })
        }
        _ => r.fault("a seed needs `alg`, `kdf`, `scope` and `seed_hash`"),
    }
}

fn read_source(r: &mut Reader<'_>) -> Parsed<Source> {
    let (mut path, mut absolute) = (None, None);
    r.object(|r, member| {
        match member {
            "absolute" => absolute = Some(text(r)?),
            "path" => path = Some(text(r)?),
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    match (path, absolute) {
        (Some(path), Some(absolute)) => Ok(Source { path, absolute }),
        _ => r.fault("a source needs a `path` and an `absolute` path"),
    }
}

fn read_values(r: &mut Reader<'_>, plan: &mut Plan) -> Parsed<()> {
    let mut some = false;
    r.object(|r, name| {
        some = true;
        let Some((key, _)) = plan.values.get_key_value(name) else {
            return r.fault(format!("`{name}` is not in VALUES"));
        };
        let key = Arc::clone(key);
        let value = plan.values.get_mut(name).expect("it was found");
        read_value(r, &key, value)
    })?;
    unless_empty(r, !some)
}

fn read_value(r: &mut Reader<'_>, key: &Key, found: &mut PlanValue) -> Parsed<()> {
    let mut some = false;
    r.object(|r, member| {
        some = true;
        match member {
            "holders" => {
                found.holders = read_set(r)?;
                unless_empty(r, found.holders.is_empty())?;
            }
            "public" => found.public = Some(value(r)?),
            "roots" => {
                found.roots = read_set(r)?;
                unless_empty(r, is_its_own_root(key, &found.roots))?;
            }
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    unless_empty(r, !some)
}

/// A sorted row in which nothing is twice.
fn read_set<T: Ord + From<String>>(r: &mut Reader<'_>) -> Parsed<BTreeSet<T>> {
    let mut set = BTreeSet::new();
    r.charge(weight::MAP)?;
    r.array(|r| {
        r.charge(weight::ITEM)?;
        let item = T::from(text(r)?);
        if set.last().is_some_and(|last| *last >= item) {
            return r.fault("a set is unsorted, or has a duplicate");
        }
        set.insert(item);
        Ok(())
    })?;
    Ok(set)
}
