//! The laws for what reads the world.

use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor};
use opal_core::placeholder::bytes;
use opal_core::resolver::{Inputs, MAX_VALUE_BYTES, Resolver, Trouble, TroubleKind};

use super::{Findings, Law, deferred_when_expensive, inputs};
use crate::{Asked, MemoryWorld};

/// Text that occurs nowhere by chance.
const CANARY: &str = "canary-6b1d05e2";

pub(super) fn check(
    descriptor: &Descriptor,
    resolver: &dyn Resolver,
    given: &Inputs,
    found: &mut Findings,
) {
    let least = inputs::least(descriptor, given, CANARY);
    let mut asked = Vec::new();
    for inputs in inputs::allowed(descriptor, &least) {
        let world = MemoryWorld::default().otherwise(CANARY);
        let first = resolver.resolve(&inputs, &world);
        schema(descriptor, &first, found);
        twice(&first, &resolver.resolve(&inputs, &world), found);
        secrecy(&format!("{inputs:?} {first:?}"), found);
        asked.extend(world.asked());
    }
    deferred_when_expensive(descriptor, &asked, found);
    reads(descriptor, &asked, found);
    absence(resolver, &least, found);
    for bad in [bad_text(), "x".repeat(MAX_VALUE_BYTES as usize + 1).into_bytes()] {
        limits(resolver, &least, bad, found);
    }
}

/// Begins like a value, and is not text.
fn bad_text() -> Vec<u8> {
    [CANARY.as_bytes(), b"\xff\xfe\0", CANARY.as_bytes()].concat()
}

fn schema(descriptor: &Descriptor, answer: &Result<Data, Trouble>, found: &mut Findings) {
    match (answer, &descriptor.returns) {
        (Err(trouble), _) => {
            found.add(Law::L1, format!("allowed inputs are refused: {}", trouble.message));
        }
        (Ok(_), None) => found.add(Law::L1, "it gives a value and promises none"),
        (Ok(data), Some(returns)) => {
            found.demand(Law::L1, returns.ty.accepts(&data.type_of()), || {
                format!("it promises {} and gives {}", returns.ty, data.type_of())
            });
        }
    }
}

fn twice(first: &Result<Data, Trouble>, second: &Result<Data, Trouble>, found: &mut Findings) {
    let same = match (first, second) {
        (Ok(first), Ok(second)) => {
            first.type_of() == second.type_of() && bytes(first) == bytes(second)
        }
        (Err(first), Err(second)) => first == second,
        _ => false,
    };
    found.demand(Law::L2, same, || "asked twice, it gives two answers".to_owned());
}

fn secrecy(shown: &str, found: &mut Findings) {
    found.demand(Law::L4, !shown.contains(CANARY), || "a value can be seen".to_owned());
}

fn reads(descriptor: &Descriptor, asked: &[Asked], found: &mut Findings) {
    let declares = |capability| descriptor.capabilities.contains(&capability);
    for asked in asked {
        let Some(needed) = capability(asked) else { continue };
        found.demand(Law::L6, declares(needed), || format!("it uses {needed:?} without saying so"));
    }
    for declared in descriptor.capabilities {
        let by_process = *declared == Capability::FilesRead && declares(Capability::Processes);
        let used = asked.iter().any(|asked| capability(asked) == Some(*declared));
        found.demand(Law::L6, used || by_process, || {
            format!("it declares {declared:?} and does not use it")
        });
    }
}

fn capability(asked: &Asked) -> Option<Capability> {
    match asked {
        Asked::Env(_) => Some(Capability::Environment),
        Asked::Open(_) | Asked::Stat(_) | Asked::Read(_) | Asked::ReadLink(_) | Asked::List(_) => {
            Some(Capability::FilesRead)
        }
        Asked::Run(_) | Asked::Ask(_) => Some(Capability::Processes),
        Asked::Get(_) | Asked::Connect(_) | Asked::Reach(_) => Some(Capability::Network),
        Asked::Now => Some(Capability::Clock),
        Asked::Host | Asked::Caller => None,
    }
}

fn absence(resolver: &dyn Resolver, least: &Inputs, found: &mut Findings) {
    let world = MemoryWorld::default();
    let answer = resolver.resolve(least, &world);
    let is_fact = |it: &Asked| matches!(it, Asked::Now | Asked::Host | Asked::Caller);
    let only_facts = world.asked().iter().all(is_fact);
    match answer {
        _ if only_facts => {}
        Ok(Data::Bool(false)) => {}
        Ok(Data::Array(items)) if items.is_empty() => {}
        Ok(_) => found.add(Law::L5, "it gives a value where there is nothing to read"),
        Err(trouble) => {
            secrecy(&format!("{trouble:?}"), found);
            parts(&trouble, least, found);
            let is_missing = trouble.kind == TroubleKind::Missing;
            found.demand(Law::L5, is_missing, || format!("absence is called {:?}", trouble.kind));
            let helps = trouble.help.iter().any(|help| !help.is_empty());
            found.demand(Law::L5, helps, || "absence comes without help".to_owned());
        }
    }
}

/// A message says which parts of it were given, so that they can be hidden, and no more than them.
fn parts(trouble: &Trouble, given: &Inputs, found: &mut Findings) {
    let texts = given.args.keys().filter_map(|name| given.text(name));
    let hidden: Vec<&str> = texts.chain(given.subject.as_deref()).collect();
    let seen = trouble.without(&hidden);
    for line in [&seen.message].into_iter().chain(&seen.help) {
        let shows = hidden.iter().any(|hidden| !hidden.is_empty() && line.contains(hidden));
        found.demand(Law::L4, !shows, || format!("an argument cannot be hidden in `{line}`"));
        let is_known = **line != *"…";
        found.demand(Law::L4, is_known, || "a message is text of unknown parts".to_owned());
    }
}

fn limits(resolver: &dyn Resolver, least: &Inputs, content: Vec<u8>, found: &mut Findings) {
    let is_large = content.len() as u64 > MAX_VALUE_BYTES;
    let world = MemoryWorld::default().otherwise(content);
    let answer = resolver.resolve(least, &world);
    secrecy(&format!("{answer:?}"), found);
    match answer {
        Ok(data) => found.demand(Law::L7, bytes(&data).len() as u64 <= MAX_VALUE_BYTES, || {
            "a value is larger than the limit".to_owned()
        }),
        Err(trouble) => {
            found.demand(Law::L7, !is_large || trouble.kind == TroubleKind::TooLarge, || {
                format!("too much to read is called {:?}", trouble.kind)
            });
        }
    }
}
