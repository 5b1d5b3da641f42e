//! A contract gives nothing away to someone who guesses: with every byte of the file and without
//! its keys, values of which there are few are not found.
//!
//! The attacker knows how digests are made (`docs/plan-format.md`) and lacks the key alone. So the
//! attack is: take everything in the file that could serve as a key, digest every guess in every
//! way that suggests itself, and look for the result among the digests of the file. A way finds a
//! value exactly when it finds it with the right guess; each of the thousand right guesses is
//! therefore tried in all ways, those that depend on the value's name included, and a million
//! wrong ones besides in the ways that do not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::{BTreeMap, BTreeSet};

use opal_core::contract::{Frame, Provenance};
use opal_core::hash::Algorithm;
use opal_core::placeholder::{PlaceholderKey, bytes};
use opal_core::selection::Selection;
use opal_core::{Data, Registry};
use opal_plan::Words;
use opal_plan::lower;
use opal_plan::plan::{Purpose, Request, Resolved, plan};
use opal_testing::MemoryWorld;
use opal_trust::contracts::{Making, OwnKeys, make, peek};
use opal_trust::keys::Runner;

const VALUES: usize = 1_000;
/// All of them where the machine code is good; a sample of them where it is made for debugging.
const GUESSES: u32 = if cfg!(debug_assertions) { 5_000 } else { 1_000_000 };

/// PINs, small numbers, words, and nothing at all.
fn value(index: usize) -> String {
    const WORDS: [&str; 8] = ["true", "no", "admin", "password", "changeme", "", "prod", "root"];
    match index % 3 {
        0 => format!("{:04}", index * 7 % 10_000),
        1 => (index % 50).to_string(),
        _ => WORDS[index / 3 % WORDS.len()].to_owned(),
    }
}

struct Made {
    file: Vec<u8>,
    resolved: Resolved,
    key: PlaceholderKey,
}

fn made(algorithm: Algorithm) -> Made {
    let source: String = (0..VALUES).map(|index| format!("echo @env.V{index}\n")).collect();
    let world = (0..VALUES).fold(MemoryWorld::default(), |world, index| {
        world.env(&format!("V{index}"), &value(index))
    });
    let registry: Registry = opal_decorators::registry();
    let parse = opal_syntax::parse(&source, &Words(&registry));
    let unit = lower::unit(&parse, &source);
    let request = Request {
        unit: &unit,
        registry: &registry,
        text: Some((&parse, &source)),
        function: None,
        arguments: &BTreeMap::new(),
        algorithm,
        purpose: Purpose::Contract,
        selection: Selection::default(),
    };
    let runner = Runner::ephemeral("a test");
    let key = runner.placeholder_key("project", "script");
    let mut keys = OwnKeys::new("script", Box::new(|| Ok((runner.clone(), "project".to_owned()))));
    let resolved = plan(&request, &world, &mut keys).unwrap();
    let making = Making {
        created: 1_800_000_000,
        provenance: Provenance::default(),
        recipients: &[Runner::ephemeral("another").recipient()],
        signer: None,
        registry: &registry,
    };
    let file = make(resolved.plan.clone(), &mut keys, making).unwrap();
    Made { file, resolved, key }
}

/// Everything in the file that could serve as a key, brought to 32 bytes.
fn keys_in_sight(file: &[u8]) -> Vec<[u8; 32]> {
    let contract = peek(file).unwrap();
    let frame = Frame::read(file).unwrap();
    let made = contract.provenance();
    let seed = made.seed.as_ref().unwrap();
    let mut keys = vec![
        [0; 32],
        contract.plan_hash().0,
        contract.plan().source_hash.0,
        seed.seed_hash.0,
        <[u8; 32]>::try_from(&file[file.len() - 40 + 3..][..32]).unwrap(),
    ];
    let project = made.project.clone().unwrap();
    let texts: [&[u8]; 6] = [
        made.placeholder_key_id.as_bytes(),
        project.as_bytes(),
        b"script",
        frame.envelope(),
        &seed.seed_hash.0,
        file,
    ];
    for text in texts {
        let mut padded = [0; 32];
        padded.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        keys.push(padded);
        keys.push(Algorithm::Sha256.digest(&[text]).0);
        keys.push(Algorithm::Blake3.digest(&[text]).0);
        for label in ["opal placeholder key v1", "opal placeholder root v1"] {
            keys.push(*opal_trust::keys::derive(text, label, &[project.as_bytes(), b"script"]));
        }
    }
    keys
}

/// The digests of a guess that do not depend on the value's name.
fn nameless(guess: &[u8], keys: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let mut found = Vec::new();
    for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
        found.push(algorithm.digest(&[guess]).0);
        for key in keys {
            found.push(algorithm.digest(&[key, guess]).0);
        }
    }
    found
}

/// Those that do: the specified construction under every key in sight, and simpler ones.
fn named(name: &str, guess: &str, keys: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let data = Data::text(guess);
    let mut found = Vec::new();
    for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
        found.push(algorithm.digest(&[name.as_bytes(), guess.as_bytes()]).0);
        found.push(algorithm.digest(&[name.as_bytes(), b"=", guess.as_bytes()]).0);
        found.push(algorithm.digest(&[b"opal value v1", name.as_bytes(), &bytes(&data)]).0);
        for key in keys {
            found.push(PlaceholderKey::new(*key).placeholder(algorithm, name, &data).digest.0);
            found.push(algorithm.digest(&[key, name.as_bytes(), guess.as_bytes()]).0);
        }
    }
    found
}

/// Every digest of a value that the file holds, of its reads too.
fn digests(file: &[u8]) -> BTreeSet<[u8; 32]> {
    let contract = peek(file).unwrap();
    let plan = contract.plan();
    let values = plan.values.values().map(|value| value.placeholder.digest.0);
    let reads = plan.reads.iter().filter_map(|read| Some(read.placeholder.as_ref()?.digest.0));
    values.chain(reads).collect()
}

#[test]
fn a_million_guesses_find_none_of_a_thousand_values() {
    for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
        let made = made(algorithm);
        let digests = digests(&made.file);
        assert!(digests.len() >= VALUES);
        let keys = keys_in_sight(&made.file);
        for index in 0..VALUES {
            let (name, guess) = (format!("env.V{index}"), value(index));
            let ways =
                nameless(guess.as_bytes(), &keys).into_iter().chain(named(&name, &guess, &keys));
            for digest in ways {
                assert!(!digests.contains(&digest), "{name} is found");
            }
        }
        // The keys of the file cost the most and add nothing to what the right guesses showed.
        for guess in 0..GUESSES {
            for digest in nameless(guess.to_string().as_bytes(), &keys[..4]) {
                assert!(!digests.contains(&digest), "{guess} is found");
            }
        }
    }
}

#[test]
fn with_the_key_the_same_attack_finds_every_value() {
    let made = made(Algorithm::Sha256);
    let digests = digests(&made.file);
    for index in 0..VALUES {
        let name = format!("env.V{index}");
        let found = named(&name, &value(index), &[*made.key.expose()]);
        assert!(found.iter().any(|digest| digests.contains(digest)), "{name}");
    }
    assert_eq!(made.resolved.secrets.len(), VALUES);
}

#[test]
fn equal_values_do_not_look_equal() {
    let made = made(Algorithm::Sha256);
    let values = made.resolved.plan.values.values();
    let distinct: BTreeSet<[u8; 32]> = values.map(|value| value.placeholder.digest.0).collect();
    assert_eq!(distinct.len(), VALUES);
    let elsewhere = crate::guessing::made(Algorithm::Sha256);
    assert!(digests(&made.file).is_disjoint(&digests(&elsewhere.file)), "two machines agree");
}
